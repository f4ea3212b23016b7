"""A writing log as one line of events: the chain of its sittings, on one clock that never runs backwards."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from ..models import LogBatch, Sitting, WritingLog
from . import codec

# How long the time between two sittings is shown, however long it was.
GAP = 2_000


@dataclass(frozen=True, slots=True)
class Gap:
    """Time that is not shown in full: between two sittings. `at` and `shown` are on the continuous clock."""

    at: int
    shown: int
    milliseconds: int
    sitting: int


@dataclass(frozen=True, slots=True)
class Opened:
    """The beginning of a sitting on the continuous clock."""

    at: int
    number: int
    opened_at: datetime | None


@dataclass(frozen=True, slots=True)
class Branch:
    """What an earlier sitting still wrote after a later one had begun: kept, but no part of the text."""

    number: int
    events: int
    text: str


@dataclass
class Linear:
    """A log in one line. `events` are as recorded but for their times, which are continuous."""

    events: list[codec.Event] = field(default_factory=list)
    sittings: list[Opened] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    branches: list[Branch] = field(default_factory=list)
    # How often the writer's clock was set back, which the continuous clock does not follow.
    set_back: int = 0

    @property
    def end(self) -> int:
        """The time of the last event."""
        return self.events[-1][1] if self.events else 0


@dataclass(frozen=True, slots=True)
class _Part:
    number: int
    events: Sequence[codec.Event]
    opened_at: datetime | None = None


def of(log: WritingLog) -> Linear:
    """Return a log's events in one line.

    Raises
    ------
    codec.BrokenLog
        if a batch cannot be read, or its events do not fit together.
    """
    return joined(list(log.sittings.order_by("number", "id")), list(log.batches.order_by("sitting", "number", "id")))


def joined(sittings: Sequence[Sitting], batches: Sequence[LogBatch]) -> Linear:
    """Return a log's events in one line, of its sittings and batches, both in order."""
    stored: dict[int, list[codec.Event]] = {}
    for batch in batches:
        stored.setdefault(batch.sitting, []).extend(codec.unpack(bytes(batch.payload), batch.codec))
    line = Linear()
    clock = _Clock(line)
    for part in _chain(sittings, stored):
        clock.add(part)
    line.branches = list(_branches(sittings, stored))
    return line


def _chain(sittings: Sequence[Sitting], stored: Mapping[int, Sequence[codec.Event]]) -> list[_Part]:
    if not sittings:  # imported: one sitting, without a row
        return [_Part(0, stored.get(0, []))]
    by_key = {sitting.pk: sitting for sitting in sittings}
    current: Sitting | None = sittings[-1]
    upto: int | None = None
    parts: list[_Part] = []
    while current is not None:
        events = stored.get(current.number, [])
        parts.append(_Part(current.number, events[:upto], current.opened_at))
        upto = current.base_events
        current = by_key.get(current.base_id or 0)
    return parts[::-1]


def _branches(sittings: Sequence[Sitting], stored: Mapping[int, Sequence[codec.Event]]) -> Iterator[Branch]:
    used = {each.base_id: each.base_events for each in sittings if each.base_id is not None}
    last = sittings[-1].pk if sittings else None
    for position, sitting in enumerate(sittings):
        events = stored.get(sitting.number, [])
        begun = 0 if sitting.pk not in used else used[sitting.pk]
        rest = events[begun:] if sitting.pk != last else []
        if any(event[0] == codec.SPLICE for event in rest):
            chain = _chain(sittings[: position + 1], stored)
            text = codec.final_text(event for part in chain for event in part.events)
            yield Branch(sitting.number, len(rest), text)


class _Clock:
    """Lays parts one after another."""

    def __init__(self, line: Linear) -> None:
        self.line = line
        self.removed = 0
        self.raw = 0

    def add(self, part: _Part) -> None:
        """Add a sitting's events."""
        line = self.line
        if line.sittings and part.events:
            away = part.events[0][1] - self.raw
            if away > GAP:
                line.gaps.append(Gap(at=line.end, shown=GAP, milliseconds=away, sitting=part.number))
                self.removed += away - GAP
        begun = part.events[0][1] - self.removed if part.events else line.end
        line.sittings.append(Opened(max(line.end, begun), part.number, part.opened_at))
        for event in part.events:
            self._take(event)

    def _take(self, event: codec.Event) -> None:
        self.raw = event[1]
        now = self.raw - self.removed
        if now < self.line.end:
            self.line.set_back += 1
            self.removed = self.raw - self.line.end
            now = self.line.end
        self.line.events.append([event[0], now, *event[2:]])
