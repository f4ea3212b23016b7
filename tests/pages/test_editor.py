"""Writing in the editor, in a real browser against the real server: text, passages, citing, checks, preview, finishing."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.pages.desks import Desk, desk, enter, leave, sit_down
from writing.domain import codec, logs, sittings
from writing.models import WritingTask

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def at(page: Page, live_server: Any) -> Desk:
    made = desk()
    page.set_viewport_size({"width": 1280, "height": 800})
    sit_down(page, live_server.url, made)
    return made


@pytest.fixture(autouse=True)
def _leave(context: BrowserContext, live_server: Any, transactional_db: None) -> Iterator[None]:
    """Leave the page before the tables are emptied: what is still under way would lock them."""
    yield
    leave(context)


def field(page: Page) -> Locator:
    return page.locator("#text")


def write(page: Page, text: str) -> None:
    """Put text in at the caret, as an input method does: quicker than keys, and no list opens."""
    field(page).focus()
    page.keyboard.insert_text(text)


def saved(page: Page) -> None:
    expect(page.locator("#save-state")).to_have_attribute("data-state", "saved", timeout=15_000)


def recorded(at: Desk) -> list[list[Any]]:
    log = sittings.log_of(at.task)
    assert log is not None
    return list(logs.events(log))


def findings(page: Page) -> Locator:
    return page.locator("#findings li")


def test_text_is_counted_saved_and_there_again(page: Page, at: Desk) -> None:
    expect(field(page)).to_be_focused()
    expect(field(page)).to_have_attribute("spellcheck", "true")
    expect(page.locator("#words")).to_have_text("about 250 words are asked for")
    page.keyboard.type("Five words and a citation [3]. ")
    expect(page.locator("#words")).to_have_text("5 words of about 250")
    write(page, "word " * 205)
    expect(page.locator("#words")).to_have_text("210 words: about right")
    saved(page)
    assert codec.final_text(recorded(at)) == field(page).input_value()
    page.reload()
    expect(page.locator("#words")).to_have_text("210 words: about right")
    expect(page.locator("#passage-3 .passage-cited")).to_have_text("cited once")


def test_a_button_cites_merges_and_is_undone(page: Page, at: Desk) -> None:
    write(page, "Leaves fall. Snow melts")
    page.locator("#passage-3 .passage-cite").click()
    expect(field(page)).to_have_value("Leaves fall. Snow melts [3]")
    expect(field(page)).to_be_focused()
    page.locator("#passage-7 .passage-cite").click()
    expect(field(page)).to_have_value("Leaves fall. Snow melts [3, 7]")
    page.locator("#passage-7 .passage-cite").click()
    expect(field(page)).to_have_value("Leaves fall. Snow melts [3, 7]")
    expect(page.locator("#announced")).to_have_text("Passage 7 is cited here already.")
    page.keyboard.type(".")
    field(page).evaluate("text => text.setSelectionRange(12, 12)")
    page.locator("#passage-0 .passage-cite").click()
    expect(field(page)).to_have_value("Leaves fall [0]. Snow melts [3, 7].")
    expect(page.locator("#passage-0 .passage-cited")).to_have_text("cited once")
    for _ in range(2):
        page.keyboard.press("Control+z")
    expect(field(page)).to_have_value("Leaves fall. Snow melts [3, 7]")
    page.keyboard.press("Control+z")
    expect(field(page)).to_have_value("Leaves fall. Snow melts [3]")
    saved(page)
    events = recorded(at)
    assert [event[2:] for event in events if event[0] == "b"] == [
        [3, 23, "button"],
        [7, 26, "button"],
        [0, 11, "button"],
    ]
    assert [event[5] for event in events if event[0] == "s"].count("cited") == 3
    assert codec.final_text(events) == field(page).input_value()


CITING = """async ([address, cases]) => {
  const { citing } = await import(address);
  return cases.map(([text, rank]) => {
    const caret = text.indexOf("|");
    const plain = text.replace("|", "");
    const edit = citing(plain, caret, rank, 20);
    if (!edit) return null;
    const done = plain.slice(0, edit.start) + edit.text + plain.slice(edit.end);
    return done.slice(0, edit.caret) + "|" + done.slice(edit.caret);
  });
}"""
CITED = {
    "|": "[7]|",
    "Leaves fall|": "Leaves fall [7]|",
    "Leaves fall |": "Leaves fall [7]|",
    "Leaves fall.|": "Leaves fall [7].|",
    'She said "no."|': 'She said "no." [7]|',
    "Leaves fall.| Snow": "Leaves fall [7].| Snow",
    "Leaves| fall": "Leaves [7]| fall",
    "Lea|ves": "Lea [7] |ves",
    "Fall [3]|": "Fall [3, 7]|",
    "Fall [3] |": "Fall [3, 7] |",
    "Fall [3].|": "Fall [3, 7].|",
    "Fall [3]. |": "Fall [3, 7]. |",
    "Fall [3]. More|": "Fall [3]. More [7]|",
    "Fall [3|]": "Fall [3, 7]|",
    "Fall| [3]": "Fall [3, 7]|",
    "Fall [3][5]|": "Fall [3][5, 7]|",
    "Fall [3,]|": "Fall [3, 7,]|",
    "Fall [25]|": "Fall [25, 7]|",
    "Fall [0, 7]|": None,
    "Fall [3].\n|": "Fall [3].\n[7]|",
    "葉が落ちる。|": "葉が落ちる [7]。|",
    "😀|": "😀 [7]|",
    "3.|5 metres": "3. [7] |5 metres",
}


def test_where_a_citation_goes(page: Page, live_server: Any) -> None:
    page.goto(f"{live_server.url}/login/")
    found = page.evaluate(CITING, [f"{live_server.url}/static/js/editor/cite.js", [[text, 7] for text in CITED]])
    assert dict(zip(CITED, found, strict=True)) == CITED


def test_the_bracket_offers_the_passages(page: Page, at: Desk) -> None:
    page.keyboard.type("Tides differ [")
    options = page.get_by_role("listbox", name="Passages to cite")
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


def test_brackets_typed_straight_through_stay_as_typed(page: Page, at: Desk) -> None:
    typed = "One [3]. Two [3, 7]; three [Winter, 1997] four [25] [\nfive [] six [x] [1"
    frame = page.locator("#suggestions-frame")
    page.keyboard.type(typed[:-2].split("\n")[0])
    page.keyboard.press("Escape")
    expect(frame).to_be_hidden()
    page.keyboard.press("Enter")
    page.keyboard.type(typed.split("\n")[1])
    expect(frame).to_be_visible()
    expect(field(page)).to_have_value(typed)
    page.keyboard.press("Escape")
    page.keyboard.type("1")
    expect(frame).to_be_hidden()
    page.keyboard.press("Enter")
    expect(field(page)).to_have_value(typed + "1\n")
    page.keyboard.type("[77")
    expect(page.locator("#suggestions-none")).to_have_text("There is no passage 77; the last is 19.")
    page.keyboard.press("Enter")
    expect(field(page)).to_have_value(typed + "1\n[77\n")
    saved(page)
    ranks = [event[2] for event in recorded(at) if event[0] == "b"]
    assert ranks == [3, 3, 7]


def test_an_input_method_opens_the_list_too(page: Page, at: Desk) -> None:
    """A phone's keyboard composes what it types."""
    cdp = page.context.new_cdp_session(page)
    page.keyboard.type("Ebbe ")
    cdp.send("Input.imeSetComposition", {"text": "[", "selectionStart": 1, "selectionEnd": 1})
    cdp.send("Input.insertText", {"text": "["})
    options = page.get_by_role("listbox", name="Passages to cite")
    expect(options).to_be_visible()
    options.get_by_role("option").nth(5).click()
    expect(field(page)).to_have_value("Ebbe [5]")


