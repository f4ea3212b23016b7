"""How a writing log is packed: events as a compressed list of short lists (docs/guides/log-format.md).

An event is a list whose first element says what it is and whose second says when, in milliseconds since the log's
start: `["s", ms, position, deleted, inserted]` is a splice of the text, positions in code points. Readers of the text
pass over events of kinds that they do not know, so that a log can hold more than changes of the text.
"""

import hashlib
import json
import threading
from collections.abc import Iterable, Iterator
from typing import Any

import zstandard

from . import columns

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

Event = list[Any]


class BrokenLog(ValueError):  # noqa: N818 -- it says what the log is
    """A log cannot be read, or its events do not fit together."""


class _Kept(threading.local):
    """What each thread has of its own: making a compressor takes longer than packing what an editor sends."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(level=LEVEL)


_kept = _Kept()


def pack(events: list[Event], *, level: int = LEVEL) -> bytes:
    """Return events compressed. The same events give the same bytes."""
    text = _as_json(columns.pack(events))
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
            events = columns.unpack(events)
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
        self.text = applied(self.text, event)
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
            text = applied(text, event)
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


def applied(text: str, event: Event) -> str:
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
