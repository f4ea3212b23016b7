"""A researcher makes a campaign, tries it as a judge does, and opens it; by keyboard, on wide and narrow screens."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.domain import campaigns
from annotation.models import Campaign, Judgment, Place
from crowdrag.studies.enums import Role
from tests.annotation.corpus_to_judge import corpus, draft
from tests.factories import NOW, MembershipFactory
from tests.pages.accessibility import SCREENS, faults

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def here(page: Page, live_server: Any, sign_in: Any) -> Any:
    """A study with responses, its editor signed in; what is returned leads to a page of it."""
    study = corpus(topics=4)
    sign_in(MembershipFactory(study=study, role=Role.EDITOR).user)

    def to(rest: str) -> Any:
        page.goto(f"{live_server.url}/studies/{study.slug}/campaigns/{rest}")
        return study

    return to


def test_a_campaign_is_made_and_opened_by_keyboard(page: Page, here: Any) -> None:
    here("new/")
    page.get_by_label("Name").focus()
    page.keyboard.type("Crowd")
    page.keyboard.press("Enter")
    page.wait_for_url("**/edit/")
    page.get_by_label("Pay per questionnaire, USD").focus()
    page.keyboard.type("5.50")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Saved.")).to_be_visible()
    page.get_by_role("link", name="What it comes to, and opening").press("Enter")
    page.get_by_role("button", name="Draw them").press("Enter")
    expect(page.get_by_text("times the words of the shortest")).to_be_visible()
    page.get_by_role("button", name="Open to judges").press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Open to judges").press("Enter")
    expect(page.get_by_text("people who come by its links can judge now")).to_be_visible()
    assert Campaign.objects.get().state == "OPEN"
    assert Place.objects.count() == 30


def test_a_questionnaire_is_tried_by_keyboard_and_nothing_is_kept(page: Page, here: Any) -> None:
    campaign = draft(here(""))
    campaigns.build(campaign=campaign, now=NOW)
    posts: list[str] = []
    page.on("request", lambda request: posts.append(request.url) if request.method == "POST" else None)
    here(f"{campaign.pk}/preview/1/")
    items = campaign.questionnaires.get(position=0).entries.count()
    expect(page.locator("#item-1")).to_be_visible()
    expect(page.locator("#item-2")).to_be_hidden()
    page.locator("#item-1 input").first.focus()
    for _question in range(7):
        page.keyboard.press("1")
    expect(page.locator("#answered")).to_contain_text(f"7 of {7 * items}")
    page.keyboard.press("F9")
    page.reload()
    assert page.locator("input:checked[type=radio]").count() == 0
    assert posts == []
    assert not Judgment.objects.exists()


def test_questions_are_added_and_moved_without_losing_the_place(page: Page, here: Any) -> None:
    campaign = draft(here(""))
    here(f"{campaign.pk}/edit/questions/")
    page.get_by_role("button", name="Add a question").press("Enter")
    expect(page.locator("#label-q7")).to_be_focused()
    page.keyboard.type("Tone")
    page.locator("#question-q7").fill("Which response is kinder?")
    page.locator("#up-q7").press("Enter")
    expect(page.locator("[name=row]").nth(-2)).to_have_value("q7")
    expect(page.locator("#up-q7")).to_be_focused()
    page.get_by_role("button", name="Save").press("Enter")
    page.wait_for_url("**/edit/")
    assert campaign.asked.count() == 8


# The other pages are seen by the look at every page that a link leads to.
@pytest.mark.extended
@pytest.mark.parametrize("rest", ["{}/edit/", "{}/edit/questions/", "{}/open/", "{}/preview/1/"])
def test_pages_on_every_screen(page: Page, here: Any, rest: str) -> None:
    campaign = draft(here(""))
    campaigns.build(campaign=campaign, now=NOW)
    here(rest.format(campaign.pk))
    assert [fault for width, theme in SCREENS for fault in faults(page, width, theme)] == []
