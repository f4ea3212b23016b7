"""Pace of writing: time, pauses, bursts, revisions, speed, and fine-grained typing behaviour."""

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
    """The event that ends a burst of production."""

    PAUSE = "pause"
    REVISION = "revision"
    ARRIVAL = "arrival"  # text inserted at once: a paste, a citation, a correction
    END = "end"


@dataclass(frozen=True)
class Pause:
    """A gap between two changes of the text; times in milliseconds as recorded."""

    start: int
    end: int
    seconds: float


@dataclass(frozen=True)
class Burst:
    """Typing without a pause: its start, end, number of characters, and the event that ended it."""

    start: int
    end: int
    characters: int
    ended_by: BurstEnd


@dataclass(frozen=True)
class Revision:
    """Consecutive deletions: time, position, number of characters, and whether they directly follow the last typing."""

    start: int
    position: int
    characters: int
    is_immediate: bool


@dataclass(frozen=True)
class Activity:
    """Summary of how a text was written.

    Attributes
    ----------
    events, changes : int
        Number of all events, and of events that changed the text.
    seconds : float
        Time from the first to the last event; NaN without events.
    active_seconds : float
        The same without gaps longer than `thresholds.idle`.
    pauses : tuple of Pause
        Gaps between changes of at least `thresholds.pause`.
    bursts : tuple of Burst
        Production between pauses, revisions and arrivals.
    revisions : tuple of Revision
    produced, deleted, kept : int
        Characters that were inserted in any way, that were deleted, and that are in the final text: produced = deleted
        + kept.
    typed : int
        Number of produced characters that were typed.
    is_sourced : bool
        Whether the log records the source of changes. If not, text inserted at once does not count as typed.
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
        """Typed characters per minute of active time; NaN without active time."""
        return self.typed * MINUTE / self.active_seconds if self.active_seconds else NAN

    @property
    def p_bursts(self) -> tuple[Burst, ...]:
        """Bursts that ended in a pause, or at the end of the log."""
        return tuple(burst for burst in self.bursts if burst.ended_by in {BurstEnd.PAUSE, BurstEnd.END})

    @property
    def r_bursts(self) -> tuple[Burst, ...]:
        """Bursts that ended in a revision."""
        return tuple(burst for burst in self.bursts if burst.ended_by is BurstEnd.REVISION)

    @property
    def paused_seconds(self) -> float:
        """Total duration of all pauses."""
        return sum(pause.seconds for pause in self.pauses)


def activity(events: Iterable[Event] | Log, *, thresholds: Thresholds = DEFAULTS) -> Activity:
    """Compute the pace of a log.

    Parameters
    ----------
    events : iterable of event, or Log
        In the order in which they changed the text.
    thresholds : Thresholds

    Returns
    -------
    Activity
        Imported snapshots are also supported. The precision of their pauses and times is the interval between snapshots
        (about 0.3 s), and a snapshot may contain several keystrokes.
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
    """Detector of pauses, bursts and revisions in consecutive changes."""

    def __init__(self, log: Log, thresholds: Thresholds) -> None:
        self.log, self.thresholds = log, thresholds
        self.pauses: list[Pause] = []
        self.bursts: list[Burst] = []
        self.revisions: list[Revision] = []
        self.typed = 0
        self.last: Change | None = None
        self.burst: tuple[int, int, int] | None = None  # start, end, characters
        self.is_revising = False
        self.edge = 0  # end of the last change

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


# Characters that may be between the end of a sentence and the next one: quotes, brackets, blanks, list marks.
_BETWEEN = " \t\u00a0\"'\u201c\u201d\u2018\u2019\u00ab\u00bb()*#-\u2022"
# A citation marker also ends a statement. A lower-case letter after an end continues the sentence ("e.g. this").
_UNSPACED_ENDS = "\u3002\uff01\uff1f"
_ENDS = ".!?\u2026\u0964]" + _UNSPACED_ENDS


@dataclass(frozen=True)
class Typing:
    """Summary of the typed characters.

    Attributes
    ----------
    characters : int
        Number of typed characters.
    at_end : int
        Number of characters typed at the end of the text (ignoring white space after them).
    sentences : int
        Number of sentences begun by typing, without the first one.
    after_pause : int
        Number of these sentences that were begun after a pause.
    begun : tuple of int
        Start times of the other sentences (milliseconds as recorded).
    """

    characters: int
    at_end: int
    sentences: int
    after_pause: int
    begun: tuple[int, ...]


def intervals(log: Log, *, thresholds: Thresholds) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the times between consecutive keys, without pauses, in milliseconds.

    Uses the key events if there are any, otherwise consecutive changes that type a single character.
    """
    if log.keys:
        steps = [second - first for first, second in pairwise(log.keys)]
    else:
        steps = [second.at - first.at for first, second in pairwise(log.changes) if _is_key(first) and _is_key(second)]
    return np.array([step for step in steps if 0 < step < thresholds.pause], dtype=np.float64)


def typing(log: Log, *, thresholds: Thresholds) -> Typing:
    """Count typed characters and the sentences begun by typing."""
    characters = at_end = sentences = after_pause = 0
    sentence_times: list[int] = []
    last_at: int | None = None
    for change, before in texts(log.changes):
        if change.source in TYPED and change.inserted and len(change.inserted) < thresholds.jump:
            characters += len(change.inserted)
            after = before[change.position + change.deleted :]
            if not after or after.isspace():
                at_end += len(change.inserted)
            # Skip the first sentence: there is no text before it that a pause could follow.
            if last_at is not None and _begins_sentence(change, before):
                sentences += 1
                if change.at - last_at >= thresholds.pause:
                    after_pause += 1
                else:
                    sentence_times.append(change.ms)
        # The pause may come before the blank or the line break that precedes the sentence.
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
    # A bounded look-back keeps long runs of blanks cheap.
    context = before[max(0, change.position - 200) : change.position] + skipped
    previous = context.rstrip(_BETWEEN)
    if not previous or previous[-1] == "\n":
        return True
    is_apart = len(previous) < len(context) or previous[-1] in _UNSPACED_ENDS
    return is_apart and previous[-1] in _ENDS and not lead[0].islower()
