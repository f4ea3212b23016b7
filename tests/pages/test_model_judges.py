"""A researcher lets a model judge: the estimate, the exact prompt, the start, what came of it, and planted texts."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from crowdrag.jobs.models import Run
from crowdrag.studies.enums import Role
from tests.annotation.llm_judges import source_campaign
from tests.factories import MembershipFactory, StudyFactory
from tests.pages.accessibility import look
from tests.pages.llm_judge_rows import SAID, furnish_model_judges

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def estimate(page: Page) -> None:
    """Choose what is asked, of whom, and have it estimated."""
    page.locator("[name=endpoint]").select_option("m-1 (a model far away)")
    page.locator("select[name=source]").select_option("People")
    page.locator("main form button[type=submit]").first.click()
    expect(page.locator("button[name=start]")).to_be_visible()


@pytest.mark.extended
def test_a_model_is_asked_to_judge(page: Page, live_server: Any, sign_in: Any) -> None:
    study = StudyFactory(slug="tides")
    MembershipFactory(study=study, user=sign_in(), role=Role.EDITOR)
    source = source_campaign.campaign(study, name="People")
    for _pair in range(4):
        source_campaign.pair(source)
    done, measured = furnish_model_judges(source)
    page.goto(f"{live_server.url}/studies/tides/judges/")
    found = look(page)
    page.locator("main a[href$='/judges/new/']").first.click()
    estimate(page)
    page.locator("details", has=page.locator("pre")).locator("summary").first.click()
    expect(page.locator("pre")).to_contain_text("<<<DATA")
    found += look(page)
    before = Run.objects.count()
    page.locator("button[name=start]").click()
    page.wait_for_url("**/runs/**")
    assert Run.objects.count() == before + 1

    page.goto(f"{live_server.url}/studies/tides/judges/{done.key}/?outcome=INVALID")
    page.get_by_text(SAID[:30]).first.click()
    expect(page.get_by_text(SAID).first).to_be_visible()
    found += look(page)
    page.goto(f"{live_server.url}/studies/tides/judges/{measured.key}/")
    expect(page.locator("main table").first).to_be_visible()
    found += look(page)
    page.goto(f"{live_server.url}/studies/tides/judges/measure/")
    estimate(page)
    found += look(page)
    assert found == []
