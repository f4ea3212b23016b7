"""Merge the sessions of a writing log into one sequence of events on one clock."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from ..editor import codec, logs
from ..models import WritingLog

# The displayed length of long gaps between sessions, in milliseconds.
GAP = 2_000
# Backward steps up to this (in milliseconds) are normal between events, and do not mean that the clock was set back.
JITTER = 250


@dataclass(frozen=True, slots=True)
class Gap:
    """A shortened gap between two sessions. `at` and `shown` are on the continuous clock."""

    at: int
    shown: int
    milliseconds: int
    session: int


@dataclass(frozen=True, slots=True)
class SessionMark:
    """The start of a session on the continuous clock."""

    at: int
    number: int
    opened_at: datetime | None


@dataclass(frozen=True, slots=True)
class Branch:
    """Events of an earlier session after a later one began: kept, but not part of the text."""

    number: int
    events: int
    text: str


@dataclass
class MergedLog:
    """A log as one sequence. `events` are as recorded, but with continuous times."""

    events: list[codec.Event] = field(default_factory=list)
    sessions: list[SessionMark] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    branches: list[Branch] = field(default_factory=list)
    # How often the writer's clock was set back. The continuous clock ignores this.
    set_back: int = 0

    @property
    def end(self) -> int:
        """The time of the last event in milliseconds."""
        return self.events[-1][1] if self.events else 0

    @property
    def span(self) -> int:
        """The time from first to last event in milliseconds with full gaps, like a task's `seconds`."""
        cut = sum(gap.milliseconds - gap.shown for gap in self.gaps)
        return self.end - self.events[0][1] + cut if self.events else 0


def merge(log: WritingLog) -> MergedLog:
    """Return a log's events as one sequence; without queries if its sessions and batches were prefetched.

    Raises
    ------
    codec.BrokenLog
        If a batch cannot be read, or its events are inconsistent.
    """
    stored: dict[int, list[codec.Event]] = {}
    for batch in sorted(log.batches.all(), key=lambda each: (each.session, each.number)):
        stored.setdefault(batch.session, []).extend(codec.unpack(bytes(batch.payload), batch.codec))
    opened = {session.number: session.opened_at for session in log.sessions.all()}
    line = MergedLog()
    clock = _Clock(line)
    used = sorted(logs.session_ends(log).items())
    for session, until in used:
        clock.add(session, stored.get(session, [])[:until], opened.get(session, log.started_at))
    line.branches = list(_branches(used, stored))
    return line


def _branches(used: Sequence[tuple[int, int | None]], stored: Mapping[int, Sequence[codec.Event]]) -> Iterator[Branch]:
    before: list[codec.Event] = []
    for session, until in used:
        events = stored.get(session, [])
        rest = [] if until is None else events[until:]
        if any(event[0] == codec.SPLICE for event in rest):
            yield Branch(session, len(rest), codec.final_text([*before, *events]))
        before += events[:until]


class _Clock:
    """A continuous clock that places sessions one after another."""

    def __init__(self, line: MergedLog) -> None:
        self.line = line
        self.removed = 0
        self.raw = 0

    def add(self, number: int, events: Sequence[codec.Event], opened_at: datetime | None) -> None:
        """Add a session's events."""
        line = self.line
        if line.events and events and (away := events[0][1] - self.raw) > GAP:
            line.gaps.append(Gap(at=line.end, shown=GAP, milliseconds=away, session=number))
            self.removed += away - GAP
        begun = events[0][1] - self.removed if events else 0
        line.sessions.append(SessionMark(max(line.end, begun), number, opened_at))
        for event in events:
            self._take(event)

    def _take(self, event: codec.Event) -> None:
        line, self.raw = self.line, event[1]
        now = self.raw - self.removed
        if now < line.end:
            line.set_back += line.end - now > JITTER
            self.removed = self.raw - line.end
            now = line.end
        line.events.append([event[0], now, *event[2:]])
