"""A questionnaire is tried and questions are edited by keyboard; test_judging_journey.py goes the rest of the way."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.campaigns import questionnaires
from annotation.models import Judgment
from crowdrag.studies.enums import Role
from tests.annotation.campaigns.corpus_to_judge import corpus, draft
from tests.factories import NOW, MembershipFactory

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


@pytest.mark.extended
def test_a_questionnaire_is_tried_by_keyboard_and_nothing_is_kept(page: Page, here: Any) -> None:
    campaign = draft(here(""))
    questionnaires.build(campaign=campaign, now=NOW)
    posts: list[str] = []
    page.on("request", lambda request: posts.append(request.url) if request.method == "POST" else None)
    here(f"{campaign.pk}/preview/1/")
    items = campaign.questionnaires.get(position=0).entries.count()
    expect(page.locator("#item-1")).to_be_visible()
    expect(page.locator("#item-2")).to_be_hidden()
    page.locator("#item-1 input").first.focus()
    for _question in range(7):
        page.keyboard.press("1")
    expect(page.locator("#answered")).to_contain_text("7 of 7")
    expect(page.locator("#answered-bar")).to_have_attribute("max", str(7 * items))
    expect(page.locator("#answered-bar")).to_have_js_property("value", 7)
    page.keyboard.press("F9")
    page.reload()
    assert page.locator("input:checked[type=radio]").count() == 0
    assert posts == []
    assert not Judgment.objects.exists()


@pytest.mark.extended
def test_questions_are_added_and_moved_without_losing_the_place(page: Page, here: Any) -> None:
    campaign = draft(here(""))
    here(f"{campaign.pk}/edit/questions/")
    # The current page has been scrolled into sight in the sidebar: Tab begins at the top of the page all the same.
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_attribute("href", "#main")
    page.locator("#add").press("Enter")
    expect(page.locator("#label-q7")).to_be_focused()
    page.keyboard.type("Tone")
    page.locator("#question-q7").fill("Which response is kinder?")
    page.locator("#up-q7").press("Enter")
    expect(page.locator("[name=row]").nth(-2)).to_have_value("q7")
    expect(page.locator("#up-q7")).to_be_focused()
    expect(page.locator("#up-q7")).to_be_in_viewport()
    page.locator("[value=save]").press("Enter")
    page.wait_for_url("**/setup/")
    assert campaign.campaign_dimensions.count() == 8
