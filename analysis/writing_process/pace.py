"""How a text was written: time, pauses, bursts, revisions, speed, and what typing looks like from up close."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import numpy as np

from analysis.writing_process.events import TYPED, Change, Event, Log, groups, read, texts
from analysis.writing_process.thresholds import DEFAULTS, Thresholds

NAN = float("nan")
MINUTE = 60.0


class BurstEnd(StrEnum):
    """What a burst of production ended in."""

    PAUSE = "pause"
    REVISION = "revision"
    ARRIVAL = "arrival"  # text that came at once: a paste, a citation, a correction
    END = "end"


@dataclass(frozen=True)
class Pause:
    """A gap between two changes of the text; times as recorded, in milliseconds."""

    start: int
    end: int
    seconds: float


@dataclass(frozen=True)
class Burst:
    """Typing without a pause: when it began and ended, how many characters, and what it ended in."""

    start: int
    end: int
    characters: int
    ended_by: BurstEnd


@dataclass(frozen=True)
class Revision:
    """Deletions in a row: when, where the first was, how many characters, and whether right behind the last typing."""

    start: int
    position: int
    characters: int
    is_immediate: bool


@dataclass(frozen=True)
class Activity:
    """How a text was written.

    Attributes
    ----------
    events, changes : int
        Events of every kind; those that changed the text.
    seconds : float
        From the first to the last event; NaN without events.
    active_seconds : float
        The same without the gaps in which nothing happened for longer than `thresholds.idle`.
    pauses : tuple of Pause
        Gaps between changes of `thresholds.pause` or more.
    bursts : tuple of Burst
        Production between pauses, revisions and arrivals.
    revisions : tuple of Revision
    produced, deleted, kept : int
        Characters that came in by any way, that were deleted, and that the final text has: produced = deleted + kept.
    typed : int
        Characters of these that were typed.
    is_sourced : bool
        Whether the log knows how changes came about; if not, what came at once counts as not typed.
    """

    events: int
    changes: int
    seconds: float
    active_seconds: float
    pauses: tuple[Pause, ...]
    bursts: tuple[Burst, ...]
    revisions: tuple[Revision, ...]
    produced: int
    deleted: int
    typed: int
    is_sourced: bool

    @property
    def kept(self) -> int:
        """The length of the final text."""
        return self.produced - self.deleted

    @property
    def typing_rate(self) -> float:
        """Typed characters a minute of active time; NaN without active time."""
        return self.typed * MINUTE / self.active_seconds if self.active_seconds else NAN

    @property
    def p_bursts(self) -> tuple[Burst, ...]:
        """Bursts that ended in a pause, or with the log."""
        return tuple(burst for burst in self.bursts if burst.ended_by in {BurstEnd.PAUSE, BurstEnd.END})

    @property
    def r_bursts(self) -> tuple[Burst, ...]:
        """Bursts that ended in a revision."""
        return tuple(burst for burst in self.bursts if burst.ended_by is BurstEnd.REVISION)

    @property
    def paused_seconds(self) -> float:
        """The time of all pauses together."""
        return sum(pause.seconds for pause in self.pauses)


def activity(events: Iterable[Event] | Log, *, thresholds: Thresholds = DEFAULTS) -> Activity:
    """Measure how a text was written.

    Parameters
    ----------
    events : iterable of event, or Log
        In the order in which they changed the text.
    thresholds : Thresholds

    Returns
    -------
    Activity
        Of imported snapshots too: their pauses and times are as exact as the snapshots are dense (about 0.3 s), and a
        snapshot may hold several keys' work.
    """
    log = events if isinstance(events, Log) else read(events)
    counter = _Counter(log, thresholds)
    for begin, end in groups(log.changes, together=thresholds.together):
        counter.take(log.changes[begin:end])
    counter.close(BurstEnd.END)
    steps = [second - first for first, second in pairwise(log.times)]
    return Activity(
        events=log.events,
        changes=len(log.changes),
        seconds=sum(steps) / 1000 if log.times else NAN,
        active_seconds=sum(step for step in steps if step <= thresholds.idle) / 1000 if log.times else NAN,
        pauses=tuple(counter.pauses),
        bursts=tuple(counter.bursts),
        revisions=tuple(counter.revisions),
        produced=sum(len(change.inserted) for change in log.changes),
        deleted=sum(change.deleted for change in log.changes),
        typed=counter.typed,
        is_sourced=log.is_sourced,
    )


class _Counter:
    """Reads changes in order and notes where pauses, bursts and revisions begin and end."""

    def __init__(self, log: Log, thresholds: Thresholds) -> None:
        self.log, self.thresholds = log, thresholds
        self.pauses: list[Pause] = []
        self.bursts: list[Burst] = []
        self.revisions: list[Revision] = []
        self.typed = 0
        self.last: Change | None = None
        self.burst: tuple[int, int, int] | None = None  # start, end, characters
        self.is_revising = False
        self.edge = 0  # where the last change ended

    def take(self, group: Sequence[Change]) -> None:
        first = group[0]
        length = sum(len(change.inserted) for change in group)
        if self.last is not None and first.at - self.last.at >= self.thresholds.pause:
            self.pauses.append(Pause(self.last.ms, first.ms, (first.at - self.last.at) / 1000))
            self.close(BurstEnd.PAUSE)
            self.is_revising = False
        if first.deleted:
            self.delete(first)
        if length:
            self.insert(first, group[-1], length)
        self.edge = first.position + length
        self.last = group[-1]

    def delete(self, change: Change) -> None:
        self.close(BurstEnd.REVISION)
        touches = change.position <= self.edge <= change.position + change.deleted
        if self.is_revising and touches:
            before = self.revisions[-1]
            self.revisions[-1] = Revision(
                before.start, change.position, before.characters + change.deleted, before.is_immediate
            )
        else:
            self.revisions.append(Revision(change.ms, change.position, change.deleted, touches))
        self.is_revising = True

    def insert(self, first: Change, last: Change, length: int) -> None:
        self.is_revising = False
        if (first.source and first.source not in TYPED) or length >= self.thresholds.jump:
            self.close(BurstEnd.ARRIVAL)
            return
        self.typed += length
        start, _, characters = self.burst or (first.ms, 0, 0)
        self.burst = (start, last.ms, characters + length)

    def close(self, ended_by: BurstEnd) -> None:
        if self.burst is not None:
            self.bursts.append(Burst(*self.burst, ended_by))
            self.burst = None


# What may stand between the end of a sentence and the next one's beginning: quotes, brackets, blanks, list signs.
_BETWEEN = " \t\u00a0\"'\u201c\u201d\u2018\u2019\u00ab\u00bb()*#-\u2022"
# A citation marker ends a statement; after any of these a small letter goes on ("e.g. this").
_UNSPACED_ENDS = "\u3002\uff01\uff1f"
_ENDS = ".!?\u2026\u0964]" + _UNSPACED_ENDS


@dataclass(frozen=True)
class Typing:
    """How the typed characters came.

    Attributes
    ----------
    characters : int
        How many were typed.
    at_end : int
        How many of them at the end of the text (white space behind them aside).
    sentences : int
        How many sentences were begun by typing, the first one left out.
    after_pause : int
        How many of them after a pause.
    begun : tuple of int
        When the others were begun (milliseconds as recorded).
    """

    characters: int
    at_end: int
    sentences: int
    after_pause: int
    begun: tuple[int, ...]


def intervals(log: Log, *, thresholds: Thresholds) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the times between one key and the next, pauses left out, in milliseconds.

    From the key events where there are any, otherwise between single typed characters in a row.
    """
    if log.keys:
        steps = [second - first for first, second in pairwise(log.keys)]
    else:
        steps = [second.at - first.at for first, second in pairwise(log.changes) if _is_key(first) and _is_key(second)]
    return np.array([step for step in steps if 0 < step < thresholds.pause], dtype=np.float64)


