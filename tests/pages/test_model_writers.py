"""A researcher lets a model write: the estimate, the exact prompt, the start, and what came of it."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from crowdrag.jobs.models import Run
from crowdrag.studies.enums import Role
from tests.factories import MembershipFactory, RetrievedPassageFactory, StudyFactory, StyleFactory, TopicFactory
from tests.pages.accessibility import look
from tests.pages.llm_writer_rows import campaign

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.extended
def test_a_model_is_told_to_write(page: Page, live_server: Any, sign_in: Any) -> None:
    study = StudyFactory(slug="tides")
    MembershipFactory(study=study, user=sign_in(), role=Role.EDITOR)
    StyleFactory(study=study, name="essay", label="Essay", instructions="Argue.")
    for number in range(4):
        RetrievedPassageFactory(topic=TopicFactory(study=study, external_id=f"t{number}"), rank=0)
    done = campaign(study)
    page.goto(f"{live_server.url}/studies/tides/writing/models/")
    page.locator("main a[href$='/models/new/']").first.click()
    page.locator("[name=endpoint]").select_option("m-1 (a model far away)")
    page.locator("main form button[type=submit]").first.click()
    page.locator("details", has=page.locator("pre")).locator("summary").first.click()
    expect(page.locator("pre")).to_contain_text("<<<DATA")
    # The pages themselves are looked at with all others (test_axe); an estimate no link leads to.
    assert look(page) == []
    page.locator("button[name=start]").click()
    page.wait_for_url("**/runs/**")
    assert Run.objects.filter(study=study).count() == 2

    page.goto(f"{live_server.url}/studies/tides/writing/models/{done.key}/")
    expect(page.get_by_role("row")).to_have_count(4)
    page.locator("main table a[href*='/responses/']").first.click()
    expect(page.get_by_text("writing v1")).to_be_visible()
