"""Opening the editor: a new sitting that goes on where the last one stands, and fences it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from ...enums import LogSource
from ...models import LogBatch, Sitting, WritingLog, WritingTask
from .. import codec
from ..tasks import steps
from . import holding, tokens
from .chains import Chain, chain

RESTORED = "restored"


@dataclass(frozen=True, slots=True)
class Other:
    """A text that an earlier sitting went on with after it was fenced; the writer may want something of it."""

    sitting: int
    text: str


@dataclass(frozen=True, slots=True)
class Opened:
    """What an editor that was opened needs to know."""

    sitting: Sitting
    token: str
    text: str
    elapsed: int
    lease_until: datetime | None
    others: list[Other]


def open(*, task: WritingTask, device: Mapping[str, Any], now: datetime) -> Opened:  # noqa: A001
    """Open the editor on a task: the log is begun or gone on with, earlier sittings are fenced.

    The task is no longer finished, if it was. `device` is what the editor said of itself; it records that itself, as
    its first event.

    Raises
    ------
    ClosedError
        if the task is not being written, or if something has to come first.
    """
    with transaction.atomic(durable=True):
        held = holding.hold(task.pk)
        if held is None or not held.is_being_written or not _is_ready(task):
            raise holding.ClosedError("This text is not being written at present.")
        log, _made = WritingLog.objects.get_or_create(
            task_id=held.pk, defaults={"source": LogSource.EDITOR, "started_at": now, "created_at": now}
        )
        earlier = list(log.sittings.order_by("number"))
        given = "" if earlier else WritingTask.objects.values_list("draft", flat=True).get(pk=held.pk)
        if given:
            earlier.append(_carry_over(log, given, now))
        base = earlier[-1] if earlier else None
        log.sittings.filter(fenced_at=None).update(fenced_at=now)
        sitting = Sitting.objects.create(
            log=log,
            number=base.number + 1 if base else 0,
            base=base,
            base_events=base.next_event if base else 0,
            length=base.length if base else 0,
            opened_at=now,
            last_at=now,
        )
        held.extend_lease(now)
        held.take_back()
        found = chain(log)
    text, others = _state(found)
    return Opened(
        sitting=sitting,
        token=tokens.issue(sitting, held.pk),
        text=text,
        elapsed=_elapsed(log, found, now),
        lease_until=held.lease_until,
        others=others,
    )


def _is_ready(task: WritingTask) -> bool:
    """Say whether all that comes before writing is done."""
    return steps.due(task) in (steps.Step.WRITE, steps.Step.EXIT)


def _carry_over(log: WritingLog, text: str, now: datetime) -> Sitting:
    """Record the text that a task was given (a revision's, say) as the log's first sitting, made by the server."""
    payload = codec.pack([[codec.SPLICE, 0, 0, 0, text, RESTORED, ""]])
    LogBatch.objects.create(
        log=log,
        number=0,
        first_event=0,
        event_count=1,
        codec=codec.CODEC,
        payload=payload,
        digest=codec.digest(payload),
        received_at=now,
    )
    return Sitting.objects.create(
        log=log, number=0, next_batch=1, next_event=1, length=len(text), opened_at=now, last_at=now
    )


def _state(found: Chain) -> tuple[str, list[Other]]:
    """Return the text, and the branches' texts that the writer has not taken over since."""
    replay, taken = codec.Replay(), set()
    for _sitting, _number, event in found.events:
        if replay.apply(event) and _is_restored(event):
            taken.add(replay.text)
    wrote = [each for each in found.branches if any(event[0] == codec.SPLICE for event in each.events)]
    others = [Other(each.sitting, each.text) for each in wrote if each.text not in {replay.text, *taken}]
    return replay.text, others


def _is_restored(splice: Sequence[Any]) -> bool:
    return len(splice) > 5 and splice[5] == RESTORED


def _elapsed(log: WritingLog, found: Chain, now: datetime) -> int:
    """Return the log's time, in milliseconds: the clock's, but never before what is recorded already."""
    latest = max((placed.event[1] for placed in found.events), default=0)
    since = (now - log.started_at) // timedelta(milliseconds=1) if log.started_at else 0
    return max(since, latest)