def test_citations_are_checked_and_the_caret_is_led_there(page: Page, at: Desk) -> None:
    expect(page.locator("#findings-none")).to_have_text("While you write, your citations are checked here.")
    write(
        page,
        "The tide follows the moon everywhere [0]. A far harbour sees more of it [25]. Some brackets are empty []. "
        "The bracket here is open [4 and goes on.\n\nThe tide follows the moon everywhere. More is said [1].\n\n"
        "Nothing at all is cited in this line.\n\nA heading",
    )
    expect(findings(page)).to_have_count(5)
    expect(findings(page)).to_have_text(
        [
            "To correct[25] cites a passage that is not there; the last is 19.Go to it",
            "To correctThese brackets cite nothing.Go to it",
            "To correctThis bracket is not closed: [4Go to it",
            "Worth a lookThe same is said elsewhere with [0], but without it here: The tide follows the moon everywhere.Go to it",
            "Worth a lookNothing is cited for this: Nothing at all is cited in this line.Go to it",
        ]
    )  # fmt: skip
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
    expect(page.locator("#announced")).to_contain_text("Nothing is cited for this")


def test_what_is_being_written_is_not_complained_of(page: Page, at: Desk) -> None:
    page.keyboard.type("A sentence that is not yet at its")
    page.wait_for_timeout(1200)
    expect(findings(page)).to_have_count(0)
    page.keyboard.type(" end.")
    expect(findings(page)).to_have_count(1)
    page.keyboard.type(" [3]")
    expect(findings(page)).to_have_count(0)
    expect(page.locator("#findings-none")).to_have_text("Nothing to correct: each citation has its passage.")


