"""Storing and reading writing logs."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from ..enums import LogSource
from ..models import LogBatch, WritingLog, WritingTask
from . import codec


@dataclass(frozen=True, slots=True)
class Packed:
    """Consecutive events, packed."""

    count: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class PackedLog:
    """A whole log, packed and ready to be stored."""

    task: WritingTask
    started_at: datetime | None
    batches: tuple[Packed, ...]


def store_packed(logs: Sequence[PackedLog], *, source: LogSource, now: datetime) -> list[WritingLog]:
    """Store whole logs. The caller has made sure that their tasks have none."""
    created = WritingLog.objects.bulk_create(
        [WritingLog(task=log.task, source=source, started_at=log.started_at, created_at=now) for log in logs],
        batch_size=1000,
    )
    rows = (row for log, packed in zip(created, logs, strict=True) for row in _rows(log, packed.batches, now))
    LogBatch.objects.bulk_create(rows, batch_size=500)
    return created


def _rows(log: WritingLog, batches: Iterable[Packed], now: datetime) -> Iterator[LogBatch]:
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


def events(log: WritingLog) -> Iterator[codec.Event]:
    """Yield a log's events in order, a batch at a time."""
    for batch in log.batches.order_by("number", "id").iterator(chunk_size=50):
        yield from codec.unpack(bytes(batch.payload), batch.codec)


def snapshots(log: WritingLog) -> Iterator[tuple[int, str]]:
    """Yield (milliseconds since the start, text) at each change: for imported snapshots, the snapshots themselves."""
    yield from codec.states(events(log))


def text_at(log: WritingLog, ms: int) -> str:
    """Return the text as it was at a moment of a log."""
    return codec.text_at(events(log), ms)


def rebuilt(logs: Iterable[WritingLog]) -> Iterator[tuple[WritingLog, str]]:
    """Yield each log with the text that its events end in."""
    for log in logs:
        yield log, codec.final_text(events(log))