def typing(log: Log, *, thresholds: Thresholds) -> Typing:
    """Follow the typed characters."""
    characters = at_end = sentences = after_pause = 0
    sentence_times: list[int] = []
    last_at: int | None = None
    for change, before in texts(log.changes):
        if change.source in TYPED and change.inserted and len(change.inserted) < thresholds.jump:
            characters += len(change.inserted)
            after = before[change.position + change.deleted :]
            if not after or after.isspace():
                at_end += len(change.inserted)
            # Before the first sentence nothing was written that a pause could follow.
            if last_at is not None and _begins_sentence(change, before):
                sentences += 1
                if change.at - last_at >= thresholds.pause:
                    after_pause += 1
                else:
                    sentence_times.append(change.ms)
        # The pause may come before the blank or the line break that leads to the sentence.
        if change.inserted.strip(_BETWEEN + "\n") or not change.inserted:
            last_at = change.at
    return Typing(characters, at_end, sentences, after_pause, tuple(sentence_times))


def _is_key(change: Change) -> bool:
    return change.source == "typed" and len(change.inserted) == 1 and not change.deleted


def _begins_sentence(change: Change, before: str) -> bool:
    lead = change.inserted.lstrip(_BETWEEN + "\n")
    if not lead or not lead[0].isalnum():
        return False
    skipped = change.inserted[: len(change.inserted) - len(lead)]
    # Looking back over a bounded stretch keeps long runs of blanks cheap.
    context = before[max(0, change.position - 200) : change.position] + skipped
    previous = context.rstrip(_BETWEEN)
    if not previous or previous[-1] == "\n":
        return True
    is_apart = len(previous) < len(context) or previous[-1] in _UNSPACED_ENDS
    return is_apart and previous[-1] in _ENDS and not lead[0].islower()
