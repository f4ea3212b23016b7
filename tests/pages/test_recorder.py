"""The log rebuilds the text, whatever changes it: random edits in a real browser, and each way of changing alone."""

import os
from collections import Counter
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, CDPSession, Page

from tests.pages import bare_recorder
from writing.editor import events

pytestmark = [pytest.mark.browser]
LONG = 10_000
BASES = ["", "A text that was there, 😀 before."]


@pytest.fixture
def recorder(context: BrowserContext, page: Page) -> Page:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    bare_recorder.serve(context)
    return bare_recorder.opened(page)


@pytest.fixture
def cdp(context: BrowserContext, recorder: Page) -> CDPSession:
    return context.new_cdp_session(recorder)


def _scripts(page: Page, cdp: CDPSession, seed: int, count: int) -> Counter[str]:
    """Carry out scripts; return how often a change came about in which way."""
    sources: Counter[str] = Counter()
    for number in range(count):
        acts = bare_recorder.script(f"{seed}/{number}")
        base = BASES[number % len(BASES)]
        result = bare_recorder.carry_out(page, cdp, base, acts)
        try:
            bare_recorder.check(result)
        except AssertionError as error:
            raise AssertionError(f"{base!r}, then {acts}") from error
        sources.update(event[5] for event in result["log"][1:] if event[0] == "s")
    return sources


@pytest.mark.parametrize("count", [25, pytest.param(120, marks=pytest.mark.extended)])
def test_random_edits_are_rebuilt(recorder: Page, cdp: CDPSession, count: int) -> None:
    sources = _scripts(recorder, cdp, 1, count)
    if count < 100:  # too few to meet all ways of editing
        return
    # All ways but those that Chromium has no command for.
    assert set(events.SOURCES) - set(sources) <= {"dropped", "replaced"}


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_ten_thousand_random_edit_scripts_are_rebuilt(recorder: Page, cdp: CDPSession) -> None:
    _scripts(recorder, cdp, int(os.environ.get("SEED", "2")), LONG)


def _log(page: Page) -> list[list[Any]]:
    result = page.evaluate("result()")
    bare_recorder.check(result)
    return list(result["log"][1:])


def _ways(log: list[list[Any]]) -> list[tuple[Any, ...]]:
    """Return each change: position, how much went, what came, and how."""
    return [tuple(event[2:6]) for event in log if event[0] == "s"]


def _command(cdp: CDPSession, name: str) -> None:
    bare_recorder.outside(cdp, "command", name)


def test_each_way_of_changing_has_its_source(recorder: Page, cdp: CDPSession) -> None:
    recorder.evaluate("begin('')")
    keyboard = recorder.keyboard
    keyboard.type("abc")
    keyboard.press("Backspace")
    keyboard.press("Enter")
    _command(cdp, "undo")
    _command(cdp, "redo")
    cdp.send("Input.imeSetComposition", {"text": "に", "selectionStart": 1, "selectionEnd": 1})
    cdp.send("Input.insertText", {"text": "日"})
    keyboard.press("Control+a")
    keyboard.press("Control+x")
    keyboard.press("Control+v")
    recorder.evaluate("run([['cite', ' [3]', 1]])")
    recorder.evaluate("field.value += '!'")
    recorder.wait_for_timeout(600)
    recorder.evaluate("run([['restore', 'all new']])")
    log = _log(recorder)
    sources = [way[3] for way in _ways(log)]
    undone = sources.index("undone")
    assert sources[:5] == ["typed", "typed", "typed", "deleted", "typed"]
    assert sources[undone + 1] == "redone"
    assert {"composed", "cut", "pasted", "cited", "external", "restored"} <= set(sources[undone:])
    assert _ways(log)[-1][3] == "restored"
    assert [event[6] for event in log if event[0] == "s"][:4] == ["insertText"] * 3 + ["deleteContentBackward"]


def test_a_letter_typed_among_equal_ones_stands_where_it_was_typed(recorder: Page) -> None:
    for at in range(5):
        recorder.evaluate("begin('aaaa')")
        recorder.evaluate("at => field.setSelectionRange(at, at)", at)
        recorder.keyboard.type("a")
        assert _ways(_log(recorder)) == [(at, 0, "a", "typed")]
        recorder.evaluate("begin('aaaa')")
        recorder.evaluate("at => field.setSelectionRange(at, at)", at)
        recorder.keyboard.press("Delete")
        assert _ways(_log(recorder)) == ([(at, 1, "", "deleted")] if at < 4 else [])


def test_what_was_selected_goes_whole_even_if_part_of_it_comes_again(recorder: Page) -> None:
    recorder.evaluate("begin('one two')")
    recorder.evaluate("field.setSelectionRange(0, 3)")
    recorder.keyboard.type("o")
    assert _ways(_log(recorder)) == [(0, 3, "o", "typed")]


