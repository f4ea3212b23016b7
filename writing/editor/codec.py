"""The codec of editor events: stored by columns, which compress to less than half.

Events are grouped by kind and length. The form is a JSON object:

- `groups`: a list of [kind, fields, columns]; a column is [is_steps, values]
- `order`: for each event the number of its group
- `times`: a column for the second elements of all events that have one
"""

import hashlib
import json
import threading
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, repeat
from operator import sub
from typing import Any

import zstandard

Event = list[Any]


def pack_columns(events: Sequence[Event]) -> dict[str, Any]:
    """Return events by columns. Every event is a list whose first element is its kind."""
    numbers: dict[tuple[str, int], int] = {}
    order = [numbers.setdefault((event[0], len(event)), len(numbers)) for event in events]
    members: list[list[Event]] = [[] for _ in numbers]
    for number, event in zip(order, events, strict=True):
        members[number].append(event)
    groups = [
        [kind, length, [_column(list(values)) for values in list(zip(*column_values, strict=True))[2:]]]
        for ((kind, length), column_values) in zip(numbers, members, strict=True)
    ]
    return {"groups": groups, "order": order, "times": _column([event[1] for event in events if len(event) > 1])}


def unpack_columns(form: Any) -> list[Event]:
    """Return the events of what `pack` made.

    Raises
    ------
    ValueError, TypeError, KeyError, IndexError
        if it is something else.
    """
    times = iter(_values(form["times"]))
    groups = [(kind, length > 1, _fields(length, columns)) for kind, length, columns in form["groups"]]
    order = form["order"]
    if order and min(order) < 0:
        raise IndexError("an event's group is counted from 0")
    events: list[Event] = []
    try:
        for number in order:
            kind, has_time, fields = groups[number]
            events.append([kind, next(times), *next(fields)] if has_time else [kind])
    except StopIteration:
        raise ValueError("a column is shorter than there are events") from None
    if any(_is_left(rest) for rest in (times, *(fields for _, _, fields in groups if fields is not _NOTHING))):
        raise ValueError("columns are longer than there are events")
    return events


# The fields of events that have none.
_NOTHING: Iterator[tuple[Any, ...]] = repeat(())


def _fields(length: int, columns: list[Any]) -> Iterator[tuple[Any, ...]]:
    if length < 1 or len(columns) != max(length - 2, 0):
        raise ValueError("the fields of an event are too many or too few")
    return zip(*map(_values, columns), strict=True) if columns else _NOTHING


def _column(values: list[Any]) -> list[Any]:
    """Return a column: whole numbers as steps from one to the next, where those are smaller."""
    if set(map(type, values)) == {int}:
        steps = list(map(sub, values, [0, *values]))
        if sum(map(abs, steps)) < sum(map(abs, values)):
            return [1, steps]
    return [0, values]


def _values(column: Any) -> list[Any]:
    is_steps, values = column
    if not isinstance(values, list):
        raise TypeError("a column's values are a list")
    if not is_steps:
        return values
    if not all(type(value) is int for value in values):
        raise TypeError("steps are whole numbers")
    return list(accumulate(values))


def _is_left(values: Any) -> bool:
    return next(iter(values), None) is not None


# What is written now, and what was written before: that stays readable for ever.
CODEC = "columns-zstd-1"
PLAIN = "json-zstd-1"
CODECS = (CODEC, PLAIN)
SPLICE = "s"
LEVEL = 9
# For what is packed once and kept: several times the work for a tenth less.
SMALLEST = 19
MAX_UNPACKED = 256 * 1024**2
_as_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class BrokenLog(ValueError):  # noqa: N818 -- it says what the log is
    """A log cannot be read, or its events do not fit together."""


