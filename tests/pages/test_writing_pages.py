"""The researcher's pages of writing in a real browser: questions by keyboard alone, opening a plan, narrow screens."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from crowdrag.studies.enums import Role
from tests.factories import MembershipFactory, RetrievedPassageFactory, StudyFactory, TopicFactory, UserFactory
from tests.pages.accessibility import look
from writing.models import WritingPlan

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def url(page: Page, live_server: Any, sign_in: Any) -> str:
    study = StudyFactory(slug="tides", currency="EUR")
    RetrievedPassageFactory(topic=TopicFactory(study=study), rank=0)
    user = UserFactory()
    MembershipFactory(study=study, user=user, role=Role.EDITOR)
    sign_in(user)
    page.goto(f"{live_server.url}/studies/tides/writing/plan/")
    page.locator("main form button").click()
    expect(page.locator("[name=pay]")).to_be_visible()
    return f"{live_server.url}/studies/tides/writing/"


@pytest.mark.extended
def test_a_plan_is_set_up_and_opened(page: Page, url: str) -> None:
    page.locator("[name=trial_topics]").fill("nosuch")
    page.locator("[name=pay]").press("Enter")
    expect(page.locator("[name=trial_topics]")).to_have_attribute("aria-invalid", "true")
    page.locator("[name=trial_topics]").fill("")
    page.locator("[name=wage_floor]").fill("20")
    page.locator("[name=pay]").fill("6.50")
    page.locator("[name=pay]").press("Enter")
    expect(page.locator(".note--warn")).to_be_visible()  # it pays less an hour
    page.locator("[data-opens='#open-plan']").click()
    page.locator("#open-plan [type=submit]").click()
    expect(page.locator("[data-opens='#close-plan']")).to_be_visible()
    assert WritingPlan.objects.get().is_open


@pytest.mark.extended
def test_questions_are_edited_by_keyboard_alone(page: Page, url: str) -> None:
    page.goto(f"{url}plan/questions/exit/")
    first, second = (each["text"] for each in WritingPlan.objects.get().exit_survey.questions[:2])
    down = page.locator("#down-q0")
    down.focus()
    page.keyboard.press("Enter")
    # It moved, and the keyboard moved with it.
    texts = page.locator("textarea[name^='text-']")
    expect(texts.first).to_have_value(second)
    expect(down).to_be_focused()
    page.keyboard.press("Enter")
    expect(texts.nth(2)).to_have_value(first)
    expect(down).to_be_focused()  # it comes a moment after the question
    page.locator("#add").focus()
    page.keyboard.press("Enter")
    fresh = page.locator("#text-q4")
    expect(fresh).to_be_focused()
    page.keyboard.type("Anything else?")
    page.keyboard.press("Tab")
    page.keyboard.type("free")
    expect(page.locator("#kind-q4")).to_have_value("text")
    page.locator("[value=save]").press("Enter")
    page.wait_for_url(f"{url}plan/")
    asked = WritingPlan.objects.get().exit_survey.questions
    assert [question["name"] for question in asked] == [
        "references_quality", "references_extra", "worker_satisfaction", "references_omission", "anything_else",
    ]  # fmt: skip
    page.goto(f"{url}plan/questions/exit/")
    page.locator("#text-q0").fill("")
    page.locator("[value=save]").click()
    expect(page.get_by_role("alert")).to_contain_text("1")
    assert look(page) == []
