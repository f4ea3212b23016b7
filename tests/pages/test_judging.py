"""A questionnaire in the browser: by keyboard alone, on a phone, its times, and every state it can be in."""

import re
from datetime import timedelta
from typing import Any

import pgtrigger
import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from annotation.enums import AssignmentState, CampaignKind, CampaignState
from annotation.judging import claims, decisions, leases, submission
from annotation.models import Assignment, ItemTime
from crowdrag.studies.participants import withdrawal
from tests.factories import PassageFactory
from tests.pages import questionnaires as sheets
from tests.pages.accessibility import look
from tests.pages.editor_study import enter
from tests.pages.keyboard import press
from writing.models import Citation, RetrievedPassage, Statement

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
S = AssignmentState


def test_a_whole_questionnaire_by_keyboard_alone(page: Page, live_server: Any) -> None:
    at = sheets.make(items=3, justified=True, claims=False)
    enter(page.context, live_server.url, at.judge)
    page.goto(live_server.url + at.start)
    press(page, page.locator("main form button[type=submit]"))
    page.wait_for_url(re.compile(r"/judging/\d+/\w{32}/"))
    sheets.saved(page)
    mine = Assignment.objects.get()
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    page.keyboard.press("Escape")
    for number in range(3):
        # The first open question has the focus: its keys work at once.
        for key in "an31nbb":
            page.keyboard.press(key)
        # The last question asks why: its field has the focus, and letters are text there.
        page.keyboard.type("better, j k o")
        page.keyboard.press("F8")
        if number == 0:  # the question that says which answer to give
            page.keyboard.press("3")
            page.keyboard.press("o")
        expect(page.locator(f"a[data-dot='{number + 1}']")).to_have_attribute("data-progress", "complete")
    expect(page.locator("#finish-title")).to_be_focused()
    press(page, page.locator("#hand-in"))
    page.wait_for_url("**/done/")
    mine.refresh_from_db()
    assert mine.state == S.SUBMITTED
    votes = mine.judgments.order_by("item", "dimension").values_list("value", flat=True)
    assert sorted(votes) == sorted([-1, 0, 1, -1, 0, 1, 1] * 3)
    assert set(mine.judgments.values_list("justification", flat=True)) == {"", "better, j k o"}
    assert list(mine.check_answers.values_list("value", flat=True)) == [1]


@pytest.mark.extended
def test_keys_move_and_answer_at_once_until_letters_are_switched_off(page: Page, live_server: Any) -> None:
    sheets.open_sheet(page, live_server.url, sheets.make(items=3, checks=0, justified=True))
    shown, current = page.locator("section.judging-item:not([hidden])"), page.locator("fieldset.is-current")
    expect(page.locator("#q-1-1")).to_be_focused()
    expect(page.locator("#q-1-1 .question-key:visible")).to_have_text(["1", "2", "3"])
    expect(page.locator("#q-1-7 .question-key:visible")).to_have_text(["1", "3"])
    expect(current).to_have_id("q-1-1")
    page.keyboard.press("b")
    expect(page.locator("#q-1-1 input").nth(2)).to_be_checked()
    expect(current).to_have_id("q-1-2")
    # While a response is read, too, but never while somebody writes.
    page.locator("#item-1-a").focus()
    page.keyboard.press("2")
    expect(page.locator("#q-1-2 input").nth(1)).to_be_checked()
    page.locator("#q-1-7 textarea").focus()
    page.keyboard.type("b1")
    expect(page.locator("#q-1-7 textarea")).to_have_value("b1")
    expect(page.locator("fieldset.question input:checked")).to_have_count(2)
    page.locator("#q-1-7 textarea").blur()
    for key, number in (("j", 2), ("F9", 3), ("k", 2), ("Shift+F9", 1)):
        page.keyboard.press(key)
        expect(shown).to_have_id(f"item-{number}")
    expect(page.locator("#q-1-3")).to_be_focused()
    page.keyboard.press("h")
    expect(page.locator("#q-1-3-help")).to_be_visible()
    for part in ("a", "b", "questions"):
        page.keyboard.press("r")
        expect(page.locator(f"#item-1-{part}")).to_be_focused()
    unsure = page.locator("#item-1 [type=checkbox]")
    unsure.focus()
    page.keyboard.press("j")
    expect(shown).to_have_id("item-2")
    page.keyboard.press("k")
    more = page.locator("details.menu summary").last
    press(page, more)
    press(page, page.locator("details.menu[open] [data-opens='#help']"))
    page.keyboard.press("Escape")
    expect(more).to_be_focused()
    page.keyboard.press("?")
    page.locator("#letters").uncheck()
    page.keyboard.press("Escape")
    for key, number in (("j", 1), ("F9", 2)):
        page.keyboard.press(key)
        expect(shown).to_have_id(f"item-{number}")
    page.go_back()
    expect(shown).to_have_id("item-1")
    page.reload()
    for key in "ja1":  # a digit still answers the question that has the focus
        page.keyboard.press(key)
    expect(shown).to_have_id("item-1")
    expect(page.locator("[aria-keyshortcuts]")).to_have_count(0)
    assert page.locator("#q-1-4 .question-key").first.evaluate("key => getComputedStyle(key).fontSize") == "0px"
    expect(page.locator("fieldset.question input:checked")).to_have_count(3)


