"""A log's sittings as one line of events with branches."""

from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from ...models import WritingLog
from .. import codec, logs


class Placed(NamedTuple):
    """An event with its place in the record: its sitting, and its number there."""

    sitting: int
    number: int
    event: codec.Event


@dataclass(frozen=True, slots=True)
class Branch:
    """What a sitting sent after the text had gone on elsewhere: its events from `first` on, and its whole text."""

    sitting: int
    first: int
    events: list[codec.Event]
    text: str


@dataclass(frozen=True, slots=True)
class Chain:
    """The events that make the text, in order, and what lies beside them."""

    events: list[Placed]
    branches: list[Branch]


def chain(log: WritingLog) -> Chain:
    """Return a log's events in the order in which they made the text, and its branches."""
    stored = _by_sitting(log)
    ends = logs.ends(log)
    line: list[Placed] = []
    branches: list[Branch] = []
    # What the line has when a sitting begins is what the sitting began with.
    for sitting, until in sorted(ends.items()):
        events = stored.get(sitting, [])
        before = [placed.event for placed in line]
        line += [Placed(sitting, i, event) for i, event in enumerate(islice(events, until))]
        if until is not None and events[until:]:
            branches.append(Branch(sitting, until, events[until:], codec.final_text([*before, *events])))
    return Chain(line, branches)


def _by_sitting(log: WritingLog) -> dict[int, list[codec.Event]]:
    found: dict[int, list[codec.Event]] = {}
    for batch in log.batches.order_by("sitting", "number", "id"):
        found.setdefault(batch.sitting, []).extend(codec.unpack(bytes(batch.payload), batch.codec))
    return found
