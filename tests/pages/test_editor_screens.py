"""The editor on every screen: by touch, narrow, zoomed, both themes; hostile texts; what it weighs; nothing moves."""

import gzip
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, Page, Response, expect

from tests.factories import WritingTaskFactory
from tests.pages.accessibility import settled_violations
from tests.pages.editor_study import desk, leave, passage_text, sit_down, write
from writing.assignments.lifecycle import TASKS
from writing.enums import LONGEST_TEXT
from writing.models import WritingTask

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PROBLEMS = "The tide follows the moon [0]. A far harbour sees more [25]. Empty []. Nothing is cited in this sentence."
SHIFTS = """() => {
  window.shifts = [];
  new PerformanceObserver((list) => {
    const moved = list.getEntries().filter((entry) => !entry.hadRecentInput);
    for (const entry of moved) {
      const box = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join(" ");
      const nodes = entry.sources.map(({ node, previousRect, currentRect }) => [
        (node?.outerHTML ?? node?.data ?? "").slice(0, 90), box(previousRect), box(currentRect),
      ]);
      window.shifts.push([entry.value, Math.round(entry.startTime), innerHeight, ...nodes]);
    }
  }).observe({ type: "layout-shift", buffered: true });
}"""
EVIL = [
    "</script><script>window.evil = 1</script>",
    "<img src=x onerror='window.evil = 2'>",
    "\u202edesrever si siht\u202c and {{ this }} ${isnot}",
    "=cmd|' /C calc'!A0",
    "😀👩‍👩‍👧‍👦 e\u0301 \u200b\ufeff",
    "مرحبا بالعالم، هذا نص من اليمين إلى اليسار",
    "unbroken" * 500,
    "A hundred kilobytes. " * 5000,
]


@pytest.fixture
def phone(browser: Browser, live_server: Any) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 390, "height": 780}, has_touch=True, is_mobile=True)
    yield context.new_page()
    leave(context)
    context.close()