@pytest.mark.extended
@pytest.mark.parametrize("kind", [CampaignKind.PAIRWISE, CampaignKind.POINTWISE])
def test_all_questions_fit_one_screen_and_the_last_answer_leads_on(page: Page, live_server: Any, kind: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    sheets.open_sheet(page, live_server.url, sheets.make(items=2, checks=1, kind=kind))
    expect(page.locator("#answered")).to_contain_text("0 of 8")
    expect(page.locator("#place")).to_contain_text("1 of 2")
    questions, following = page.locator("#item-1-questions"), page.locator("#item-1 [data-moves='1']")
    assert questions.evaluate("part => part.scrollHeight <= part.clientHeight")
    expect(following).to_be_in_viewport(ratio=1)
    # What the marked question means is shown below the first item, and changes nothing's place.
    explained = page.locator("#explained")
    expect(explained).to_have_text(page.locator("#q-1-1-help").text_content() or "?")
    sheets.answer_item(page)
    expect(following).to_be_focused()
    expect(page.locator("#answered")).to_contain_text("8 of 8")
    following.press("Enter")
    expect(page.locator("#q-2-1")).to_be_focused()
    # Whoever chooses by arrow keys stays in the question, and so does whoever changes an answer.
    sheets.answer_item(page)
    page.locator("#q-2-2 label.question-option").last.click()
    expect(page.locator("#q-2-2 input").last).to_be_focused()


@pytest.mark.extended
@pytest.mark.parametrize("width", [390, 1280])
def test_an_answer_moves_nothing(page: Page, live_server: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    sheets.open_sheet(page, live_server.url, sheets.make(items=1, checks=1))
    sheets.saved(page)
    page.locator("a[data-dot=finish]").click()
    page.locator("#hand-in").click()  # what the button says about the first open question keeps its place, too
    boxes = """[...document.querySelectorAll(".judging-item:not([hidden]) *, .judging-top *")]
      .map((each) => each.getBoundingClientRect())
      .map((box) => [box.x, box.y, box.width, box.height].map(Math.round).join())"""
    for option in sheets.questions(page).locator("label").all():
        option.scroll_into_view_if_needed()
        option.hover()
        before = page.evaluate(boxes)
        option.click()
        sheets.saved(page)
        after = page.evaluate(boxes)
        # What counts the answers holds one more letter in the end.
        assert sum(one != two for one, two in zip(before, after, strict=True)) <= 1


@pytest.mark.extended
@pytest.mark.usefixtures("own_context")
def test_a_warning_gives_more_time_and_without_a_connection_the_time_runs_out(page: Page, live_server: Any) -> None:
    at = sheets.make(items=1, checks=0)
    page.clock.install()
    sheets.open_sheet(page, live_server.url, at)
    due, warning, title = page.locator("#due"), page.locator("#due-soon"), page.title()
    before = due.inner_text()
    page.clock.run_for(51 * 60_000)
    expect(warning).to_have_role("alert")
    expect(warning).to_be_visible()
    assert page.title() != title
    page.set_viewport_size({"width": 390, "height": 780})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.context.set_offline(True)
    page.locator("#due-more").click()
    expect(warning).to_be_visible()
    page.context.set_offline(False)
    # Only the page's clock was turned: more time than before is more than an hour from now.
    at.world.change(lease_minutes=180)
    page.locator("#due-more").click()
    expect(due).not_to_have_text(before)
    page.clock.run_for(6_000)
    expect(warning).to_be_hidden()
    at.mine.refresh_from_db()
    assert at.mine.lease_until is not None
    assert at.mine.lease_until > timezone.now() + timedelta(minutes=170)
    page.context.set_offline(True)
    page.clock.run_for(140 * 60_000)
    expect(warning).to_be_hidden()
    expect(page.locator("#late")).to_be_visible()
    page.context.set_offline(False)


@pytest.mark.extended
def test_on_a_phone_both_texts_and_the_questions_are_a_press_away(browser: Browser, live_server: Any) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 780}, has_touch=True, is_mobile=True)
    page = context.new_page()
    at = sheets.make(items=1, checks=0, k=1)
    sheets.open_sheet(page, live_server.url, at)

    expect(page.locator("#item-1-b")).to_be_hidden()

    def press(part: str) -> int:
        """Press a button of the bar where it is, without scrolling as `tap` does; return how far that part is up."""
        box = page.locator(f".judging-jump [data-goes={part}]").bounding_box()
        assert box is not None
        page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.wait_for_timeout(100)
        return top(part)

    def top(part: str) -> int:
        return round(page.locator(f"#item-1-{part}").evaluate("part => part.getBoundingClientRect().top"))

    press("questions")
    page.locator("#q-1-4 label").nth(1).tap()
    where = top("questions")
    press("b")
    expect(page.locator("#item-1-b h3")).to_be_in_viewport()
    expect(page.locator("#item-1-a")).to_be_hidden()
    page.evaluate("scrollBy(0, 250)")
    within = top("b")
    press("a")
    expect(page.locator("#item-1-a h3")).to_be_in_viewport()
    # Back to where one was, in the text and in the questions.
    assert press("b") == pytest.approx(within, abs=3)
    assert press("questions") == pytest.approx(where, abs=3)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    sizes = page.evaluate(
        """[...document.querySelectorAll("#item-1 :is(button, label), .judging-jump button, a[data-dot]")]
             .filter((each) => each.getClientRects().length)
             .map((each) => each.getBoundingClientRect())
             .map(({ width, height }) => Math.min(width, height))"""
    )
    assert min(sizes) >= 44
    for question in sheets.questions(page).all():
        question.locator("label.question-option").first.tap()
    page.locator("#item-1 [data-moves='1']").tap()
    page.locator("#comment").fill("On a bus.")
    page.locator("#hand-in").tap()
    page.wait_for_url("**/done/")
    at.mine.refresh_from_db()
    assert (at.mine.state, at.mine.comment) == (S.SUBMITTED, "On a bus.")
    context.close()


