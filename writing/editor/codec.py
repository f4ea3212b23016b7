"""The codec of editor events: stored by columns, which compresses to less than half.

Events are grouped by kind and length into a JSON object:

- `groups`: a list of [kind, fields, columns]; a column is [is_steps, values]
- `order`: the number of each event's group
- `times`: a column with the second elements of all events that have one
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
    """Convert events to columns. Each event is a list whose first element is its kind."""
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
    """Restore the events from columns.

    Raises
    ------
    ValueError, TypeError, KeyError, IndexError
        If the data are invalid.
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


# The fields of events without fields.
_NOTHING: Iterator[tuple[Any, ...]] = repeat(())


def _fields(length: int, columns: list[Any]) -> Iterator[tuple[Any, ...]]:
    if length < 1 or len(columns) != max(length - 2, 0):
        raise ValueError("the fields of an event are too many or too few")
    return zip(*map(_values, columns), strict=True) if columns else _NOTHING


def _column(values: list[Any]) -> list[Any]:
    """Encode a column: whole numbers as differences between neighbours, if these are smaller."""
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


# The current codec. Older ones must stay readable forever.
CODEC = "columns-zstd-1"
PLAIN = "json-zstd-1"
CODECS = (CODEC, PLAIN)
SPLICE = "s"
LEVEL = 9
# For data that are packed once and kept: several times slower, but a tenth smaller.
SMALLEST = 19
MAX_UNPACKED = 256 * 1024**2
_as_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class BrokenLog(ValueError):  # noqa: N818 -- describes the log
    """A log cannot be read, or its events are inconsistent."""


class _Compressors(threading.local):
    """The compressors of a thread: creating one takes longer than packing a batch."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(level=LEVEL)


_kept = _Compressors()


def pack(events: list[Event], *, level: int = LEVEL) -> bytes:
    """Compress events. Equal events give equal bytes."""
    text = _as_json(pack_columns(events))
    compressor = _kept.compressor if level == LEVEL else zstandard.ZstdCompressor(level=level)
    return compressor.compress(text.encode())


def unpack(payload: bytes, codec: str = CODEC) -> list[Event]:
    """Decompress the events of a batch.

    Raises
    ------
    BrokenLog
        If `payload` is not the result of `pack`.
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
    """Return the digest of a batch: the SHA-256 of its packed bytes."""
    return hashlib.sha256(payload).digest()


def splice(before: str, after: str) -> tuple[int, int, str]:
    """Return the smallest single change between two texts: position, number of deleted characters, inserted text.

    Of equally small changes, return the rightmost: a letter typed into a run of equal letters was probably typed last.
    """
    start = _common(before, after)
    rest_before, rest_after = before[start:], after[start:]
    # Only the rests are compared because the common end must not overlap the common start.
    end = _common(rest_before[::-1], rest_after[::-1])
    return start, len(rest_before) - end, rest_after[: len(rest_after) - end]


class Encoder:
    """Converter of a text's snapshots to events. It keeps only one text in memory."""

    def __init__(self) -> None:
        self.text = ""
        self.origin: int | None = None
        self.events: list[Event] = []

    def add(self, ms: int, text: str) -> None:
        """Add a snapshot with its clock time in milliseconds; the times of events start at the first snapshot."""
        if self.origin is None:
            self.origin = ms
        self.events.append([SPLICE, ms - self.origin, *splice(self.text, text)])
        self.text = text


def encode(snapshots: Iterable[tuple[int, str]]) -> list[Event]:
    """Convert (milliseconds, text) snapshots to one event each; a repeated text becomes an empty splice."""
    encoder = Encoder()
    for ms, text in snapshots:
        encoder.add(ms, text)
    return encoder.events


class Replay:
    """A text that is rebuilt event by event."""

    def __init__(self) -> None:
        self.text = ""

    def apply(self, event: Event) -> bool:
        """Apply an event; return whether it changed the text.

        Raises
        ------
        BrokenLog
            If it is a splice outside the text.
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
        If a splice is outside the text.
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
    """Return the text after all events up to a time in milliseconds."""
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
        If the splice is outside the text.
    """
    _, _, position, deleted, inserted = event[:5]
    if not 0 <= position <= position + deleted <= len(text):
        raise BrokenLog(f"A splice at {position} deletes {deleted} of a text of {len(text)} characters.")
    return f"{text[:position]}{inserted}{text[position + deleted :]}"


def _common(a: str, b: str) -> int:
    """Return the length of the common prefix, by binary search: faster than a loop over characters."""
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