def test_positions_are_code_points(recorder: Page) -> None:
    recorder.evaluate("begin('😀😀')")
    recorder.keyboard.type("x")
    recorder.keyboard.press("ArrowLeft")
    recorder.keyboard.press("Backspace")
    log = _log(recorder)
    assert _ways(log) == [(2, 0, "x", "typed"), (1, 1, "", "deleted")]
    assert [event[2:] for event in log if event[0] == "c"] == [[2, 2]]


def test_a_huge_paste_is_several_splices_and_one_text(recorder: Page) -> None:
    recorder.evaluate("begin('here: ')")
    recorder.evaluate("navigator.clipboard.writeText('😀 word '.repeat(2000))")
    recorder.keyboard.press("Control+v")
    log = _log(recorder)
    ways = _ways(log)
    assert len(ways) > 10
    assert all(len(way[2]) <= 1000 and way[3] == "pasted" for way in ways)
    assert [event[2:] for event in log if event[0] == "p"] == [[-2, 14_000, 0]]


def test_copying_from_a_passage_and_pasting_it_names_the_passage(recorder: Page) -> None:
    recorder.evaluate("begin('')")
    recorder.evaluate("""() => {
      const text = document.querySelector('[data-rank="3"] [data-passage-text]').firstChild;
      getSelection().setBaseAndExtent(text, 12, text, 22);
      field.blur();
    }""")
    recorder.keyboard.press("Control+c")
    recorder.evaluate("field.focus()")
    recorder.keyboard.press("Control+v")
    recorder.keyboard.press("Control+a")
    recorder.keyboard.press("Control+x")
    log = _log(recorder)
    place, start, end, cut = next(event[2:] for event in log if event[0] == "y")
    assert (place, cut) == (3, 0)
    text = recorder.evaluate("document.querySelector('[data-rank=\"3\"] [data-passage-text]').textContent")
    pasted = next(way for way in _ways(log) if way[3] == "pasted")[2]
    assert text[start:end] == pasted
    assert next(event[2:] for event in log if event[0] == "p") == [3, len(pasted), 100]
    assert [event[2:] for event in log if event[0] == "y"][1] == [-1, 0, len(pasted), 1]


def test_what_is_pasted_is_found_again(recorder: Page) -> None:
    cases = [
        ("the QUICK  brown\nfox jumps over the lazy dog", 0, 100),
        ("He said: the quick brown fox jumps over the lazy dog indeed", 0, 60),
        ("words that stand nowhere on this page at all", -2, 0),
        ("my own words which I wrote here before", -1, 100),
    ]
    for text, place, least in cases:
        recorder.evaluate("begin('These are my own words, which I wrote here before. ')")
        recorder.evaluate("text => navigator.clipboard.writeText(text)", text)
        recorder.keyboard.press("Control+v")
        found, length, percent = next(event[2:] for event in _log(recorder) if event[0] == "p")
        assert (text, found, length) == (text, place, len(text))
        assert percent >= least


def test_text_that_is_dragged_is_dropped(recorder: Page, cdp: CDPSession) -> None:
    recorder.evaluate("begin('')")
    box = recorder.locator("#text").bounding_box()
    assert box
    data = {"items": [{"mimeType": "text/plain", "data": "dropped words"}], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        where = {"x": box["x"] + 9, "y": box["y"] + 9}
        cdp.send("Input.dispatchDragEvent", {"type": kind, **where, "data": data})
    log = _log(recorder)
    assert _ways(log) == [(0, 0, "dropped words", "dropped")]
    assert next(event[2:] for event in log if event[0] == "p") == [-2, 13, 0]


def test_of_keys_only_class_and_time_are_kept(recorder: Page, cdp: CDPSession) -> None:
    recorder.evaluate("begin('')")
    for key in ("q", "Q", "7", "Space", "?", "Enter", "Backspace", "Delete", "ArrowLeft", "Control+c", "F9"):
        recorder.keyboard.press(key, delay=30)
    cdp.send(
        "Input.dispatchKeyEvent", {"type": "keyDown", "key": "Dead", "code": "Quote", "windowsVirtualKeyCode": 229}
    )
    recorder.evaluate("run([['blur']])")
    keys = [event[2:] for event in _log(recorder) if event[0] == "k"]
    classes = ["letter", "letter", "digit", "space", "mark", "enter", "backspace", "delete", "move"]
    assert [key[0] for key in keys] == [*classes, "command", "modifier", "other", "other"]
    assert all(len(key) == 2 for key in keys)
    assert all(20 <= key[1] < 2000 for key in keys[:9])


def test_undo_takes_back_what_the_page_put_in(recorder: Page, cdp: CDPSession) -> None:
    recorder.evaluate("begin('')")
    recorder.keyboard.type("One claim")
    recorder.evaluate("run([['cite', ' [2]', 1]])")
    assert recorder.input_value("#text") == "One claim [2]"
    _command(cdp, "undo")
    assert recorder.input_value("#text") == "One claim"
    assert [way[3] for way in _ways(_log(recorder))][-2:] == ["cited", "undone"]