@pytest.mark.extended
def test_a_scale_of_four_is_answered_by_its_numbers(page: Page, live_server: Any) -> None:
    at = sheets.make(items=2, checks=0, kind=CampaignKind.POINTWISE)
    sheets.open_sheet(page, live_server.url, at)
    expect(page.locator("section.judging-item:not([hidden]) .judging-side")).to_have_count(1)
    for key in "1234b":  # a letter is no answer here
        page.keyboard.press(key)
    sheets.saved(page)
    assert list(at.answers().values()) == [-3, -1, 1, 3]


@pytest.mark.extended
def test_what_is_open_is_listed_with_the_way_to_it(page: Page, live_server: Any) -> None:
    at = sheets.make(items=3)
    sheets.open_sheet(page, live_server.url, at)
    sheets.answer_item(page)
    page.locator("a[data-dot=finish]").click()
    expect(page.locator("#finish-words")).to_contain_text("14")
    # It leads to the first of them and says so there.
    page.locator("#hand-in").click()
    expect(page.locator("#q-2-1 input").first).to_be_focused()
    expect(page.locator("#q-2-1 .question-note")).to_contain_text("14")
    expect(page.locator("#announced")).to_contain_text("14")
    page.locator("a[data-dot=finish]").click()
    link = page.locator("#missing a").first
    expect(link).to_contain_text("7")
    link.focus()
    # What is saved meanwhile is told, and takes the focus from nobody.
    page.locator("#q-2-2 input").first.evaluate("option => option.click()")
    sheets.saved(page)
    expect(link).to_contain_text("6")
    expect(link).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#q-2-1 input").first).to_be_focused()
    assert at.state() == S.ASSIGNED


