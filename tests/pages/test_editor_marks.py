"""The editor's marks in the text, its rule on copying, its length, and the widths of its panes."""

import random
import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.pages.editor_study import Desk, desk, field, findings, leave, passage_text, recorded, saved, sit_down, write
from writing.editor import codec
from writing.models import WritingPlan

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ALPHABET = [
    "a",
    "word",
    "unbroken" * 30,
    " ",
    "  ",
    "\n",
    "\n\n",
    "\t",
    "[3]",
    "[1, 25] ",
    "[",
    "i",
    "W" * 9,
    "😀",
    "مرحبا بالعالم",
    "שלום",
    "日本語",
    ". ",
]
# Whether the copy is laid out as the field: as high, as wide, scrolled alike, and each line of it as long.
LAYOUT = """() => {
  const [text, marks] = [document.getElementById("text"), document.getElementById("citation-marks")];
  const names = ["fontSize", "lineHeight", "letterSpacing", "paddingLeft", "paddingTop", "direction", "tabSize"];
  const style = (element) => names.map((name) => getComputedStyle(element)[name]).join();
  return {
    heights: [text.scrollHeight, marks.scrollHeight],
    tops: [text.scrollTop, marks.scrollTop],
    styles: [style(text), style(marks)],
    same: text.value === [...marks.children].map((line) => line.textContent.slice(0, -1)).join("\\n"),
  };
}"""


def laid_out_alike(page: Page) -> None:
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    layout = page.evaluate(LAYOUT)
    assert layout["same"]
    assert layout["styles"][0] == layout["styles"][1]
    assert layout["heights"][0] == layout["heights"][1], layout
    assert layout["tops"][0] == layout["tops"][1], layout


def test_citations_are_marked_and_the_log_has_the_writer_s_edits_alone(page: Page, at: Desk) -> None:
    page.keyboard.type("Tides differ [har")
    page.keyboard.press("Enter")
    page.keyboard.type(" and [25].")
    marks = page.locator("#citation-marks")
    expect(marks).to_have_attribute("aria-hidden", "true")
    expect(marks.locator(".mark-citation")).to_have_text("[0]")
    expect(marks.locator(".mark-unknown")).to_have_text("[25]")
    page.keyboard.press("Control+z")
    page.keyboard.type("! [1")
    page.keyboard.press("Escape")
    page.keyboard.press("Backspace")
    page.keyboard.type("7] ")
    expect(marks.locator(".mark-citation")).to_have_text(["[0]", "[7]"])
    laid_out_alike(page)
    saved(page)
    events = recorded(at)
    assert codec.final_text(events) == field(page).input_value()
    assert {event[5] for event in events if event[0] == "s"} <= {"typed", "deleted", "undone", "cited"}


@pytest.mark.extended
def test_the_marks_are_where_the_text_is(page: Page, at: Desk) -> None:
    rng = random.Random(11)
    for width, zoom in [(1280, 1), (1013, 1.1), (390, 1), (1280, 2)]:
        page.set_viewport_size({"width": width, "height": 800})
        page.evaluate("zoom => { document.documentElement.style.zoom = zoom }", zoom)
        for _ in range(4):
            value = "".join(rng.choice(ALPHABET) + rng.choice(["", " "]) for _ in range(rng.randrange(300)))
            field(page).fill(value)
            laid_out_alike(page)
            field(page).evaluate("text => { text.scrollTop = 120 }")
            laid_out_alike(page)
    page.evaluate("document.documentElement.style.zoom = 1")
    field(page).fill("مرحبا [3] بالعالم\n" * 60 + "left [4]")
    laid_out_alike(page)
    assert page.locator("#citation-marks").evaluate("each => getComputedStyle(each).direction") == "rtl"


@pytest.mark.extended
def test_words_that_a_passage_has_too_are_shown_by_the_study_s_rule(page: Page, live_server: Any) -> None:
    made = desk()
    WritingPlan.objects.update(copied_words=8)
    page.set_viewport_size({"width": 1280, "height": 800})
    sit_down(page, live_server.url, made)
    words = passage_text(3).split()
    write(page, " ".join(words[:7]) + " [3]. ")
    page.wait_for_timeout(900)
    expect(findings(page)).to_have_count(0)
    write(page, "So it is said that " + " ".join(words[10:20]) + " [3]. ")
    expect(findings(page)).to_have_count(1)
    expect(findings(page)).to_contain_text(re.compile(r"10\D+0\D+8"))
    expect(page.locator("#citation-marks .mark-shared").first).to_be_attached()
    laid_out_alike(page)
    WritingPlan.objects.update(copied_words=None)
    page.reload()
    page.wait_for_timeout(900)
    expect(findings(page)).to_have_count(0)


@pytest.mark.extended
def test_too_long_is_said(page: Page, live_server: Any) -> None:
    sit_down(page, live_server.url, desk(target=10))
    write(page, "word " * 16)
    expect(page.locator("#words")).to_have_attribute("data-length", "long")
    expect(page.locator("#words")).to_have_text(re.compile(r"\b16\b.*\b6\b.*\b10\b"))
    expect(page.locator("#announced")).to_contain_text("16")


@pytest.mark.extended
def test_the_panes_are_resized_and_stay_so(page: Page, at: Desk) -> None:
    divider = page.get_by_role("separator", name="Width of the text")
    expect(divider).to_have_attribute("aria-valuenow", "55")
    before = page.locator("#pane-text").bounding_box()
    divider.focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    expect(divider).to_have_attribute("aria-valuenow", "49")
    after = page.locator("#pane-text").bounding_box()
    assert before
    assert after
    assert after["width"] < before["width"] - 50
    page.reload()
    page.wait_for_selector("#text:not([disabled])")
    expect(divider).to_have_attribute("aria-valuenow", "49")
    divider.hover()
    page.mouse.down()
    page.mouse.move(900, 300)
    page.mouse.up()
    expect(divider).to_have_attribute("aria-valuenow", "70")
    laid_out_alike(page)
    divider.focus()
    page.keyboard.press("Enter")
    expect(divider).to_have_attribute("aria-valuenow", "55")
    page.keyboard.press("End")
    expect(divider).to_have_attribute("aria-valuenow", "75")


@pytest.mark.extended
def test_instructions_wait_on_a_phone(browser: Browser, live_server: Any) -> None:
    made = desk()
    for width, is_open in [(390, False), (1280, True)]:
        context = browser.new_context(viewport={"width": width, "height": 780})
        page = context.new_page()
        sit_down(page, live_server.url, desk() if is_open else made)
        instructions = page.locator("#instructions")
        assert instructions.evaluate("each => each.open") is is_open
        if not is_open:
            instructions.locator("summary").click()
            expect(instructions.locator(".prose")).to_be_visible()
        leave(context)
        context.close()
