"""The passages beside the text: search, reading, the preview, and everything by keyboard alone."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.pages.editor_study import Desk, desk, field, recorded, saved, sit_down, write
from writing.editor import logs
from writing.models import WritingTask

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.extended
def test_search_marks_counts_and_steps(page: Page, at: Desk) -> None:
    box = page.locator("#search")

    def figure(*numbers: str) -> None:
        """Wait until the line beside the box names these numbers alone."""
        pattern = r"\D+".join(map(re.escape, numbers)) or r"\D+"
        expect(page.locator("#search-figure")).to_have_text(re.compile(rf"^\D*{pattern}\D*$"))

    box.fill("1007 harbour")
    expect(page.locator("#passage-list mark")).to_have_text(["Harbour", "1007"])
    box.fill('"Harbour 7"')
    expect(page.locator("#passage-list mark")).to_have_text(["Harbour 7"])
    expect(page.locator("#search-figure")).to_contain_text("1")
    expect(page.locator("#passage-7")).to_be_in_viewport()
    expect(page.locator(".passage.is-missed")).to_have_count(19)
    page.get_by_label("Matches only").check()
    expect(page.locator("#passage-list li:visible")).to_have_count(1)
    page.get_by_label("Matches only").uncheck()
    box.fill("sun")
    box.press("Enter")
    figure("1", "20")
    box.press("Shift+Enter")
    figure("20", "20")
    expect(page.locator("mark.is-current")).to_be_in_viewport()
    page.get_by_role("button", name="Next match").click()
    page.keyboard.press("F3")
    figure("2", "20")
    box.fill("zebra")
    figure()
    box.press("Escape")
    expect(box).to_have_value("")
    expect(page.locator("#passage-list mark")).to_have_count(0)
    box.fill("(a+)+$ [")
    figure()
    page.wait_for_timeout(1200)
    saved(page)
    assert ["(a+)+$ [", 0] in [event[2:] for event in recorded(at) if event[0] == "q"]


@pytest.mark.extended
def test_the_passages_scroll_without_moving_the_text(page: Page, at: Desk) -> None:
    before = field(page).bounding_box()
    page.locator("#passage-list").evaluate("list => { list.scrollTop = 2000 }")
    assert field(page).bounding_box() == before
    assert page.evaluate("document.scrollingElement.scrollTop") == 0
    write(page, "A line.\n" * 60)
    assert page.locator("#passage-list").evaluate("list => list.scrollTop") == 2000


@pytest.mark.usefixtures("own_context")
def test_what_was_seen_is_told_and_recorded(page: Page, live_server: Any) -> None:
    at = desk()
    page.clock.install()
    page.set_viewport_size({"width": 1280, "height": 800})
    sit_down(page, live_server.url, at)
    page.clock.run_for(8_000)
    expect(page.locator("#passage-0 .passage-seen")).not_to_be_empty()
    expect(page.locator("#passage-12 .passage-seen")).to_be_empty()
    for top in (3000, 0):
        page.locator("#passage-list").evaluate("(list, top) => { list.scrollTop = top }", top)
        page.wait_for_timeout(100)
        page.clock.run_for(1_000)
    saved(page)
    events = recorded(at)
    looks = [event[2:] for event in events if event[0] == "d"]
    assert sum(lasted for rank, lasted in looks if rank == 0) > 4000
    assert any(rank > 5 for rank, _ in looks)
    assert any(event[0] == "w" for event in events)
    page.reload()
    expect(page.locator("#passage-0 .passage-seen")).not_to_be_empty()


@pytest.mark.extended
def test_long_passages_open_and_close(page: Page, live_server: Any) -> None:
    made = desk(["short", "A long one. " * 300, "middle"])
    page.set_viewport_size({"width": 1280, "height": 800})
    sit_down(page, live_server.url, made)
    expect(page.locator("#passage-0 .passage-more")).to_be_hidden()
    more = page.locator("#passage-1 .passage-more")
    closed = page.locator("#passage-1").bounding_box()
    more.click()
    expect(more).to_have_attribute("aria-expanded", "true")
    opened = page.locator("#passage-1").bounding_box()
    assert closed
    assert opened
    assert opened["height"] > closed["height"] + 300
    more.click()
    saved(page)
    assert [event[2:] for event in recorded(made) if event[0] == "o"] == [[1, 1], [1, 0]]


@pytest.mark.extended
def test_the_preview_has_the_passages_at_hand(page: Page, at: Desk) -> None:
    write(page, "Tides differ [12, 3]. Nobody cites this. <b>bold</b> [25]. End")
    page.get_by_role("button", name="Preview").click()
    preview = page.get_by_role("region", name="Preview")
    expect(preview).to_contain_text("Tides differ [12][3]. Nobody cites this. <b>bold</b> [25]. End")
    expect(preview.locator(".cite--dropped")).to_have_text("[25]")
    preview.get_by_role("button", name="Passage 12").hover()
    peek = page.locator("#peek")
    expect(peek).to_contain_text("Harbour 12 lies")
    expect(page.locator("#passage-12")).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(peek).to_be_hidden()
    preview.get_by_role("button", name="Passage 3").focus()
    expect(peek).to_contain_text("Harbour 3 lies")
    page.get_by_role("button", name="Show in the list").click()
    expect(page.locator("#passage-3")).to_be_focused()
    expect(peek).to_be_hidden()
    write(page, " More")
    expect(preview).to_contain_text("End More")
    page.keyboard.press("F4")
    expect(preview).to_be_hidden()


@pytest.mark.extended
def test_everything_by_keyboard_alone(page: Page, at: Desk) -> None:
    page.reload()
    expect(field(page)).to_be_focused()
    page.keyboard.type("Tides differ")
    page.keyboard.press("F6")
    expect(page.locator("#passage-0")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#passage-2")).to_be_focused()
    page.keyboard.press("Enter")
    expect(field(page)).to_have_value("Tides differ [2]")
    page.keyboard.type(". The moon leads")
    page.keyboard.press("Control+Enter")
    expect(field(page)).to_have_value("Tides differ [2]. The moon leads [2]")
    page.keyboard.type(".")
    page.keyboard.press("F3")
    expect(page.locator("#search")).to_be_focused()
    page.keyboard.type("1019")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#passage-19")).to_be_focused()
    page.keyboard.press("Escape")
    expect(field(page)).to_be_focused()
    page.keyboard.press("F2")
    expect(page.get_by_role("region", name="Instructions")).to_be_visible()
    page.keyboard.press("F2")
    expect(field(page)).to_be_focused()
    page.keyboard.press("Shift+F6")
    expect(page.get_by_role("button", name="Checks")).to_be_focused()
    page.keyboard.press("?")
    expect(page.locator("dialog[open]")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Checks")).to_be_focused()
    page.keyboard.press("/")
    expect(page.locator("#search")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+s")
    expect(page.locator("#announced")).not_to_be_empty()
    finish = page.get_by_role("button", name="Finish")
    finish.focus()
    page.keyboard.press("Enter")
    dialog = page.locator("dialog[open]")
    for number in ("5", "250"):
        expect(dialog).to_contain_text(number)
    dialog.locator("#finish-confirm").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/exit/")
    assert logs.current_text(at.task) == "Tides differ [2]. The moon leads [2]."
    assert WritingTask.objects.get(pk=at.task.pk).finished_at is not None