@pytest.mark.extended
def test_a_citation_shows_its_passage_and_the_same_source_in_both_texts(page: Page, live_server: Any) -> None:
    at = sheets.make(items=1, checks=0, shows_passages=True)
    topic = at.world.responses[0].topic
    with pgtrigger.ignore():
        for rank in (0, 3):
            passage = PassageFactory(study=at.world.study, text=f"Passage of rank {rank}.")
            RetrievedPassage.objects.filter(topic=topic, rank=rank).update(passage=passage)
            retrieved, _made = RetrievedPassage.objects.get_or_create(
                topic=topic, rank=rank, defaults={"passage": passage}
            )
            for response in at.world.responses:
                statement = Statement.objects.create(response=response, position=90 + rank, start=0, end=1)
                Citation.objects.create(statement=statement, retrieved=retrieved)
    sheets.open_sheet(page, live_server.url, at)
    card, cites = page.locator("#passage"), page.locator("#item-1-a .judging-cite")
    cites.nth(1).hover()
    expect(card).to_contain_text("Passage of rank 3.")
    # The other number of it has no passage; each text has the same source elsewhere.
    expect(card).to_contain_text("[7]")
    for side in "ab":
        same = page.locator(f"#item-1-{side} .judging-cite.is-same")
        assert set(same.all_inner_texts()) == {"[3, 7]"}
    page.locator("#item-1-title").hover()
    expect(card).to_be_hidden()
    # By keyboard: one stop a text, arrow keys within it.
    page.locator("#item-1-a").focus()
    page.keyboard.press("Tab")
    expect(card).to_have_text("[0] Passage of rank 0.")
    page.keyboard.press("ArrowRight")
    expect(cites.nth(1)).to_be_focused()
    expect(card).to_contain_text("Passage of rank 3.")
    assert look(page) == []
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()


@pytest.mark.usefixtures("own_context")
def test_time_counts_while_one_looks(page: Page, live_server: Any) -> None:
    page.clock.install()
    at = sheets.make(items=3, now=timezone.now() - timedelta(hours=1))
    sheets.open_sheet(page, live_server.url, at)
    first, second, _third = at.mine.questionnaire.entries.order_by("position").values_list("item", flat=True)
    page.clock.run_for(20_000)
    page.keyboard.press("j")
    page.clock.run_for(10_000)
    page.locator("#q-2-1 label").first.click()
    page.locator("#q-2-1 label").last.click()  # the first answer changed nothing; this one does
    # Another window comes to the front, and goes.
    page.evaluate("document.hasFocus = () => false; dispatchEvent(new Event('blur'))")
    page.clock.run_for(30_000)
    page.evaluate("document.hasFocus = () => true; dispatchEvent(new Event('focus'))")
    # Nobody is there any more.
    page.clock.run_for(180_000)
    page.goto("about:blank")  # the last report goes out with the page
    for _ in range(100):
        times = {time.item_id: time for time in ItemTime.objects.filter(assignment=at.mine)}
        if second in times and times[second].away_seconds > 80:
            break
        page.wait_for_timeout(100)
    assert set(times) == {first, second}
    assert times[first].active_seconds == pytest.approx(20, abs=2)
    assert times[first].away_seconds == 0
    assert times[second].active_seconds == pytest.approx(10 + 120, abs=3)
    assert times[second].away_seconds == pytest.approx(30 + 60, abs=5)
    assert (times[second].looks, times[second].leaves, times[second].changes) == (1, 1, 1)