def test_search_marks_counts_and_steps(page: Page, at: Desk) -> None:
    box = page.get_by_role("searchbox", name="Search the passages")
    box.fill("1007 harbour")
    expect(page.locator("#passage-list mark")).to_have_text(["Harbour", "1007"])
    box.fill('"Harbour 7"')
    expect(page.locator("#passage-list mark")).to_have_text(["Harbour 7"])
    expect(page.locator("#search-figure")).to_have_text("1 hit")
    expect(page.locator("#passage-7")).to_be_in_viewport()
    expect(page.locator(".passage.is-missed")).to_have_count(19)
    page.get_by_label("Hits only").check()
    expect(page.locator("#passage-list li:visible")).to_have_count(1)
    page.get_by_label("Hits only").uncheck()
    box.fill("sun")
    box.press("Enter")
    expect(page.locator("#search-figure")).to_have_text("1 of 20")
    box.press("Shift+Enter")
    expect(page.locator("#search-figure")).to_have_text("20 of 20")
    expect(page.locator("mark.is-current")).to_be_in_viewport()
    page.get_by_role("button", name="Next hit").click()
    page.keyboard.press("F3")
    expect(page.locator("#search-figure")).to_have_text("2 of 20")
    box.fill("zebra")
    expect(page.locator("#search-figure")).to_have_text("not found")
    box.press("Escape")
    expect(box).to_have_value("")
    expect(page.locator("#passage-list mark")).to_have_count(0)
    box.fill("(a+)+$ [")
    expect(page.locator("#search-figure")).to_have_text("not found")
    page.wait_for_timeout(1200)
    saved(page)
    assert ["(a+)+$ [", 0] in [event[2:] for event in recorded(at) if event[0] == "q"]


def test_the_passages_scroll_without_moving_the_text(page: Page, at: Desk) -> None:
    before = field(page).bounding_box()
    page.locator("#passage-list").evaluate("list => { list.scrollTop = 2000 }")
    assert field(page).bounding_box() == before
    assert page.evaluate("document.scrollingElement.scrollTop") == 0
    write(page, "A line.\n" * 60)
    assert page.locator("#passage-list").evaluate("list => list.scrollTop") == 2000


def test_what_was_seen_is_told_and_recorded(page: Page, at: Desk) -> None:
    expect(page.locator("#passage-0 .passage-seen")).to_have_text("seen", timeout=12_000)
    expect(page.locator("#passage-12 .passage-seen")).to_have_text("")
    page.locator("#passage-list").evaluate("list => { list.scrollTop = 3000 }")
    page.wait_for_timeout(700)
    page.locator("#passage-list").evaluate("list => { list.scrollTop = 0 }")
    page.wait_for_timeout(700)
    saved(page)
    events = recorded(at)
    looks = [event[2:] for event in events if event[0] == "d"]
    assert sum(lasted for rank, lasted in looks if rank == 0) > 4000
    assert any(rank > 5 for rank, _ in looks)
    assert any(event[0] == "w" for event in events)
    page.reload()
    expect(page.locator("#passage-0 .passage-seen")).to_have_text("seen")


