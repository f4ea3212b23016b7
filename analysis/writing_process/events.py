"""Parsed events of a log: text changes, pastes, and absences of the writer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

Event = Sequence[Any]

# As in the log: a place is a passage's rank, or one of these values.
OWN_TEXT = -1
ELSEWHERE = -2

TYPED = frozenset({"typed", "composed"})
# Keys that carry no information about the typing rhythm.
_SILENT_KEYS = frozenset({"modifier", "command"})


class BrokenLogError(ValueError):
    """A splice is outside the text that it changes: the events are not a valid log, or are out of order."""


class Change(NamedTuple):
    """A splice that changed the text.

    `event` is its index among the events. `ms` is its time as recorded, and `at` the time on a monotonic clock.
    `source` is empty if the log does not record it.
    """

    event: int
    ms: int
    at: int
    position: int
    deleted: int
    inserted: str
    source: str


class Pasting(NamedTuple):
    """The page's record of a paste: time, place of the copied text, and length."""

    at: int
    place: int
    length: int


class Copying(NamedTuple):
    """A copy of the writer's own text: the number of changes before it, and the copied span."""

    changes: int
    start: int
    end: int


class Away(NamedTuple):
    """A time in which the page was hidden or another window had the focus.

    `start` and `end` are on the monotonic clock. `ms` is the recorded time of the end.
    """

    start: int
    end: int
    ms: int


@dataclass(frozen=True)
class Log:
    """A parsed log.

    Attributes
    ----------
    events : int
        Number of events of every kind.
    times : list of int
        Time of each event on a monotonic clock.
    changes : list of Change
        In order.
    is_sourced : bool
        Whether the log records the source of every change; imported snapshots do not.
    keys : list of int
        Times of key presses; empty if keys are not recorded.
    pastings, copyings, absences
        Other records of the page.
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

    A device's clock may be set back, so the monotonic time is the sum of the forward steps.
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
        If a change is outside its text.
    """
    text = ""
    for change in changes:
        yield change, text
        text = after(change, text)


def after(change: Change, text: str) -> str:
    """Apply a change to a text.

    Raises
    ------
    BrokenLogError
        If the change is outside the text.
    """
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
    """Group changes that were made at once, as half-open ranges of their indices; most ranges have one change.

    A large paste may be recorded as several splices, and a program may insert text letter by letter. Insertions of one
    source form a group if they follow each other within `together` milliseconds, each at the end of the previous one.
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
    """Detector of absences from focus, visibility and editor openings."""

    def __init__(self) -> None:
        self.off: set[str] = set()
        self.since: int | None = None
        self.absences: list[Away] = []

    def see(self, kind: str, at: int, ms: int, *, is_on: bool) -> None:
        if kind == "a":  # opening the editor ends every absence, regardless of earlier records
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