def wide(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth"))


def test_on_a_phone_by_touch(phone: Page, live_server: Any) -> None:
    page = phone
    made = desk()
    sit_down(page, live_server.url, made)
    text, passages = page.locator("#text"), page.locator("#passage-list")
    expect(text).not_to_be_focused()
    assert wide(page) == 390
    small = page.evaluate(
        """() => [...document.querySelectorAll("button, summary, input, .work-leave, label")]
            .filter((each) => each.checkVisibility({ visibilityProperty: true }))
            .filter((each) => !each.closest("dialog, [inert], .menu-panel"))
            .filter((each) => !each.matches("[type=checkbox], .visually-hidden, .editor-label"))
            .map((each) => [each.outerHTML.slice(0, 80), each.getBoundingClientRect()])
            .filter(([, box]) => box.height < 43.9 || box.width < 40)
            .map(([html, box]) => [html, box.width, box.height])"""
    )
    assert small == []
    text.tap()
    page.keyboard.insert_text("Tides differ")
    page.get_by_role("button", name="Passages").tap()
    expect(passages).to_be_visible()
    passages.evaluate("list => { list.scrollTop = 1500 }")
    page.get_by_role("button", name="Text", exact=True).tap()
    page.get_by_role("button", name="Passages").tap()
    assert passages.evaluate("list => list.scrollTop") == 1500
    page.locator("#passage-6 .passage-cite").tap()
    expect(text).to_have_value("Tides differ [6]")
    expect(text).to_be_focused()
    text.press_sequentially(". Moon [1")
    page.get_by_role("option").nth(2).tap()
    expect(text).to_have_value("Tides differ [6]. Moon [11]")
    page.get_by_role("button", name="Preview").tap()
    page.locator("#preview .cite").first.tap()
    expect(page.locator("#peek")).to_contain_text("Harbour 6 lies")
    box = page.locator("#peek").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert settled_violations(page) == []
    page.set_viewport_size({"width": 320, "height": 568})
    assert wide(page) == 320
    expect(page.get_by_role("button", name="Finish")).to_be_in_viewport(ratio=1)


@pytest.mark.extended
def test_the_menu_and_the_way_out_of_the_help_are_in_view_on_a_phone(phone: Page, live_server: Any) -> None:
    page = phone
    sit_down(page, live_server.url, desk(study__language="fr"))
    page.locator(".editor-top summary").tap()
    menu = page.locator(".menu-panel").bounding_box()
    assert menu is not None
    assert menu["x"] >= 0
    assert menu["x"] + menu["width"] <= 390
    assert all(item["height"] >= 44 for each in page.locator(".menu-item").all() if (item := each.bounding_box()))
    page.locator(".menu-panel [data-opens]").tap()
    expect(page.locator("#help-dialog [data-closes]")).to_be_in_viewport(ratio=1)


@pytest.mark.extended
def test_with_a_keyboard_open_the_screen_is_the_text_s(phone: Page, live_server: Any) -> None:
    """A phone of 390 x 780 with its keyboard open shows 390 x 400."""
    sit_down(phone, live_server.url, desk())
    text = phone.locator("#text")
    assert text.evaluate("text => text.maxLength") == LONGEST_TEXT
    text.tap()
    phone.keyboard.insert_text("The tide follows the moon and the sun. " * 30)
    phone.set_viewport_size({"width": 390, "height": 400})
    expect(phone.locator("body")).to_have_class(re.compile("is-typing"))
    lines = """text => {
      const { paddingTop, lineHeight } = getComputedStyle(text);
      return (text.clientHeight - 2 * parseFloat(paddingTop)) / parseFloat(lineHeight);
    }"""
    assert text.evaluate(lines) >= 8
    for name in ("Finish", "Passages"):
        expect(phone.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)
    assert wide(phone) == 390
    assert phone.evaluate("document.documentElement.scrollHeight") <= 400
    assert settled_violations(phone) == []
    # A press that takes the focus away still meets its button.
    phone.get_by_role("button", name="Passages").tap()
    expect(phone.locator("#passage-list")).to_be_visible()
    expect(phone.locator("body")).not_to_have_class(re.compile("is-typing"))
    phone.get_by_role("button", name="Text", exact=True).tap()
    expect(phone.locator(".topic")).to_be_visible()


@pytest.mark.extended
def test_what_to_revise_stands_above_the_text_on_a_phone_too(phone: Page, live_server: Any) -> None:
    made = desk(narrative="A good answer says how sure it is, and of what.")
    earlier = WritingTaskFactory(claimed=True, topic__study=made.task.study)
    WritingTask.objects.filter(pk=made.task.pk).update(revises=earlier)
    note = "Cite where the second sentence comes from. " * 20
    TASKS.record(made.task, "", "sent back for revision", note=note, now=timezone.now())
    phone.add_init_script(f"({SHIFTS})()")
    sit_down(phone, live_server.url, made)
    phone.wait_for_timeout(700)
    assert phone.evaluate("window.shifts") == []
    told = phone.locator("#sent-back")
    for width, height in [(390, 780), (320, 568), (1280, 800)]:
        phone.set_viewport_size({"width": width, "height": height})
        expect(told).to_be_in_viewport(ratio=1)
        expect(told.locator("p")).to_be_visible()
        box, field = told.bounding_box(), phone.locator("#text").bounding_box()
        assert box is not None
        assert field is not None
        assert box["y"] + box["height"] <= field["y"], "above the text, not over it"
        assert field["height"] >= 90
        assert settled_violations(phone) == []
    told.locator("summary").click()
    expect(told.locator("p")).to_be_hidden()


@pytest.mark.extended
@pytest.mark.parametrize("width", [320, 390])
def test_the_bar_is_one_line_in_every_state(phone: Page, live_server: Any, width: int) -> None:
    sit_down(phone, live_server.url, desk())
    phone.set_viewport_size({"width": width, "height": 780})
    phone.locator("#save-words").evaluate("words => { words.textContent = 'Open elsewhere' }")
    phone.locator("#save-state").evaluate("state => { state.dataset.state = 'fenced' }")
    leave_link, finish = phone.locator(".work-leave").bounding_box(), phone.locator("#finish").bounding_box()
    assert leave_link
    assert finish
    assert finish["y"] < leave_link["y"] + leave_link["height"]
    assert wide(phone) == width


@pytest.mark.extended
def test_axe_finds_nothing(page: Page, live_server: Any) -> None:
    sit_down(page, live_server.url, desk(narrative="A good answer says how sure it is."))
    page.locator("#text").focus()
    page.keyboard.insert_text(PROBLEMS)
    expect(page.locator("#findings li")).to_have_count(3)
    found = []
    for width, theme in [(1280, "light"), (390, "light"), (1280, "dark"), (390, "dark")]:
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]
        found += settled_violations(page)
        if width < 600:
            page.get_by_role("button", name="Passages").click()
            found += settled_violations(page)
            page.get_by_role("button", name="Text", exact=True).click()
    page.set_viewport_size({"width": 1280, "height": 800})
    page.locator("#search").fill("moon")
    expect(page.locator("#passage-list mark").first).to_be_visible()
    page.get_by_role("button", name="Preview").click()
    page.locator("#preview .cite").first.hover()
    found += settled_violations(page)
    page.locator("#text").press("Control+End")
    page.locator("#text").press_sequentially(" [")
    expect(page.get_by_role("listbox")).to_be_visible()
    found += settled_violations(page)
    page.keyboard.press("Escape")
    page.locator("#finish").click()
    found += settled_violations(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Help and shortcuts").click()
    found += settled_violations(page)
    assert found == []


@pytest.mark.extended
def test_zoomed_in_and_low_everything_is_reached(page: Page, live_server: Any) -> None:
    """1280 x 720 at 200 % is 640 x 360."""
    page.set_viewport_size({"width": 640, "height": 360})
    sit_down(page, live_server.url, desk())
    assert wide(page) == 640
    assert page.evaluate("document.documentElement.scrollHeight") < 700
    box = page.locator("#text").bounding_box()
    assert box is not None
    assert box["height"] > 90
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("region", name="Preview")).to_be_visible()


