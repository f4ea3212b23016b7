"""What the editor sends is checked field by field; what does not fit is refused with the place where it does not."""

import json
from typing import Any

import pytest

from writing.editor import event_validation
from writing.editor.events import EVENT_KINDS

FITTING: dict[str, Any] = {
    "position": 3,
    "deleted": 0,
    "inserted": "é🧊\n",
    "source": "typed",
    "input_type": "insertText",
    "start": 0,
    "end": 9,
    "class": "letter",
    "held": 80,
    "place": -2,
    "cut": 0,
    "length": 12,
    "share": 100,
    "on": 1,
    "rank": 19,
    "milliseconds": -86_400_000,
    "percent": 50,
    "words": "solar",
    "hits": 2,
    "way": "button",
    "width": 390,
    "height": 844,
    "digest": "0123456789abcdef",
    "clock": 1_767_268_800_000,
    "touch": True,
}
UNFIT: dict[str, Any] = {
    "position": -1,
    "deleted": 1.5,
    "inserted": "a\0",
    "source": "guessed",
    "input_type": "x" * 51,
    "start": "0",
    "end": None,
    "class": "e",
    "held": -1,
    "place": -3,
    "cut": 2,
    "length": [],
    "share": 101,
    "on": "yes",
    "rank": -1,
    "milliseconds": 10**12,
    "percent": -1,
    "words": "\ud800",
    "hits": {},
    "way": "magic",
    "width": 10**6,
    "height": True,
    "digest": "XYZ45678",
    "clock": -1,
    "touch": "no",
}
FIELDS = [(each.code, name) for each in EVENT_KINDS for name in each.fields]


def event(code: str, **other: Any) -> list[Any]:
    fields = next(each.fields for each in EVENT_KINDS if each.code == code)
    return [code, 5, *((FITTING | other)[name] for name in fields)]


def body(events: Any, **other: Any) -> bytes:
    return json.dumps({"number": 0, "first": 0, "events": events} | other).encode()


def test_every_field_that_is_recorded_has_a_rule() -> None:
    assert {name for _, name in FIELDS} == event_validation.FIELDS.keys() == FITTING.keys() == UNFIT.keys()


def test_all_kinds_are_taken_in() -> None:
    events = [event(each.code) for each in EVENT_KINDS]

    found = event_validation.parse_batch(
        body(events, number=7, first=90, wall=1.5, mono=0.25, visible=True, more="later")
    )

    assert (found.number, found.first, found.events) == (7, 90, events)


def place_of_refusal(sent: bytes) -> str | None:
    """Return the place that a refusal names; nothing where the batch is taken."""
    try:
        event_validation.parse_batch(sent)
    except event_validation.BadInputError as error:
        return str(error.facts.get("where"))
    return None


def test_a_field_of_another_type_or_range_is_refused_with_its_place() -> None:
    places = {
        (code, field): place_of_refusal(body([event("f"), event(code, **{field: UNFIT[field]})]))
        for code, field in FIELDS
    }

    assert places == {(code, field): f"events[1].{field}" for code, field in FIELDS}


def test_what_is_no_event_is_refused() -> None:
    cases: list[tuple[Any, str]] = [
        (None, "events"),
        ([], "events"),
        ({"0": 1}, "events"),
        ([5], "events[0]"),
        ([[]], "events[0]"),
        ([[["s"], 0]], "events[0]"),
        ([["nothing", 0]], "events[0]"),
        ([["f", 0]], "events[0]"),
        ([["f", 0, 1, 1]], "events[0]"),
        ([["f", -1, 1]], "events[0].ms"),
        ([["f", 0.5, 1]], "events[0].ms"),
        ([["f", True, 1]], "events[0].ms"),
        ([["f", 10**12, 1]], "events[0].ms"),
    ]

    assert [(events, place_of_refusal(body(events))) for events, _where in cases] == cases


def test_what_is_no_batch_is_refused() -> None:
    cases = [
        b"",
        b"\xff",
        b"[]",
        b'{"number": NaN}',
        b'{"number": 0, "first": 0, "events": [["f", Infinity, 1]]}',
        b'{"number": 1' + b"0" * 5000 + b"}",
        b"[" * 100_000,
        body([["f", 0, 1]], number=-1),
        body([["f", 0, 1]], first=2**31),
        body([["f", 0, 1]], number="0"),
    ]

    assert [sent[:40] for sent in cases if place_of_refusal(sent) is None] == []


def test_too_many_events_are_to_be_split() -> None:
    assert (
        len(event_validation.parse_batch(body([["f", 0, 1]] * event_validation.MOST_EVENTS)).events)
        == event_validation.MOST_EVENTS
    )
    with pytest.raises(event_validation.TooLargeError):
        event_validation.parse_batch(body([["f", 0, 1]] * (event_validation.MOST_EVENTS + 1)))


def test_a_batch_says_how_long_a_text_it_needs_and_leaves() -> None:
    typed = ["s", 0, 5, 2, "abc", "typed", ""]
    behind = ["s", 0, 9, 0, "", "typed", ""]

    assert event_validation.check_events([typed]) == event_validation.Extent(needs=7, grows=1, changes=True)
    assert event_validation.check_events([typed, behind]) == event_validation.Extent(needs=8, grows=1, changes=True)
    assert event_validation.check_events([["f", 0, 1]]) == event_validation.Extent(needs=0, grows=0, changes=False)


def test_the_word_that_it_is_done_is_checked_too() -> None:
    digest = "a" * 64
    said = json.dumps({"session": 0, "events": 3, "digest": digest}).encode()
    assert event_validation.parse_finish(said) == event_validation.Finish(0, 3, digest)
    for wrong in ({"session": None}, {"events": -1}, {"digest": "a" * 63}, {"digest": 5}):
        with pytest.raises(event_validation.BadInputError) as caught:
            event_validation.parse_finish(json.dumps(json.loads(said) | wrong).encode())
        assert caught.value.facts["where"] == next(iter(wrong))
