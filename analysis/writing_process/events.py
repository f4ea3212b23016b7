"""Parsed events of a log: text changes, pastes, and absences of the writer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

Event = Sequence[Any]

# As in the log: a place is a passage's rank, or one of these.
OWN_TEXT = -1
ELSEWHERE = -2

TYPED = frozenset({"typed", "composed"})
# Keys that say nothing of the rhythm of typing.
_SILENT_KEYS = frozenset({"modifier", "command"})


class BrokenLogError(ValueError):
    """A splice lies outside the text that it changes: these events are no log, or not in order."""


class Change(NamedTuple):
    """A splice that changed the text.

    `event` is its number among the events, `ms` its time as recorded, `at` the same on a clock that never goes back,
    `source` empty where the log does not know it.
    """

    event: int
    ms: int
    at: int
    position: int
    deleted: int
    inserted: str
    source: str


class Pasting(NamedTuple):
    """What the page noted of a paste: when, the place that the text came from, its length."""

    at: int
    place: int
    length: int


class Copying(NamedTuple):
    """What was copied from the writer's own text: after how many changes, and which span."""

    changes: int
    start: int
    end: int


class Away(NamedTuple):
    """A time during which the page was hidden or another window had the keyboard, on the clock and as recorded."""

    start: int
    end: int
    ms: int


@dataclass(frozen=True)
class Log:
    """A log as the measures need it.

    Attributes
    ----------
    events : int
        How many there are, of every kind.
    times : list of int
        The moment of each event, on a clock that never goes back.
    changes : list of Change
        In order.
    is_sourced : bool
        Whether the log knows how each change came about; imported snapshots do not.
    keys : list of int
        Moments at which a key went down; empty where keys are not recorded.
    pastings, copyings, absences
        What the page noted beside the text.
    """

    events: int
    times: list[int]
    changes: list[Change]
    is_sourced: bool
    keys: list[int]
    pastings: list[Pasting]
    copyings: list[Copying]
    absences: list[Away]


def read(events: Iterable[Event]) -> Log:
    """Parse a log's events.

    The clock: a device's clock may be set back, so time is the sum of the steps forward.
    """
    times: list[int] = []
    changes: list[Change] = []
    keys: list[int] = []
    pastings: list[Pasting] = []
    copyings: list[Copying] = []
    watch = _Watch()
    at, last, sourced = 0, None, True
    for number, event in enumerate(events):
        kind, ms = event[0], int(event[1])
        if last is not None and ms > last:
            at += ms - last
        last = ms
        times.append(at)
        if kind == "s":
            source = str(event[5]) if len(event) > 5 else ""
            if event[3] or event[4]:
                changes.append(Change(number, ms, at, int(event[2]), int(event[3]), str(event[4]), source))
                sourced = sourced and bool(source)
        elif kind == "k":
            if event[2] not in _SILENT_KEYS:
                keys.append(at)
        elif kind == "p":
            pastings.append(Pasting(at, int(event[2]), int(event[3])))
        elif kind == "y":
            if event[2] == OWN_TEXT:
                copyings.append(Copying(len(changes), int(event[3]), int(event[4])))
        elif kind in "fva":
            watch.see(kind, at, ms, is_on=kind == "a" or bool(event[2]))
    return Log(len(times), times, changes, sourced and bool(changes), keys, pastings, copyings, watch.absences)


def texts(changes: Iterable[Change]) -> Iterable[tuple[Change, str]]:
    """Yield each change with the text before it.

    Raises
    ------
    BrokenLogError
        if a change lies outside its text.
    """
    text = ""
    for change in changes:
        yield change, text
        text = after(change, text)


def after(change: Change, text: str) -> str:
    """Return a text as a change leaves it."""
    end = change.position + change.deleted
    if not 0 <= change.position <= end <= len(text):
        raise BrokenLogError(
            f"Event {change.event} deletes {change.deleted} at {change.position} of a text of {len(text)} characters."
        )
    return f"{text[: change.position]}{change.inserted}{text[end:]}"


def final_text(changes: Iterable[Change]) -> str:
    """Return the text after all changes."""
    text = ""
    for change in changes:
        text = after(change, text)
    return text


def groups(changes: Sequence[Change], *, together: int) -> list[tuple[int, int]]:
    """Return the changes that came at once as half-open ranges of their numbers; most are a range of one.

    A large paste may be recorded as several splices, and a program may put text in letter by letter: insertions of one
    source that follow each other within `together` milliseconds, each where the one before ended, are one.
    """
    spans: list[tuple[int, int]] = []
    begin = 0
    for number, (first, second) in enumerate(pairwise(changes), start=1):
        goes_on = (
            second.at - first.at <= together
            and second.source == first.source
            and not second.deleted
            and bool(first.inserted)
            and second.position == first.position + len(first.inserted)
        )
        if not goes_on:
            spans.append((begin, number))
            begin = number
    if changes:
        spans.append((begin, len(changes)))
    return spans


class _Watch:
    """Puts focus, visibility and openings together into times away."""

    def __init__(self) -> None:
        self.off: set[str] = set()
        self.since: int | None = None
        self.absences: list[Away] = []

    def see(self, kind: str, at: int, ms: int, *, is_on: bool) -> None:
        if kind == "a":  # whoever opens the editor is there, whatever was noted before
            self.off.clear()
        elif is_on:
            self.off.discard(kind)
        else:
            self.off.add(kind)
        if self.off and self.since is None:
            self.since = at
        elif not self.off and self.since is not None:
            self.absences.append(Away(self.since, at, ms))
            self.since = None