@pytest.mark.extended
def test_hostile_texts_stay_text(page: Page, live_server: Any) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    made = desk(EVIL, query=EVIL[0] + EVIL[2], narrative=EVIL[1])
    sit_down(page, live_server.url, made)
    for rank in range(len(EVIL)):
        assert page.locator(f"#passage-text-{rank}").text_content() == EVIL[rank]
    page.locator("#text").focus()
    page.keyboard.insert_text(" ".join(EVIL[:6]) + " [0, 1, 2][3] <b>x</b> [4]")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#preview")).to_contain_text("<b>x</b>")
    page.locator("#preview .cite").first.hover()
    page.locator("#search").fill("<img")
    expect(page.locator("#search-figure")).to_have_text(re.compile(r"^1\b"))
    page.locator("#search").fill("a")
    expect(page.locator("#search-figure")).to_have_text(re.compile(r"^500\+"))
    page.locator("#text").press_sequentially(" [")
    expect(page.get_by_role("option")).to_have_count(len(EVIL))
    assert page.evaluate("window.evil") is None
    assert page.locator("#passage-5 .passage-text").evaluate("each => getComputedStyle(each).direction") == "rtl"
    assert wide(page) == 1280
    assert page.evaluate("document.querySelectorAll('#preview b, #passage-list img').length") == 0


@pytest.mark.extended
@pytest.mark.parametrize("count", [0, 1, 200])
def test_any_number_of_passages(page: Page, live_server: Any, count: int) -> None:
    sit_down(page, live_server.url, desk([passage_text(rank) for rank in range(count)]))
    page.locator("#text").press_sequentially("A claim [1")
    page.keyboard.press("F6")
    page.keyboard.press("Escape")
    if count == 0:
        expect(page.locator("#suggestions-frame")).to_be_hidden()
    expect(page.locator("#passage-list li")).to_have_count(count)
    page.locator("#text").press_sequentially("]. And so on it goes for long.")
    expect(page.locator("#findings li")).to_have_count(2 if count < 2 else 1)


@pytest.fixture
def screen(browser: Browser, live_server: Any, width: int) -> Iterator[Page]:
    """A page on a screen that has its size from the start: to be given another one moves what is laid out."""
    context = browser.new_context(viewport={"width": width, "height": 800})
    yield context.new_page()
    leave(context)
    context.close()


@pytest.mark.extended
@pytest.mark.parametrize("width", [390, 1280])
def test_it_is_light_and_nothing_moves(screen: Page, live_server: Any, width: int) -> None:
    """Under 100 kB as a server sends it (static files compressed as WhiteNoise keeps them), and no layout shift."""
    page = screen
    weights: dict[str, int] = {}

    def weigh(response: Response) -> None:
        if response.request.method == "GET" and response.status == 200:
            packed = response.headers.get("content-encoding") == "gzip"
            body = response.body()
            weights[response.url.removeprefix(live_server.url)] = len(gzip.compress(body, 6 if packed else 9))

    page.on("response", weigh)
    page.add_init_script(f"({SHIFTS})()")
    sit_down(page, live_server.url, desk())
    page.wait_for_timeout(1500)
    assert len(weights) > 30
    assert sum(weights.values()) < 100_000, weights
    page.locator("#text").focus()
    page.keyboard.insert_text(PROBLEMS)
    expect(page.locator("#findings li")).to_have_count(3)
    page.wait_for_timeout(700)
    assert page.evaluate("window.shifts") == []


DELAYS = """() => {
  window.delays = [];
  addEventListener("keydown", (event) => window.delays.push(performance.now() - event.timeStamp), true);
  window.slow = [];
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (entry.name === "keydown") window.slow.push(entry.duration);
  });
  observer.observe({ type: "event", durationThreshold: 16 });
}"""


@pytest.mark.soak
def test_keys_are_answered_at_once_on_a_slow_device(page: Page, live_server: Any) -> None:
    """A processor of a quarter's speed, with the log, the checks and the preview at work: p95 under 50 ms."""
    page.set_viewport_size({"width": 1280, "height": 800})
    sit_down(page, live_server.url, desk())
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
    page.get_by_role("button", name="Preview").click()
    write(page, (PROBLEMS + "\n\n") * 15)
    page.wait_for_timeout(2000)
    page.evaluate(f"({DELAYS})()")
    page.keyboard.type("The tide follows the moon, and the sun adds to it [3]. " * 8, delay=70)
    page.wait_for_timeout(1000)
    delays = sorted(page.evaluate("window.delays"))
    slow = sorted(page.evaluate("window.slow"))
    at = int(0.95 * len(delays))
    # Answers quicker than 16 ms are not reported by the browser: they come first.
    shown = ([0.0] * (len(delays) - len(slow)) + slow)[at]
    print(f"input delay p50 {delays[len(delays) // 2]:.1f} p95 {delays[at]:.1f} ms; until shown p95 {shown:.0f} ms")
    assert delays[at] < 50
