"""Store and read writing logs: the main log and its branches."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from analysis.writing_process import pace

from ..enums import LogSource
from ..models import LogBatch, WritingLog, WritingTask
from . import codec


@dataclass(frozen=True, slots=True)
class PackedEvents:
    """Consecutive events, packed."""

    count: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class PackedLog:
    """A whole log, packed and ready to be stored."""

    task: WritingTask
    started_at: datetime | None
    batches: tuple[PackedEvents, ...]


def store_packed(logs: Sequence[PackedLog], *, source: LogSource, now: datetime) -> list[WritingLog]:
    """Store whole logs. The caller has made sure that their tasks have none."""
    created = WritingLog.objects.bulk_create(
        [WritingLog(task=log.task, source=source, started_at=log.started_at, created_at=now) for log in logs],
        batch_size=1000,
    )
    rows = (row for log, packed in zip(created, logs, strict=True) for row in _rows(log, packed.batches, now))
    LogBatch.objects.bulk_create(rows, batch_size=500)
    _measure(logs)
    return created


def _measure(logs: Sequence[PackedLog]) -> None:
    """Note how long each task took, as it is noted of what is written here."""
    for log in logs:
        activity = pace.activity(event for batch in log.batches for event in codec.unpack(batch.payload))
        log.task.seconds = None if math.isnan(activity.seconds) else activity.seconds
        log.task.active_seconds = None if math.isnan(activity.active_seconds) else activity.active_seconds
    WritingTask.objects.bulk_update([log.task for log in logs], ["seconds", "active_seconds"], batch_size=500)


def _rows(log: WritingLog, batches: Iterable[PackedEvents], now: datetime) -> Iterator[LogBatch]:
    first = 0
    for number, batch in enumerate(batches):
        yield LogBatch(
            log=log,
            number=number,
            first_event=first,
            event_count=batch.count,
            codec=codec.CODEC,
            payload=batch.payload,
            digest=codec.digest(batch.payload),
            received_at=now,
        )
        first += batch.count


def session_ends(log: WritingLog) -> dict[int, int | None]:
    """Return the sessions that lead to a log's text, each with how many of its events do; None: all of them.

    The text is the latest session's. It began with what some events of an earlier one had made, and so on. What that
    one sent beyond is a branch. What was imported has one session, 0, and no row of it.
    """
    sessions = {session.pk: session for session in log.sessions.all()} if log.source == LogSource.EDITOR else {}
    if not sessions:
        return {0: None}
    session = max(sessions.values(), key=lambda each: each.number)
    ends: dict[int, int | None] = {session.number: None}
    while session.base_id is not None:
        base = sessions[session.base_id]
        ends[base.number] = session.base_events
        session = base
    return ends


def events(log: WritingLog) -> Iterator[codec.Event]:
    """Yield the events that lead to a log's text, in order, a batch at a time. Branches are left out."""
    until = session_ends(log)
    for batch in log.batches.filter(session__in=until).order_by("session", "number", "id").iterator(chunk_size=50):
        last = until[batch.session]
        if last is None:
            yield from codec.unpack(bytes(batch.payload), batch.codec)
        elif batch.first_event < last:
            yield from islice(codec.unpack(bytes(batch.payload), batch.codec), last - batch.first_event)


def prefetched_events(log: WritingLog) -> Iterator[codec.Event]:
    """Yield the same events without a query, where a log's batches and sessions were fetched along."""
    until = session_ends(log)
    for batch in sorted(log.batches.all(), key=lambda each: (each.session, each.number)):
        last = until.get(batch.session, 0)
        if last is None or batch.first_event < last:
            unpacked = codec.unpack(bytes(batch.payload), batch.codec)
            yield from unpacked if last is None else unpacked[: last - batch.first_event]


def snapshots(log: WritingLog) -> Iterator[tuple[int, str]]:
    """Yield (milliseconds since the start, text) at each change: for imported snapshots, the snapshots themselves."""
    yield from codec.states(events(log))


def text_at(log: WritingLog, ms: int) -> str:
    """Return the text as it was at a moment of a log."""
    return codec.text_at(events(log), ms)


def rebuild_texts(logs: Iterable[WritingLog]) -> Iterator[tuple[WritingLog, str]]:
    """Yield each log with the text that its events end in."""
    for log in logs:
        yield log, codec.final_text(events(log))


def log_of(task: WritingTask) -> WritingLog | None:
    """Return a task's log; None where the editor was never opened."""
    return WritingLog.objects.filter(task=task).first()


def current_text(task: WritingTask) -> str:
    """Return a task's text as its log has it: what every acknowledged event of the latest session led to.

    Where there is no log, the text that it was given.
    """
    log = log_of(task)
    return task.draft if log is None else codec.final_text(events(log))


class PlacedEvent(NamedTuple):
    """An event with its place in the record: its session, and its number there."""

    session: int
    number: int
    event: codec.Event


@dataclass(frozen=True, slots=True)
class Branch:
    """What a session sent after the text had gone on elsewhere: its events from `first` on, and its whole text."""

    session: int
    first: int
    events: list[codec.Event]
    text: str


@dataclass(frozen=True, slots=True)
class SessionHistory:
    """The events that make the text, in order, and what lies beside them."""

    events: list[PlacedEvent]
    branches: list[Branch]


def session_history(log: WritingLog) -> SessionHistory:
    """Return a log's events in the order in which they made the text, and its branches."""
    stored = _by_session(log)
    ends = session_ends(log)
    line: list[PlacedEvent] = []
    branches: list[Branch] = []
    # What the line has when a session begins is what the session began with.
    for session, until in sorted(ends.items()):
        events = stored.get(session, [])
        before = [placed.event for placed in line]
        line += [PlacedEvent(session, i, event) for i, event in enumerate(islice(events, until))]
        if until is not None and events[until:]:
            branches.append(Branch(session, until, events[until:], codec.final_text([*before, *events])))
    return SessionHistory(line, branches)


def _by_session(log: WritingLog) -> dict[int, list[codec.Event]]:
    events_by_session: dict[int, list[codec.Event]] = {}
    for batch in log.batches.order_by("session", "number", "id"):
        events_by_session.setdefault(batch.session, []).extend(codec.unpack(bytes(batch.payload), batch.codec))
    return events_by_session
