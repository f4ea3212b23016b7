"""What was typed and deleted again, as the search for personal data gets it from a log."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.releases.personal_data import free_texts
from writing.editor import codec

AROUND = free_texts.AROUND


def plainly(events: list[list[Any]]) -> list[tuple[int, str]]:
    """One event after the other, each applied by itself."""
    found: list[tuple[int, str]] = []
    text, low, high, grown = "", 0, 0, False
    for number, event in enumerate(events):
        if event[0] == "q" and len(event) > 2:
            found.append((number, event[2]))
        if event[0] != "s":
            continue
        _, _, position, deleted, inserted = event[:5]
        if deleted and grown:
            found.append((number, text[max(0, min(low, position) - AROUND) : max(high, position + deleted) + AROUND]))
            grown = False
        text = codec.apply_splice(text, event)
        if inserted:
            end = position + len(inserted)
            low, high = (min(low, position), max(high + len(inserted), end)) if grown else (position, end)
            grown = True
    return found


@st.composite
def written(draw: st.DrawFn) -> list[list[Any]]:
    """Draw a log: mostly typed on, now and then gone back, deleted, replaced, searched."""
    events: list[list[Any]] = []
    length = at = 0
    for what in draw(st.lists(st.sampled_from("ttttttbjrqcx"), max_size=60)):
        if what == "q":
            events.append(["q", 0, draw(st.text(max_size=3)), 1][: draw(st.integers(2, 4))])
            continue
        if what == "c":
            events.append(["c", 0, at, at])
            continue
        if what == "j":
            at = draw(st.integers(0, length))
        deleted = {"b": min(1, at), "r": draw(st.integers(0, at)), "x": at}.get(what, 0)
        inserted = "" if what in "bx" else draw(st.text("ab \U0001d518", min_size=1, max_size=2))
        events.append(["s", 0, at - deleted, deleted, inserted, "typed", ""])
        at += len(inserted) - deleted
        length += len(inserted) - deleted
    return events


@given(written())
def test_it_is_what_each_event_by_itself_gives(events: list[list[Any]]) -> None:
    assert list(free_texts.gone(events)) == plainly(events)


def test_a_name_that_was_typed_and_deleted_is_in_it() -> None:
    typed = [["s", n, n, 0, letter] for n, letter in enumerate("I am Ana ")]
    assert list(free_texts.gone([*typed, ["s", 10, 5, 4, ""]])) == [(9, "I am Ana ")]


@pytest.mark.parametrize("position", [-1, 2])
def test_a_change_outside_the_text_ends_it(position: int) -> None:
    with pytest.raises(codec.BrokenLog):
        list(free_texts.gone([["s", 0, position, 0, "a"], ["s", 1, 0, 1, ""]]))
