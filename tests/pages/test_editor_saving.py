"""What the editor says of saving, two tabs and devices, and finishing."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.pages.editor_study import Desk, desk, enter, field, saved, sit_down, write
from writing.editor import logs

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_finishing_says_what_is_missing(page: Page, live_server: Any) -> None:
    made = desk(target=10)
    sit_down(page, live_server.url, made)
    finish, dialog = page.locator("#finish"), page.locator("dialog[open]")
    finish.click()
    expect(dialog).to_be_visible()
    expect(dialog.locator("#finish-confirm")).to_be_hidden()
    dialog.locator("#finish-keep").click()
    write(page, "Ten words are asked for, and here they are, all [30].")
    finish.click()
    expect(dialog.locator("#finish-lede")).to_contain_text("2")
    expect(dialog.locator("#finish-list li")).to_contain_text(["", "[30]"])
    # To go on writing is what one is led to.
    expect(dialog.locator("#finish-keep")).to_be_focused()
    expect(dialog.locator(".button--main")).to_have_id("finish-keep")
    dialog.locator("#finish-look").click()
    assert field(page).evaluate("text => text.value.slice(text.selectionStart, text.selectionStart + 2)") == "30"
    field(page).fill("Ten words are asked for, and here they are, all [3].")
    finish.click()
    expect(dialog).to_contain_text("10")
    expect(dialog.locator("#finish-list li")).to_have_count(0)
    expect(dialog.locator(".button--main")).to_have_id("finish-confirm")
    dialog.locator("#finish-confirm").click()
    page.wait_for_url("**/exit/")


@pytest.mark.extended
def test_finishing_offline_is_told_and_can_be_stopped(page: Page, live_server: Any) -> None:
    made = desk(target=10)
    sit_down(page, live_server.url, made)
    write(page, "Ten words are asked for, and here they are, all [3].")
    saved(page)
    page.context.set_offline(True)
    page.locator("#finish").click()
    page.locator("#finish-confirm").click()
    progress = page.locator("#finish-progress")
    expect(progress).not_to_be_empty()
    expect(progress).to_have_role("status")
    page.locator("#finish-keep").click()
    expect(field(page)).to_be_editable()
    page.keyboard.type(" More.")
    page.locator("#finish").click()
    page.locator("#finish-confirm").click()
    expect(page.locator("#save-state")).to_have_attribute("data-state", "offline")
    page.context.set_offline(False)
    page.wait_for_url("**/exit/")
    made.task.refresh_from_db()
    assert "More." in made.task.draft


@pytest.mark.extended
def test_the_state_of_saving_is_the_truth(page: Page, at: Desk) -> None:
    page.keyboard.type("Before.")
    saved(page)
    page.context.set_offline(True)
    page.keyboard.type(" While the line is down.")
    state = page.locator("#save-state")
    expect(state).to_have_attribute("data-state", "offline", timeout=15_000)
    expect(page.locator("#announced")).not_to_be_empty()
    page.context.set_offline(False)
    saved(page)
    assert logs.current_text(at.task) == "Before. While the line is down."


@pytest.mark.extended
def test_two_tabs_meet(page: Page, at: Desk, live_server: Any) -> None:
    page.keyboard.type("From the first tab.")
    saved(page)
    page.locator("#finish").click()
    other = page.context.new_page()
    other.goto(live_server.url + at.path)
    expect(other.locator("#text")).to_have_value("From the first tab.", timeout=15_000)
    dialog = page.locator("#branch-dialog")
    expect(dialog).to_be_visible(timeout=15_000)
    expect(page.locator("#finish-dialog")).to_be_hidden()
    expect(page.locator("#save-state")).to_have_attribute("data-state", "fenced")
    other.locator("#text").focus()
    other.keyboard.press("Control+End")
    other.keyboard.type(" And the second.")
    expect(other.locator("#save-state")).to_have_attribute("data-state", "saved", timeout=15_000)
    dialog.get_by_role("button", name="Continue here").click()
    expect(field(page)).to_have_value("From the first tab. And the second.", timeout=15_000)


@pytest.mark.extended
def test_a_text_left_elsewhere_is_offered(page: Page, at: Desk, live_server: Any, browser: Any) -> None:
    """One device wrote on without a line while the other was opened: neither text is lost."""
    page.keyboard.type("On the phone.")
    saved(page)
    page.context.set_offline(True)
    page.keyboard.type(" In the tunnel.")
    laptop = browser.new_context()
    enter(laptop, live_server.url, at.writer)
    second = laptop.new_page()
    second.goto(live_server.url + at.path)
    expect(second.locator("#text")).to_have_value("On the phone.", timeout=15_000)
    second.locator("#text").focus()
    second.keyboard.press("Control+End")
    second.keyboard.type(" On the laptop.")
    expect(second.locator("#save-state")).to_have_attribute("data-state", "saved", timeout=15_000)
    page.context.set_offline(False)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible(timeout=20_000)
    dialog.get_by_role("button", name="Continue here").click()
    offered = page.locator("dialog[open]", has=page.locator("mark"))
    expect(offered).to_be_visible(timeout=20_000)
    expect(offered).to_contain_text("On the phone. On the laptop.")
    expect(offered).to_contain_text("On the phone. In the tunnel.")
    expect(offered.locator("mark")).to_have_text(["On the laptop", "In the tunnel"])
    offered.get_by_role("button", name="Use this version").click()
    expect(field(page)).to_have_value("On the phone. In the tunnel.")
    laptop.close()
