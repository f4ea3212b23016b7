"""No answer is lost, and "saved" is never said of one that has not arrived, whatever network, server and browser do."""

from contextlib import suppress
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import BrowserContext, Error, Page, Route, expect

from tests.factories import StudyFactory
from tests.pages import questionnaires as sheets
from tests.pages.editor_study import enter
from tests.pages.questionnaires import Sheet

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# What the page says, and what it shows as chosen, read in one moment.
LOOK = """() => ({
  state: document.querySelector("#save-state").dataset.state,
  chosen: [...document.querySelectorAll("fieldset[data-dimension]")].flatMap((asked) => {
    const chosen = asked.querySelector("input:checked");
    const item = asked.closest("[data-item]").dataset.item;
    return chosen ? [[Number(item), Number(asked.dataset.dimension), Number(chosen.value)]] : [];
  }),
})"""
STORING = "**/{answer,check}/"


def look(page: Page, at: Sheet) -> dict[tuple[int, int], int]:
    """Return what the page shows; what it calls saved must be there."""
    seen = page.evaluate(LOOK)
    chosen = {(item, dimension): value for item, dimension, value in seen["chosen"]}
    if seen["state"] == "saved":
        stored = at.answers()
        missing = {key: value for key, value in chosen.items() if stored.get(key) != value}
        assert missing == {}, "the page says that all is saved"
    return chosen


def press(page: Page, at: Sheet, rng: Random) -> None:
    """Answer some question of the item that is shown, or change one."""
    option = rng.choice(sheets.questions(page).locator("label.question-option").all())
    option.click()
    look(page, at)


def settle(page: Page, at: Sheet) -> None:
    """All that was answered is there once the page says so."""
    sheets.saved(page)
    chosen = look(page, at)
    assert chosen == at.answers()
    assert len(at.attended()) == page.locator("fieldset[data-check]:has(input:checked)").count()


class Fate:
    """What the network and the server do to a request: nothing, refuse it, lose its answer, break, be slow."""

    def __init__(self, rng: Random):
        self.rng = rng
        self.is_over = False

    def __call__(self, route: Route) -> None:
        kinds = ["fine", "fine", "refused", "lost", "broken", "busy", "gateway"]
        kind = "fine" if self.is_over else self.rng.choice(kinds)
        # A page that is left takes its requests along, whatever was to become of them.
        with suppress(Error):
            if kind == "refused":
                route.abort("connectionrefused")
            elif kind == "lost":
                route.fetch()
                route.abort("connectionreset")
            elif kind == "broken":
                route.fulfill(status=500, body="<h1>Error</h1>", content_type="text/html")
            elif kind == "busy":
                route.fulfill(status=503, json={"problem": "busy"}, headers={"Retry-After": "0"})
            elif kind == "gateway":
                route.fulfill(status=502, body="")
            else:
                route.continue_()


LONG = [pytest.param(seed, 6, 80, marks=[pytest.mark.soak, pytest.mark.timeout(7200)]) for seed in range(100, 150)]