@pytest.mark.extended
@pytest.mark.parametrize("kind", [CampaignKind.PAIRWISE, CampaignKind.POINTWISE])
def test_the_options_of_all_questions_stand_alike_and_full_stops_follow(
    page: Page, live_server: Any, kind: str
) -> None:
    sheets.open_sheet(page, live_server.url, sheets.make(items=1, kind=kind))
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        shapes = page.evaluate(
            """[...document.querySelectorAll(".judging-item:not([hidden]) .question-options")].map((each) => {
                 const boxes = [...each.children].map((child) => child.getBoundingClientRect());
                 const of = (side) => new Set(boxes.map((box) => Math.round(box[side]))).size;
                 return [of("top") === 1, of("left") === 1, of("width") === 1];
               })"""
        )
        assert len(shapes) == 8
        assert {tuple(shape) for shape in shapes} in ({(True, False, True)}, {(False, True, True)}), shapes
    gaps = page.evaluate(
        """[...document.querySelectorAll(".judging-cite")].map((cite) => {
             const words = document.createRange();
             words.selectNodeContents(cite);
             return cite.getBoundingClientRect().right - words.getBoundingClientRect().right;
           })"""
    )
    assert max(gaps) < 0.5, "a citation is followed by its full stop"


@pytest.mark.extended
def test_every_state_is_accessible(page: Page, live_server: Any) -> None:
    """Start, questionnaire, its dialogs, what is open, late, given back, closed, handed in, rejected, own page."""
    at = sheets.make(items=2, checks=1, justified=True, claims=False)
    enter(page.context, live_server.url, at.judge)
    found: list[str] = []

    def look_at(*paths: str) -> None:
        for path in paths:
            page.goto(live_server.url + path)
            found.extend(look(page))

    look_at(at.start)
    at.mine = claims.claim(campaign=at.world.campaign, participant=at.judge, now=timezone.now())
    look_at(at.start, at.path)
    page.keyboard.press("?")
    found += look(page)
    page.keyboard.press("Escape")
    page.locator(".menu summary").click()
    found += look(page)
    page.keyboard.press("Escape")
    page.context.set_offline(True)
    sheets.answer_item(page)
    page.keyboard.press("F9")
    expect(sheets.state(page)).to_have_attribute("data-state", "offline")
    found += look(page)
    page.locator("a[data-dot=finish]").click()
    found += look(page)
    page.context.set_offline(False)
    sheets.saved(page)
    look_at(at.address("return"))
    leases.give_back(assignment=at.mine, now=timezone.now())
    look_at(at.path, f"{at.path}?late=1")
    at.complete()
    submission.submit(assignment=at.mine, now=timezone.now())
    page.locator("a[data-dot='1']").click()
    page.locator("#q-1-1 label.question-option").nth(1).click()
    expect(page.locator("#closed")).to_be_focused()
    found += look(page)
    look_at(at.address("done"))
    decisions.reject(assignment=at.mine, reason="Every answer was A.", by=at.world.member(), now=timezone.now())
    own = reverse("participant_dashboard", args=[at.world.study.slug])
    look_at(at.address("done"), own)
    at.world.change(state=CampaignState.CLOSED, closed_at=timezone.now())
    look_at(at.start)
    withdrawal.withdraw(participant=at.judge, now=timezone.now())
    look_at(own)
    assert found == []
