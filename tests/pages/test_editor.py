"""Writing and citing in the editor, in a real browser against the real server."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.pages.editor_study import Desk, field, findings, recorded, saved, write
from writing.editor import codec

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_text_is_counted_saved_and_there_again(page: Page, at: Desk) -> None:
    expect(field(page)).to_be_focused()
    expect(field(page)).to_have_attribute("spellcheck", "true")
    expect(page.locator("#words")).to_contain_text("250")
    page.keyboard.type("Five words and a citation [3]. ")
    expect(page.locator("#words")).to_have_text(re.compile(r"\b5\b.*\b250\b"))
    write(page, "word " * 205)
    expect(page.locator("#words")).to_contain_text("210")
    saved(page)
    assert codec.final_text(recorded(at)) == field(page).input_value()
    page.reload()
    expect(page.locator("#words")).to_contain_text("210")
    expect(page.locator("#passage-3 .passage-cited")).not_to_be_empty()


@pytest.mark.extended
def test_a_button_cites_merges_and_is_undone(page: Page, at: Desk) -> None:
    write(page, "Leaves fall. Snow melts")
    page.locator("#passage-3 .passage-cite").click()
    expect(field(page)).to_have_value("Leaves fall. Snow melts [3]")
    expect(field(page)).to_be_focused()
    page.locator("#passage-7 .passage-cite").click()
    expect(field(page)).to_have_value("Leaves fall. Snow melts [3, 7]")
    page.locator("#passage-7 .passage-cite").click()
    expect(field(page)).to_have_value("Leaves fall. Snow melts [3, 7]")
    expect(page.locator("#announced")).to_contain_text("7")
    page.keyboard.type(".")
    field(page).evaluate("text => text.setSelectionRange(12, 12)")
    page.locator("#passage-0 .passage-cite").click()
    expect(field(page)).to_have_value("Leaves fall [0]. Snow melts [3, 7].")
    expect(page.locator("#passage-0 .passage-cited")).not_to_be_empty()
    for _ in range(2):
        page.keyboard.press("Control+z")
    expect(field(page)).to_have_value("Leaves fall. Snow melts [3, 7]")
    page.keyboard.press("Control+z")
    expect(field(page)).to_have_value("Leaves fall. Snow melts [3]")
    saved(page)
    events = recorded(at)
    cited = [event[2:] for event in events if event[0] == "b"]
    assert cited == [[3, 23, "button"], [7, 26, "button"], [0, 11, "button"]]
    assert [event[5] for event in events if event[0] == "s"].count("cited") == 3
    assert codec.final_text(events) == field(page).input_value()


@pytest.mark.extended
def test_the_bracket_offers_the_passages(page: Page, at: Desk) -> None:
    page.keyboard.type("Tides differ [")
    options = page.get_by_role("listbox")
    expect(options).to_be_visible()
    expect(options.get_by_role("option")).to_have_count(20)
    expect(field(page)).to_have_attribute("aria-activedescendant", "suggestion-0")
    expect(field(page)).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(options.get_by_role("option", selected=True)).to_contain_text("Harbour 2")
    page.keyboard.press("Enter")
    expect(field(page)).to_have_value("Tides differ [2]")
    expect(options).to_be_hidden()
    page.keyboard.type(". The sun [1")
    expect(options.get_by_role("option")).to_have_count(11)
    page.keyboard.type("9")
    page.keyboard.press("Tab")
    expect(field(page)).to_have_value("Tides differ [2]. The sun [19]")
    expect(field(page)).to_be_focused()
    page.keyboard.press("Control+z")
    expect(field(page)).to_have_value("Tides differ [2]. The sun [19")
    page.keyboard.type(", ")
    expect(options.get_by_role("option")).to_have_count(19)
    options.get_by_role("option").nth(4).click()
    expect(field(page)).to_have_value("Tides differ [2]. The sun [19, 4]")
    expect(field(page)).not_to_have_attribute("aria-activedescendant", "suggestion-4")
    saved(page)
    assert {event[4] for event in recorded(at) if event[0] == "b"} == {"typed"}


@pytest.mark.extended
def test_words_in_a_bracket_find_a_passage_and_the_list_opens_for_an_input_method(page: Page, at: Desk) -> None:
    page.keyboard.type("Tides differ [harbour 12")
    options = page.get_by_role("listbox").get_by_role("option")
    expect(options).to_have_count(1)
    expect(options.locator("mark")).to_have_text("Harbour")
    page.keyboard.press("Enter")
    expect(field(page)).to_have_value("Tides differ [12]")
    page.keyboard.press("Control+z")
    expect(field(page)).to_have_value("Tides differ [harbour 12")
    page.keyboard.press("End")
    page.keyboard.type("345")
    expect(options).to_have_count(0)
    expect(page.locator("#suggestions-none")).to_contain_text("harbour 12345")
    # What finds nothing is text like any other.
    page.keyboard.type("] and [sic")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    expect(field(page)).to_have_value("Tides differ [harbour 12345] and [sic\n")
    # A phone's keyboard composes what it types.
    cdp = page.context.new_cdp_session(page)
    cdp.send("Input.imeSetComposition", {"text": "[", "selectionStart": 1, "selectionEnd": 1})
    cdp.send("Input.insertText", {"text": "["})
    options.nth(5).click()
    expect(field(page)).to_have_value("Tides differ [harbour 12345] and [sic\n[5]")
    saved(page)
    assert codec.final_text(recorded(at)) == field(page).input_value()


@pytest.mark.extended
def test_a_copied_passage_is_remarked(page: Page, at: Desk) -> None:
    write(page, "My own words, as many as there are in a sentence of twenty or so, are mine, and nobody minds [3]. ")
    passage = page.locator("#passage-3 .passage-text").inner_text()
    write(page, " ".join(passage.split()[:19]) + " [3]. ")  # a fitting quotation
    page.wait_for_timeout(1000)
    expect(findings(page)).to_have_count(0)
    write(page, passage + " [3]. ")
    expect(findings(page)).to_have_count(1)
    expect(findings(page)).to_contain_text("3")
    expect(page.locator("#announced")).to_contain_text("3")
    page.locator("#finish").click()
    expect(page.locator("#finish-list")).to_contain_text("3")


@pytest.mark.extended
def test_brackets_typed_straight_through_stay_as_typed(page: Page, at: Desk) -> None:
    typed = "One [3]. Two [3, 7]; three [Winter, 1997] four [25] [\nfive [] six [x] [1"
    frame = page.locator("#suggestions-frame")
    first, second = typed.split("\n")
    page.keyboard.type(first)
    page.keyboard.press("Escape")
    expect(frame).to_be_hidden()
    page.keyboard.press("Enter")
    page.keyboard.type(second)
    expect(frame).to_be_visible()
    expect(field(page)).to_have_value(typed)
    page.keyboard.press("Escape")
    page.keyboard.type("1")
    expect(frame).to_be_hidden()
    page.keyboard.press("Enter")
    expect(field(page)).to_have_value(typed + "1\n")
    page.keyboard.type("[77")
    expect(page.locator("#suggestions-none")).to_have_text(re.compile(r"\b77\b.*\b19\b"))
    page.keyboard.press("Enter")
    expect(field(page)).to_have_value(typed + "1\n[77\n")
    saved(page)
    ranks = [event[2] for event in recorded(at) if event[0] == "b"]
    assert ranks == [3, 3, 7]


@pytest.mark.extended
def test_citations_are_checked_and_the_caret_is_led_there(page: Page, at: Desk) -> None:
    expect(page.locator("#findings-none")).to_be_visible()
    write(
        page,
        "The tide follows the moon everywhere [0]. A far harbour sees more of it [25]. Some brackets are empty []. "
        "The bracket here is open [4 and goes on.\n\nThe tide follows the moon everywhere. More is said [1].\n\n"
        "Nothing at all is cited in this line.\n\nA heading",
    )
    expect(findings(page)).to_have_count(5)
    expect(findings(page)).to_contain_text(
        ["[25]", "", "[4", "The tide follows the moon everywhere.", "Nothing at all is cited in this line."]
    )
    expect(findings(page).locator(".is-wrong")).to_have_count(3)
    expect(page.locator("#findings-count")).to_have_text("5")
    findings(page).nth(1).get_by_role("button").click()
    expect(field(page)).to_be_focused()
    assert field(page).evaluate("text => text.value.slice(text.selectionStart - 1, text.selectionStart + 1)") == "[]"
    page.keyboard.type("2")
    expect(findings(page)).to_have_count(4)
    field(page).evaluate("text => text.setSelectionRange(0, 0)")
    page.keyboard.press("F8")
    assert field(page).evaluate("text => text.value.slice(text.selectionStart, text.selectionStart + 2)") == "25"
    page.keyboard.press("Shift+F8")
    before = field(page).evaluate("text => text.value.slice(0, text.selectionEnd)")
    assert before.endswith("Nothing at all is cited in this line.")