@pytest.mark.extended
@pytest.mark.parametrize(("seed", "items", "presses"), [(1, 2, 12), *LONG])
def test_answers_under_fire(page: Page, live_server: Any, seed: int, items: int, presses: int) -> None:
    at, rng = sheets.make(items=items, checks=items // 2), Random(seed)
    fate = Fate(rng)
    page.context.route(STORING, fate)
    sheets.open_sheet(page, live_server.url, at)
    for _ in range(presses):
        press(page, at, rng)
        act = rng.random()
        if act < 0.1:
            page.evaluate("dispatchEvent(new Event('online'))")
        elif act < 0.2:
            before = look(page, at)
            page.reload()
            expect(sheets.state(page)).not_to_have_attribute("data-state", "opening")
            assert look(page, at) == before, "a reload shows what was chosen"
        elif act < 0.35:
            page.keyboard.press(rng.choice(["F9", "Shift+F9"]))
            if page.locator("#finish").is_visible():
                page.keyboard.press("Shift+F9")
        elif act < 0.5:
            page.wait_for_timeout(rng.randrange(400))
    fate.is_over = True
    page.evaluate("dispatchEvent(new Event('online'))")
    settle(page, at)


@pytest.mark.extended
@pytest.mark.usefixtures("own_context")
def test_the_watcher_hears_a_lie(page: Page, live_server: Any) -> None:
    """A page that says "saved" of what was only sent is caught."""

    def lie(route: Route) -> None:
        script = (settings.BASE_DIR / "static/js/judging/save-status.js").read_text()
        truth = 'const kind = trouble ? "unkept" : state.phase;'
        assert truth in script
        route.fulfill(body=script.replace(truth, 'const kind = "saved";'), content_type="text/javascript")

    at = sheets.make(items=1)
    page.context.route("**/judging/save-status*.js", lie)
    page.context.route(STORING, lambda route: route.abort())
    sheets.open_sheet(page, live_server.url, at)
    sheets.questions(page).first.locator("label").first.click()
    with pytest.raises(AssertionError):
        look(page, at)


def test_offline_and_away_and_back(page: Page, context: BrowserContext, live_server: Any) -> None:
    at = sheets.make(items=2)
    sheets.open_sheet(page, live_server.url, at)
    context.set_offline(True)
    sheets.answer_item(page)
    expect(sheets.state(page)).to_have_attribute("data-state", "offline")
    page.keyboard.press("F9")
    sheets.answer_item(page, 1)
    page.locator("a[data-dot=finish]").click()
    page.locator("#hand-in").click()
    expect(page.locator("#finish-state")).not_to_be_empty()
    assert at.answers() == {}
    # The page dies, and is opened again where the server still cannot be reached by its scripts.
    page.close()
    context.set_offline(False)
    context.route(STORING, lambda route: route.abort())
    page = context.new_page()
    sheets.open_sheet(page, live_server.url, at)
    assert len(look(page, at)) == 14
    expect(sheets.state(page)).to_have_attribute("data-state", "offline")
    context.unroute(STORING)
    page.evaluate("dispatchEvent(new Event('online'))")
    settle(page, at)
    page.locator("a[data-dot=finish]").click()
    page.locator("#hand-in").click()
    page.wait_for_url("**/done/")
    assert at.state() == "SUBMITTED"
    assert page.evaluate("Object.keys(localStorage).filter((name) => name.includes('judging:'))") == []


@pytest.mark.extended
@pytest.mark.usefixtures("own_context")
def test_a_phone_without_a_connection_keeps_its_bar_in_one_line(page: Page, live_server: Any) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    at = sheets.make(items=1, checks=0, study=StudyFactory(language="fr"))
    sheets.open_sheet(page, live_server.url, at)
    bar = page.locator(".judging-bar")
    before = bar.bounding_box()
    page.context.set_offline(True)
    page.locator("#item-1 [data-unsure]").check()
    expect(sheets.state(page)).to_have_attribute("data-state", "offline")
    short = page.locator("#save-short").bounding_box()
    assert short is not None
    assert short["width"] > 40, "the word is there in full"
    assert bar.bounding_box() == before
    places = [page.locator(each).bounding_box() for each in (".work-leave", "#save-state", ".work-due")]
    for left, right in pairwise(places):
        assert left is not None
        assert right is not None
        assert left["x"] + left["width"] <= right["x"]


@pytest.mark.extended
def test_an_answer_at_which_the_server_breaks_keeps_no_other_back(page: Page, live_server: Any) -> None:
    at = sheets.make(items=1, checks=0)
    broken = at.world.dimensions[0].pk

    def handle(route: Route) -> None:
        if route.request.post_data_json["dimension"] == broken:
            return route.fulfill(status=500, body="<h1>Error</h1>")
        return route.continue_()

    page.context.route(STORING, handle)
    sheets.open_sheet(page, live_server.url, at)
    sheets.answer_item(page)
    for _ in range(100):
        if len(at.answers()) == 6:
            break
        page.wait_for_timeout(100)
    assert len(at.answers()) == 6
    assert sheets.state(page).get_attribute("data-state") != "saved"
    page.context.unroute(STORING)
    settle(page, at)


@pytest.mark.extended
def test_handing_in_is_tried_until_it_works(page: Page, context: BrowserContext, live_server: Any) -> None:
    at = sheets.make(items=1)
    sheets.open_sheet(page, live_server.url, at)
    sheets.answer_item(page)
    page.locator("#item-1 [data-moves='1']").click()
    page.locator("#comment").fill("Once.")
    fates = iter(["broken", "lost"])

    def handle(route: Route) -> None:
        kind = next(fates, "fine")
        if kind == "broken":
            return route.fulfill(status=500, body="<h1>Error</h1>")
        if kind == "lost":  # it is handed in, and nobody is told
            route.fetch()
            return route.abort("connectionreset")
        return route.continue_()

    context.route("**/submit/", handle)
    page.locator("#hand-in").click()
    page.wait_for_url("**/done/")
    at.mine.refresh_from_db()
    assert (at.mine.state, at.mine.comment) == ("SUBMITTED", "Once.")
    assert at.mine.transitions.count() == 2


def test_two_tabs_show_and_send_the_same(page: Page, context: BrowserContext, live_server: Any) -> None:
    at = sheets.make(items=1)
    sheets.open_sheet(page, live_server.url, at)
    other = context.new_page()
    sheets.open_sheet(other, live_server.url, at)
    first = "#q-1-1 label:nth-of-type({})"
    page.locator(first.format(1)).click()
    sheets.saved(page)
    expect(other.locator("#q-1-1 input").nth(0)).to_be_checked()
    other.locator(first.format(3)).click()
    expect(page.locator("#q-1-1 input").nth(2)).to_be_checked()
    context.set_offline(True)
    page.locator(first.format(2)).click()
    expect(other.locator("#q-1-1 input").nth(1)).to_be_checked()
    other.locator("#q-1-2 label").first.click()
    context.set_offline(False)
    for tab in (page, other):
        settle(tab, at)
    assert sorted(at.answers().values()) == [-1, 0]
    assert page.locator(".question-note:visible").count() == 0


@pytest.mark.extended
def test_another_device_was_newer(page: Page, browser: Any, live_server: Any) -> None:
    """What was chosen here is not stored over what was chosen there; the person is told, and chooses again."""
    at = sheets.make(items=1)
    sheets.open_sheet(page, live_server.url, at)
    phone = browser.new_context()
    there = phone.new_page()
    sheets.open_sheet(there, live_server.url, at)
    there.locator("#q-1-1 label").nth(2).click()
    sheets.saved(there)
    page.locator("#q-1-1 label").nth(0).click()
    expect(page.locator("#q-1-1 .question-note")).not_to_be_empty()
    expect(page.locator("#q-1-1 input").nth(2)).to_be_checked()
    page.locator("#q-1-1 label").nth(0).click()
    expect(page.locator("#q-1-1 .question-note")).to_be_hidden()
    settle(page, at)
    assert list(at.answers().values()) == [-1]
    phone.close()


def test_a_session_that_ran_out_and_a_token_that_is_stale(
    page: Page, context: BrowserContext, live_server: Any
) -> None:
    at = sheets.make(items=1)
    sheets.open_sheet(page, live_server.url, at)
    cookies = context.cookies()
    context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    page.locator("#q-1-1 label").first.click()
    expect(sheets.state(page)).to_have_attribute("data-state", "expired")
    enter(context, live_server.url, at.judge)
    page.evaluate("dispatchEvent(new Event('focus'))")
    settle(page, at)
    assert len(cookies) == 2
    context.clear_cookies(name=settings.CSRF_COOKIE_NAME)
    page.locator("#q-1-2 label").first.click()
    settle(page, at)
    assert len(at.answers()) == 2


@pytest.mark.extended
def test_a_browser_that_keeps_nothing_says_so(page: Page, context: BrowserContext, live_server: Any) -> None:
    at = sheets.make(items=1)
    page.add_init_script("Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }")
    sheets.open_sheet(page, live_server.url, at)
    context.set_offline(True)
    page.locator("#q-1-1 label").first.click()
    expect(sheets.state(page)).to_have_attribute("data-state", "unkept")
    context.set_offline(False)
    settle(page, at)


@pytest.mark.extended
@pytest.mark.usefixtures("own_context")
def test_what_is_said_of_a_pair_is_kept_without_a_connection_and_a_problem_is_sent_once(
    page: Page, live_server: Any
) -> None:
    at = sheets.make(items=2, checks=0)
    sheets.open_sheet(page, live_server.url, at)
    unsure, item = page.locator("#item-1 [data-unsure]"), at.mine.questionnaire.entries.get(position=0).item_id
    page.context.set_offline(True)
    unsure.check()
    expect(sheets.state(page)).to_have_attribute("data-state", "offline")
    page.locator("#item-1 [data-reports]").click()
    page.locator("#report-text").fill("Response B is empty.")
    page.locator("#report-send").click()
    expect(page.locator("#report-state")).not_to_be_empty()
    page.keyboard.press("Escape")
    page.context.set_offline(False)
    sheets.saved(page)
    page.reload()
    expect(unsure).to_be_checked()
    assert list(at.mine.confidences.values_list("item", "is_unsure")) == [(item, True)]
    page.locator("#item-1 [data-reports]").click()
    expect(page.locator("#report-text")).to_have_value("Response B is empty.")
    page.locator("#report-send").click()
    expect(page.locator("#report")).to_be_hidden()
    expect(page.locator("#item-1 [data-reported]")).to_be_visible()
    assert at.judge.messages.filter(kind="PROBLEM").count() == 1