class _Compressors(threading.local):
    """What each thread has of its own: making a compressor takes longer than packing what an editor sends."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(level=LEVEL)


_kept = _Compressors()


def pack(events: list[Event], *, level: int = LEVEL) -> bytes:
    """Return events compressed. The same events give the same bytes."""
    text = _as_json(pack_columns(events))
    compressor = _kept.compressor if level == LEVEL else zstandard.ZstdCompressor(level=level)
    return compressor.compress(text.encode())


def unpack(payload: bytes, codec: str = CODEC) -> list[Event]:
    """Return the events of a packed batch.

    Raises
    ------
    BrokenLog
        if it is not what `pack` made.
    """
    if codec not in CODECS:
        raise BrokenLog(f"This version reads logs packed as {' or '.join(CODECS)}, not as {codec}. Update it.")
    try:
        text = zstandard.ZstdDecompressor().decompress(payload, max_output_size=MAX_UNPACKED)
        events = json.loads(text)
        if codec == CODEC:
            events = unpack_columns(events)
    except (zstandard.ZstdError, ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
        raise BrokenLog(f"A batch of a writing log cannot be unpacked: {error}") from error
    if not isinstance(events, list):
        raise BrokenLog("A batch of a writing log holds no list of events.")
    return events


def digest(payload: bytes) -> bytes:
    """Return what a batch is known by: the SHA-256 of its packed bytes."""
    return hashlib.sha256(payload).digest()


def splice(before: str, after: str) -> tuple[int, int, str]:
    """Return the smallest single change from one text to another: position, how much goes, what comes.

    Of equally small ones the one furthest to the right: what is typed into a run of equal letters was typed last.
    """
    start = _common(before, after)
    rest_before, rest_after = before[start:], after[start:]
    # The common end must not overlap the common start, hence of the rests.
    end = _common(rest_before[::-1], rest_after[::-1])
    return start, len(rest_before) - end, rest_after[: len(rest_after) - end]


class Encoder:
    """Turns a growing text's snapshots into events, holding one text at a time."""

    def __init__(self) -> None:
        self.text = ""
        self.origin: int | None = None
        self.events: list[Event] = []

    def add(self, ms: int, text: str) -> None:
        """Add a snapshot with its clock time in milliseconds; the first one is the origin of all times."""
        if self.origin is None:
            self.origin = ms
        self.events.append([SPLICE, ms - self.origin, *splice(self.text, text)])
        self.text = text


def encode(snapshots: Iterable[tuple[int, str]]) -> list[Event]:
    """Return the events of (milliseconds, text) snapshots, one for each: a repeated text is an empty splice."""
    encoder = Encoder()
    for ms, text in snapshots:
        encoder.add(ms, text)
    return encoder.events


class Replay:
    """A text as events make it, one at a time."""

    def __init__(self) -> None:
        self.text = ""

    def apply(self, event: Event) -> bool:
        """Apply an event; say whether it was a change of the text.

        Raises
        ------
        BrokenLog
            if it is a splice outside the text that it changes.
        """
        if event[0] != SPLICE:
            return False
        self.text = apply_splice(self.text, event)
        return True


def states(events: Iterable[Event]) -> Iterator[tuple[int, str]]:
    """Yield (milliseconds since the start, text) after each change of the text.

    Raises
    ------
    BrokenLog
        if a splice lies outside the text that it changes.
    """
    text = ""
    for event in events:
        if event[0] == SPLICE:
            text = apply_splice(text, event)
            yield event[1], text


def final_text(events: Iterable[Event]) -> str:
    """Return the text after all events."""
    last = ""
    for _, text in states(events):
        last = text
    return last


def text_at(events: Iterable[Event], ms: int) -> str:
    """Return the text as it was at a moment: after the last event that is not later."""
    text = ""
    for at, state in states(events):
        if at > ms:
            break
        text = state
    return text


def apply_splice(text: str, event: Event) -> str:
    """Return the text after one splice.

    Raises
    ------
    BrokenLog
        if the splice lies outside the text.
    """
    _, _, position, deleted, inserted = event[:5]
    if not 0 <= position <= position + deleted <= len(text):
        raise BrokenLog(f"A splice at {position} deletes {deleted} of a text of {len(text)} characters.")
    return f"{text[:position]}{inserted}{text[position + deleted :]}"


def _common(a: str, b: str) -> int:
    """Return the length of the common start; halving comparisons of slices beats a loop over characters."""
    low, high = 0, min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