def test_long_passages_open_and_close(page: Page, live_server: Any) -> None:
    made = desk(["short", "A long one. " * 300, "middle"])
    page.set_viewport_size({"width": 1280, "height": 800})
    sit_down(page, live_server.url, made)
    expect(page.locator("#passage-0 .passage-more")).to_be_hidden()
    more = page.get_by_role("button", name="Show all of passage 1")
    closed = page.locator("#passage-1").bounding_box()
    more.click()
    expect(page.get_by_role("button", name="Show less of passage 1")).to_have_attribute("aria-expanded", "true")
    opened = page.locator("#passage-1").bounding_box()
    assert closed is not None
    assert opened is not None
    assert opened["height"] > closed["height"] + 300
    page.get_by_role("button", name="Show less of passage 1").click()
    saved(page)
    assert [event[2:] for event in recorded(made) if event[0] == "o"] == [[1, 1], [1, 0]]


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
    expect(page.get_by_role("dialog", name="Writing and citing")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Checks")).to_be_focused()
    page.keyboard.press("/")
    expect(page.locator("#search")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+s")
    expect(page.locator("#announced")).to_contain_text("Sav")
    finish = page.get_by_role("button", name="Finish")
    finish.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Finish this text?")
    expect(dialog).to_contain_text("The text has 5 words; about 250 are asked for.")
    dialog.get_by_role("button", name="Finish as it is").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/exit/")
    assert sittings.text(at.task) == "Tides differ [2]. The moon leads [2]."
    assert WritingTask.objects.get(pk=at.task.pk).finished_at is not None


def test_finishing_says_what_is_missing(page: Page, live_server: Any) -> None:
    made = desk(target=10)
    sit_down(page, live_server.url, made)
    finish, dialog = page.locator("#finish"), page.get_by_role("dialog", name="Finish this text?")
    finish.click()
    expect(dialog).to_contain_text("There is no text yet")
    expect(dialog.locator("#finish-confirm")).to_be_hidden()
    dialog.get_by_role("button", name="Back to the text").click()
    write(page, "Ten words are asked for, and here they are, all [30].")
    finish.click()
    expect(dialog.locator("#finish-lede")).to_have_text("Before you finish, 2 things are worth a look:")
    expect(dialog.locator("#finish-list li")).to_have_text(
        ["No passage is cited in the whole text.", "[30] cites a passage that is not there; the last is 19."]
    )
    dialog.get_by_role("button", name="Show me").click()
    assert field(page).evaluate("text => text.value.slice(text.selectionStart, text.selectionStart + 2)") == "30"
    field(page).fill("Ten words are asked for, and here they are, all [3].")
    finish.click()
    expect(dialog).to_contain_text("10 words, and nothing to correct.")
    dialog.get_by_role("button", name="Finish").click()
    page.wait_for_url("**/exit/")


def test_the_state_of_saving_is_the_truth(page: Page, at: Desk) -> None:
    page.keyboard.type("Before.")
    saved(page)
    page.context.set_offline(True)
    page.keyboard.type(" While the line is down.")
    state = page.locator("#save-state")
    expect(state).to_have_attribute("data-state", "offline", timeout=15_000)
    expect(page.locator("#announced")).to_contain_text("Offline")
    page.context.set_offline(False)
    saved(page)
    assert sittings.text(at.task) == "Before. While the line is down."


def test_two_tabs_meet(page: Page, at: Desk, live_server: Any) -> None:
    page.keyboard.type("From the first tab.")
    saved(page)
    other = page.context.new_page()
    other.goto(live_server.url + at.path)
    expect(other.locator("#text")).to_have_value("From the first tab.", timeout=15_000)
    dialog = page.get_by_role("dialog", name="Writing goes on elsewhere")
    expect(dialog).to_be_visible(timeout=15_000)
    expect(page.locator("#save-state")).to_have_attribute("data-state", "fenced")
    other.locator("#text").focus()
    other.keyboard.press("Control+End")
    other.keyboard.type(" And the second.")
    expect(other.locator("#save-state")).to_have_attribute("data-state", "saved", timeout=15_000)
    dialog.get_by_role("button", name="Go on here").click()
    expect(field(page)).to_have_value("From the first tab. And the second.", timeout=15_000)


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
    dialog.get_by_role("button", name="Go on here").click()
    offered = page.get_by_role("dialog", name="There is more of your text")
    expect(offered).to_be_visible(timeout=20_000)
    expect(offered).to_contain_text("On the phone. On the laptop.")
    expect(offered).to_contain_text("On the phone. In the tunnel.")
    offered.get_by_role("button", name="Go on with this one").click()
    expect(field(page)).to_have_value("On the phone. In the tunnel.")
    laptop.close()
