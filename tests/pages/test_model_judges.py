"""A researcher lets a model judge: the estimate, the exact prompt, the start, what came of it, and planted texts."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from crowdrag.runs.models import Run
from crowdrag.studies.enums import Role
from tests.annotation import asked_again
from tests.factories import MembershipFactory, StudyFactory

from .accessibility import TWO, faults
from .judged import SAID, furnish_model_judges

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_model_is_asked_to_judge(page: Page, live_server: Any, sign_in: Any) -> None:
    study = StudyFactory(slug="tides")
    MembershipFactory(study=study, user=sign_in(), role=Role.EDITOR)
    source = asked_again.campaign(study, name="People")
    for _pair in range(4):
        asked_again.pair(source)
    done, measured = furnish_model_judges(source)
    page.goto(f"{live_server.url}/studies/tides/judges/")
    found = [fault for width, theme in TWO for fault in faults(page, width, theme)]
    page.get_by_role("link", name="Let a model judge").first.click()
    page.get_by_label("Model", exact=True).select_option("a model far away")
    page.get_by_label("Campaign").select_option("People")
    page.get_by_role("button", name="Estimate").click()
    expect(page.get_by_role("heading", name="What it comes to")).to_be_visible()
    page.get_by_text("What is asked for").click()
    expect(page.locator("pre")).to_contain_text("<<<DATA")
    found += [fault for width, theme in TWO for fault in faults(page, width, theme)]
    before = Run.objects.count()
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/runs/**")
    assert Run.objects.count() == before + 1

    page.goto(f"{live_server.url}/studies/tides/judges/{done.key}/?outcome=INVALID")
    page.get_by_text(SAID[:30]).first.click()
    expect(page.get_by_text(SAID).first).to_be_visible()
    found += [fault for width, theme in TWO for fault in faults(page, width, theme)]
    page.goto(f"{live_server.url}/studies/tides/judges/{measured.key}/")
    expect(page.get_by_role("heading", name="By kind of text")).to_be_visible()
    found += [fault for width, theme in TWO for fault in faults(page, width, theme)]
    page.goto(f"{live_server.url}/studies/tides/judges/measure/")
    page.get_by_label("Model", exact=True).select_option("a model far away")
    page.get_by_label("Campaign").select_option("People")
    page.get_by_role("button", name="Estimate").click()
    expect(page.get_by_role("heading", name="What it comes to")).to_be_visible()
    found += [fault for width, theme in TWO for fault in faults(page, width, theme)]
    assert found == []
