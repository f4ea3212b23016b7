"""Screening and training in a real browser: by keyboard alone, and as axe sees every state of the pages."""

from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.enums import AssignmentState as S
from annotation.enums import CampaignState
from annotation.models import Assignment, ItemTime, KnownLabel, QuestionnaireItem
from annotation.quality import known_labels, training
from annotation.quality.known_labels import LabelWithReason
from crowdrag.studies.enums import Role
from crowdrag.studies.models import User
from tests.annotation import judge_actions, open_campaign
from tests.annotation.quality.screened import handed_in, sent, state
from tests.factories import NOW
from tests.pages.accessibility import look
from tests.pages.editor_study import admit, enter

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
MINUTE = timedelta(minutes=1)


@pytest.fixture
def here() -> open_campaign.World:
    """A campaign with a check and an item whose labels are known, in the first questionnaire."""
    made = open_campaign.world(k=6, topics=1)
    sheet = made.questionnaires[0]
    judge_actions.add_check(sheet, 1)
    entry = sheet.entries.order_by("position").first()
    QuestionnaireItem.objects.filter(pk=entry.pk).update(has_known_label=True)
    for dimension in made.dimensions:
        KnownLabel.objects.create(item=entry.item, dimension=dimension, value=1)
    return made


@pytest.fixture
def reviewer(here: open_campaign.World, page: Page, live_server: Any) -> User:
    user = here.member(Role.EDITOR)
    admit(page.context, live_server.url, user)
    return user


def timed(assignment: Assignment) -> None:
    """Let the browser have told how long each item was looked at."""
    for number, entry in enumerate(assignment.questionnaire.entries.order_by("position")):
        ItemTime.objects.create(
            assignment=assignment, item=entry.item, visit="v", active_seconds=15 + 200 * number, away_seconds=4,
            looks=2, changes=1, first_at=NOW, last_at=NOW,
        )  # fmt: skip


def on(page: Page, assignment: Assignment) -> None:
    """Wait until the page of this questionnaire is there, and held."""
    page.wait_for_url(f"**/{assignment.external_id}/")
    expect(page.locator(".review-bar")).to_be_visible()


