"""Taking in what an editor sends: once, in order, and acknowledged when it is stored for good."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import OuterRef, Subquery

from ...models import LogBatch, Sitting, WritingTask
from .. import codec, incoming
from ..incoming import BadInputError, Batch, RefusedError
from . import holding, tokens


class GapError(RefusedError):
    """A batch came before one that is missing; the facts say which is expected."""

    problem = "gap"


class OtherEventsError(RefusedError):
    """A batch of this number is stored already, with other events."""

    problem = "other"


@dataclass(frozen=True, slots=True)
class Receipt:
    """What the sender is told when its batch is stored."""

    acked: int
    next_event: int
    fenced: bool
    lease_until: datetime | None


def receive(*, token: str, batch: Batch, now: datetime) -> Receipt:
    """Store a batch; when this returns it is committed. The same batch again changes nothing and is answered likewise.

    A batch of a sitting that a later one fenced is stored too: the text goes on elsewhere, but nothing is thrown away.

    Raises
    ------
    BadTokenError, ClosedError, GapError, OtherEventsError, BadInputError
        if it is not stored.
    """
    key = tokens.read(token)
    payload = codec.pack(batch.events)
    with transaction.atomic(durable=True):
        task = holding.hold(key.task)
        if task is None or not holding.grows(task):
            raise holding.ClosedError("Nothing is added to this text any more.")
        # A statement of its own, after the lock: it sees what whoever held the lock before has committed.
        sitting = _sitting(key)
        fenced = sitting.latest > sitting.number  # type: ignore[attr-defined]
        if batch.number < sitting.next_batch:
            next_event = _same_again(sitting, batch, payload)
        else:
            next_event = _append(sitting, batch, payload, now)
            holding.extend_lease(task, now)
            if batch.extent.changes and not fenced and task.finished_at is not None:
                # Finished means that the text has not changed since.
                WritingTask.objects.filter(pk=task.pk).update(finished_at=None)
    return Receipt(batch.number, next_event, fenced, task.lease_until)


def _sitting(key: tokens.Key) -> Sitting:
    later = Sitting.objects.filter(log=OuterRef("log")).order_by("-number").values("number")[:1]
    found = Sitting.objects.annotate(latest=Subquery(later)).filter(pk=key.sitting, log__task=key.task)
    sitting = found.order_by().first()
    if sitting is None:
        raise tokens.BadTokenError("There is no such sitting any more.")
    return sitting


def _append(sitting: Sitting, batch: Batch, payload: bytes, now: datetime) -> int:
    if (batch.number, batch.first) != (sitting.next_batch, sitting.next_event):
        raise GapError(next_batch=sitting.next_batch, next_event=sitting.next_event)
    length = sitting.length + batch.extent.grows
    if batch.extent.needs > sitting.length:
        raise BadInputError(f"a splice lies beyond the end of the text of {sitting.length} characters", where="events")
    if length > incoming.MOST_CHARACTERS:
        raise BadInputError(f"the text would have more than {incoming.MOST_CHARACTERS} characters", where="events")
    count = len(batch.events)
    LogBatch.objects.create(
        log_id=sitting.log_id,
        sitting=sitting.number,
        number=batch.number,
        first_event=batch.first,
        event_count=count,
        codec=codec.CODEC,
        payload=payload,
        digest=codec.digest(payload),
        received_at=now,
    )
    Sitting.objects.filter(pk=sitting.pk).update(
        next_batch=batch.number + 1, next_event=batch.first + count, length=length, last_at=now
    )
    return batch.first + count


def _same_again(sitting: Sitting, batch: Batch, payload: bytes) -> int:
    stored = LogBatch.objects.get(log_id=sitting.log_id, sitting=sitting.number, number=batch.number)
    same = bytes(stored.digest) == codec.digest(payload)
    if not same or stored.first_event != batch.first:
        # Packed by another version of the library, the same events may have other bytes.
        events = codec.unpack(bytes(stored.payload), stored.codec)
        if events != batch.events or stored.first_event != batch.first:
            raise OtherEventsError(f"Batch {batch.number} is stored already, with other events.")
    return stored.first_event + stored.event_count
