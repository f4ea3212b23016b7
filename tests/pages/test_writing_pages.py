"""The researcher's pages of writing in a real browser: questions by keyboard alone, opening a plan, narrow screens."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from crowdrag.studies.enums import Role
from tests.factories import MembershipFactory, RetrievedPassageFactory, StudyFactory, TopicFactory, UserFactory
from writing.models import WritingPlan

from .accessibility import SCREENS, faults

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def url(page: Page, live_server: Any, sign_in: Any) -> str:
    study = StudyFactory(slug="tides", currency="EUR")
    RetrievedPassageFactory(topic=TopicFactory(study=study), rank=0)
    user = UserFactory()
    MembershipFactory(study=study, user=user, role=Role.EDITOR)
    sign_in(user)
    page.goto(f"{live_server.url}/studies/tides/writing/plan/")
    page.get_by_role("button", name="Make a plan").click()
    expect(page.get_by_label("Pay per response, EUR")).to_be_visible()
    return f"{live_server.url}/studies/tides/writing/"


def test_a_plan_is_set_up_and_opened(page: Page, url: str) -> None:
    page.get_by_label("Trial topics").fill("nosuch")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("no topic nosuch")
    page.get_by_label("Trial topics").fill("")
    page.get_by_label("Pay per response, EUR").fill("6.50")
    page.get_by_label("Least wage per hour").fill("20")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("which is less than your")).to_be_visible()
    page.get_by_role("button", name="Open to writers").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Open to writers").click()
    expect(page.get_by_role("heading", name="People can write")).to_be_visible()
    assert WritingPlan.objects.get().is_open


def test_questions_are_edited_by_keyboard_alone(page: Page, url: str) -> None:
    page.goto(f"{url}plan/questions/exit/")
    down = page.locator("#down-q0")
    down.focus()
    page.keyboard.press("Enter")
    # It moved, and the keyboard moved with it.
    expect(page.locator("textarea[name^='text-']").first).to_have_value("How adequate were the passages as sources?")
    expect(down).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("textarea[name^='text-']").nth(2)).to_have_value("Are you satisfied with your response?")
    expect(down).to_be_focused()  # it comes a moment after the question
    page.locator("#add").focus()
    page.keyboard.press("Enter")
    fresh = page.locator("#text-q4")
    expect(fresh).to_be_focused()
    page.keyboard.type("Anything else?")
    page.keyboard.press("Tab")
    page.keyboard.type("own")
    expect(page.locator("#kind-q4")).to_have_value("text")
    page.get_by_role("button", name="Save").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"{url}plan/")
    asked = WritingPlan.objects.get().exit_survey.questions
    assert [question["name"] for question in asked] == [
        "references_quality", "references_extra", "worker_satisfaction", "references_omission", "anything_else",
    ]  # fmt: skip
    page.goto(f"{url}plan/questions/exit/")
    page.locator("#text-q0").fill("")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("Question 1")
    assert [fault for width, theme in SCREENS[:1] for fault in faults(page, width, theme)] == []
