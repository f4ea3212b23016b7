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
    """A whole packed log, ready to be stored."""

    task: WritingTask
    started_at: datetime | None
    batches: tuple[PackedEvents, ...]


def store_packed(logs: Sequence[PackedLog], *, source: LogSource, now: datetime) -> list[WritingLog]:
    """Store whole logs. The caller must ensure that their tasks have no logs yet."""
    created = WritingLog.objects.bulk_create(
        [WritingLog(task=log.task, source=source, started_at=log.started_at, created_at=now) for log in logs],
        batch_size=1000,
    )
    rows = (row for log, packed in zip(created, logs, strict=True) for row in _rows(log, packed.batches, now))
    LogBatch.objects.bulk_create(rows, batch_size=500)
    _measure(logs)
    return created


def _measure(logs: Sequence[PackedLog]) -> None:
    """Record the duration of each task, as for tasks written in the editor."""
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
    """Return the sessions of a log's text, each with the number of events that belong to it; None means all.

    The text is that of the latest session. Each session starts after some events of an earlier one; further events of
    the earlier one are a branch. Imported logs have only session 0, without a row.
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
    """Yield the events of a log's text in order, without branches. Only one batch at a time is unpacked."""
    until = session_ends(log)
    for batch in log.batches.filter(session__in=until).order_by("session", "number", "id").iterator(chunk_size=50):
        last = until[batch.session]
        if last is None:
            yield from codec.unpack(bytes(batch.payload), batch.codec)
        elif batch.first_event < last:
            yield from islice(codec.unpack(bytes(batch.payload), batch.codec), last - batch.first_event)


def prefetched_events(log: WritingLog) -> Iterator[codec.Event]:
    """Yield the same events without a query if the log's batches and sessions were prefetched."""
    until = session_ends(log)
    for batch in sorted(log.batches.all(), key=lambda each: (each.session, each.number)):
        last = until.get(batch.session, 0)
        if last is None or batch.first_event < last:
            unpacked = codec.unpack(bytes(batch.payload), batch.codec)
            yield from unpacked if last is None else unpacked[: last - batch.first_event]


def snapshots(log: WritingLog) -> Iterator[tuple[int, str]]:
    """Yield (milliseconds since the start, text) at each change; for an imported log, these are its snapshots."""
    yield from codec.states(events(log))


def text_at(log: WritingLog, ms: int) -> str:
    """Return the text at a time, in milliseconds since the start of the log."""
    return codec.text_at(events(log), ms)


def rebuild_texts(logs: Iterable[WritingLog]) -> Iterator[tuple[WritingLog, str]]:
    """Yield each log with its final text."""
    for log in logs:
        yield log, codec.final_text(events(log))


def log_of(task: WritingTask) -> WritingLog | None:
    """Return a task's log; None if the editor was never opened."""
    return WritingLog.objects.filter(task=task).first()


def current_text(task: WritingTask) -> str:
    """Return a task's text after all acknowledged events of the latest session.

    Without a log, return its initial text.
    """
    log = log_of(task)
    return task.draft if log is None else codec.final_text(events(log))


class PlacedEvent(NamedTuple):
    """An event with its session and its number in the session."""

    session: int
    number: int
    event: codec.Event


@dataclass(frozen=True, slots=True)
class Branch:
    """The events of a session after the text continued in another one (from `first`), and the session's text."""

    session: int
    first: int
    events: list[codec.Event]
    text: str


@dataclass(frozen=True, slots=True)
class SessionHistory:
    """The events of the text in order, and the branches."""

    events: list[PlacedEvent]
    branches: list[Branch]


def session_history(log: WritingLog) -> SessionHistory:
    """Return the events of a log's text in order, and its branches."""
    stored = _by_session(log)
    ends = session_ends(log)
    line: list[PlacedEvent] = []
    branches: list[Branch] = []
    # A session starts from the text of all events collected before it.
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