@pytest.mark.extended
def test_three_questionnaires_by_keyboard_alone(
    page: Page, live_server: Any, here: open_campaign.World, reviewer: User
) -> None:
    first, second, third = (handed_in(here, start=NOW + n * MINUTE) for n in range(3))
    page.goto(f"{live_server.url}/studies/{here.study.slug}/campaigns/{here.campaign.pk}/screening/")
    page.locator("form[action*='/next/'] button").press("Enter")
    on(page, first)
    # From item to item, and its texts.
    page.keyboard.press("j")
    expect(page.locator("#entry-1")).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator("#entry-2")).to_be_focused()
    page.keyboard.press("t")
    expect(page.locator("#entry-2 .response").first).to_be_visible()
    page.keyboard.press("k")
    expect(page.locator("#entry-1")).to_be_focused()
    page.keyboard.press("a")
    page.keyboard.press("Enter")
    on(page, second)
    # Keys that are typed into a form are no commands.
    page.keyboard.press("x")
    expect(page.locator("[data-review-panel=x] [name=reason]")).to_be_focused()
    page.keyboard.type("n, a, x: the same answer all along.")
    page.keyboard.press("Control+Enter")
    on(page, third)
    page.keyboard.press("e")
    page.keyboard.type("A friend of ours.")
    with page.expect_navigation():
        page.keyboard.press("Control+Enter")
    page.keyboard.press("?")
    expect(page.locator("dialog[open]")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    page.keyboard.press("Enter")
    page.wait_for_url("**/screening/")
    assert [state(each) for each in (first, second, third)] == [S.ACCEPTED, S.REJECTED, S.ACCEPTED]
    assert not Assignment.objects.get(pk=third.pk).is_included


@pytest.mark.extended
def test_every_state_is_accessible(page: Page, live_server: Any, here: open_campaign.World, reviewer: User) -> None:
    values = {0: 1, 1: -1}
    waiting = sent(here, after=MINUTE, values=lambda _item, dimension: values[dimension])
    handed_in(here)
    timed(waiting)
    Assignment.objects.filter(pk=waiting.pk).update(comment="The second text was cut off.\nOtherwise clear.")
    base = f"{live_server.url}/studies/{here.study.slug}/campaigns/{here.campaign.pk}"
    found = []
    for path in ("screening/", f"screening/{waiting.external_id}/", "checks/"):
        page.goto(f"{base}/{path}")
        page.wait_for_load_state("networkidle")
        found += look(page)
    page.goto(f"{base}/screening/{waiting.external_id}/")
    for details in ("x", "e"):
        page.keyboard.press(details)
        found += look(page)
        page.keyboard.press("Escape")
    assert found == []


@pytest.mark.extended
def test_setting_checks_and_learning_from_examples(page: Page, live_server: Any, context: Any) -> None:
    made = open_campaign.world(state=CampaignState.DRAFT)
    for left, right in ((1, 0), (2, 0)):
        item = known_labels.add_pair(campaign=made.campaign, left=made.responses[left], right=made.responses[right])
        known_labels.set_labels(
            item=item, known={made.dimensions[0].pk: LabelWithReason(1, "Only B answers the question.")}
        )
        if left == 2:
            training.add_item(campaign=made.campaign, item=item)
    admit(context, live_server.url, made.member(Role.EDITOR))
    base = f"{live_server.url}/studies/{made.study.slug}/campaigns/{made.campaign.pk}/checks/"
    found = []
    for address in (base, f"{base}{item.pk}/"):
        page.goto(address)
        found += look(page)
    made.change(state=CampaignState.OPEN, opened_at=NOW)
    context.clear_cookies()
    enter(context, live_server.url, made.judge())
    page.goto(f"{live_server.url}/work/{made.study.slug}/judging/{made.campaign.pk}/training/")
    found += look(page)
    # By keyboard: to the first question, an answer by arrow, the next, and send.
    page.locator("input[type=radio]").first.focus()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#feedback")).to_be_visible()
    expect(page.get_by_text("Only B answers the question.")).to_be_visible()
    found += look(page)
    # It would begin a questionnaire, but none is free.
    page.locator("main form button[type=submit]").click()
    page.wait_for_url(f"**/judging/{made.campaign.pk}/")
    assert found == []


@pytest.mark.extended
def test_many_are_decided_and_undone_by_keyboard_alone(
    page: Page, live_server: Any, here: open_campaign.World, reviewer: User
) -> None:
    made = [handed_in(here, start=NOW + n * MINUTE) for n in range(3)]
    page.goto(f"{live_server.url}/studies/{here.study.slug}/campaigns/{here.campaign.pk}/screening/")
    bar = page.get_by_role("region", name="Selected")
    expect(bar).to_be_hidden()
    page.keyboard.press("?")
    expect(page.locator("dialog[open]")).to_be_visible()
    page.keyboard.press("Escape")
    for key in ("j", "x", "j", "j", "x", "k", "x", "x"):
        page.keyboard.press(key)
    expect(bar.locator("[data-selected-count]")).to_have_text("2 selected")
    page.keyboard.press("r")
    page.wait_for_url("**/screening/bulk/")
    expect(page.locator("[name=reason]")).to_be_focused()
    assert look(page, [(390, "light")]) == []
    page.locator("[name=reason]").focus()
    page.keyboard.type("The same answer all along.")
    page.get_by_role("button", name="Reject 2").press("Enter")
    page.wait_for_url("**/screening/")
    assert [state(each) for each in made] == [S.REJECTED, S.SUBMITTED, S.REJECTED]
    with page.expect_navigation():
        page.keyboard.press("z")
    assert [state(each) for each in made] == [S.SUBMITTED] * 3
    # Without a selection the row that has the focus is meant.
    for key in ("j", "j"):
        page.keyboard.press(key)
    with page.expect_navigation():
        page.keyboard.press("a")
    page.wait_for_url("**/screening/")
    assert [state(each) for each in made].count(S.ACCEPTED) == 1
    page.locator("[data-select-all]").press("Space")
    expect(bar).to_be_visible()
    assert look(page, [(390, "light"), (1280, "dark")]) == []
