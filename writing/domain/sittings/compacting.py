"""Many small batches become few large ones when nothing is added any more: the same events in a tenth of the room."""

import logging
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby

from django.db import transaction
from django.db.models import Count, Max, Q

from ...enums import LogSource, TaskState
from ...models import LogBatch, Sitting, WritingLog
from .. import codec
from . import holding, tokens

# So many events in a row of their own: far below what is unpacked at once, far above any response's log.
MOST_EVENTS = 200_000
AT_ONCE = 50
log_ = logging.getLogger(__name__)


@transaction.atomic
def compact(log: WritingLog, now: datetime) -> int:
    """Merge a log's batches, each sitting for itself; return how many rows there are fewer.

    The caller says that nothing will be added: the task was submitted, or no token of its sittings is valid any more.
    Events, their numbers and their order stay. Called again it changes nothing.

    Raises
    ------
    codec.BrokenLog
        if a batch cannot be read; nothing is changed then.
    """
    holding.hold(log.task_id)
    rows = list(log.batches.order_by("sitting", "number"))
    saved = 0
    for sitting, found in groupby(rows, key=lambda row: row.sitting):
        saved += _merge(log, sitting, list(found))
    return saved


def compact_abandoned(*, now: datetime, at_once: int = AT_ONCE) -> int:
    """Compact logs to which nothing is added any more, some at a time; return how many."""
    many = Count("batches__pk", distinct=True) - Count("batches__sitting", distinct=True)
    # A returned task's log still grows as long as a token of its sittings is valid.
    is_over = ~Q(task__state__in=holding.GROWING) | (
        Q(task__state=TaskState.RETURNED) & Q(opened__lt=now - tokens.VALID_FOR)
    )
    logs = WritingLog.objects.filter(source=LogSource.EDITOR).annotate(opened=Max("sittings__opened_at"), many=many)
    found = logs.filter(is_over, many__gt=0).order_by("id")[:at_once]
    done = 0
    for log in found:
        try:
            done += compact(log, now) > 0
        except codec.BrokenLog:
            log_.exception("The log of writing task %s cannot be read", log.task_id)
    return done


def _merge(log: WritingLog, sitting: int, rows: Sequence[LogBatch]) -> int:
    merged = list(_merged(rows))
    if len(merged) >= len(rows):
        return 0
    LogBatch.objects.filter(pk__in=[row.pk for row in rows]).delete()
    LogBatch.objects.bulk_create(merged)
    Sitting.objects.filter(log=log, number=sitting).update(next_batch=len(merged))
    return len(rows) - len(merged)


def _merged(rows: Sequence[LogBatch]) -> Iterator[LogBatch]:
    """Yield rows with the same events; each was received when the last of its parts was."""
    for number, part in enumerate(_parts(rows)):
        events = [event for row in part for event in codec.unpack(bytes(row.payload), row.codec)]
        payload = codec.pack(events, level=codec.SMALLEST)
        if codec.unpack(payload) != events or len(events) != sum(row.event_count for row in part):
            raise codec.BrokenLog("The events of a log are not what its batches say that they are.")
        yield LogBatch(
            log_id=part[0].log_id,
            sitting=part[0].sitting,
            number=number,
            first_event=part[0].first_event,
            event_count=len(events),
            codec=codec.CODEC,
            payload=payload,
            digest=codec.digest(payload),
            received_at=part[-1].received_at,
        )


def _parts(rows: Sequence[LogBatch]) -> Iterator[list[LogBatch]]:
    part: list[LogBatch] = []
    for row in rows:
        if part and sum(each.event_count for each in part) + row.event_count > MOST_EVENTS:
            yield part
            part = []
        part.append(row)
    if part:
        yield part
