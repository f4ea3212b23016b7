"""Taking in what an editor sends: once, in order, and acknowledged when it is stored for good."""

from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction

from ...models import LogBatch, Sitting
from .. import codec, incoming
from ..incoming import BadInputError, Batch, RefusedError
from . import holding, tokens

# One statement: the sitting goes on if this is the batch that it waits for and its splices lie within its text, and the
# batch is stored; or neither. The lock was taken before by a statement of its own, so that this one sees what whoever
# held it has committed.
_APPEND = """
    WITH sitting AS (
        UPDATE writing_sitting SET next_batch = %(number)s + 1, next_event = %(first)s + %(count)s,
            length = length + %(grows)s, last_at = %(now)s
        WHERE id = %(sitting)s AND next_batch = %(number)s AND next_event = %(first)s
            AND length >= %(needs)s AND length + %(grows)s <= %(most)s
            AND log_id IN (SELECT id FROM writing_writinglog WHERE task_id = %(task)s)
        RETURNING log_id, number
    )
    INSERT INTO writing_logbatch
        (log_id, sitting, number, first_event, event_count, codec, payload, digest, received_at)
    SELECT log_id, number, %(number)s, %(first)s, %(count)s, %(codec)s, %(payload)s, %(digest)s, %(now)s FROM sitting
    RETURNING EXISTS (
        SELECT FROM writing_sitting later
        WHERE later.log_id = writing_logbatch.log_id AND later.number > writing_logbatch.sitting
    )
"""


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
        if task is None or not task.grows:
            raise holding.ClosedError("Nothing is added to this text any more.")
        fenced = _append(key, batch, payload, now)
        if fenced is None:
            fenced = _known(key, batch, payload)
        else:
            task.extend_lease(now)
            if batch.extent.changes and not fenced:
                task.take_back()
    return Receipt(batch.number, batch.first + len(batch.events), fenced, task.lease_until)


def _append(key: tokens.Key, batch: Batch, payload: bytes, now: datetime) -> bool | None:
    """Store the batch if it is the next one; return whether its sitting is fenced, None if nothing was stored."""
    with connection.cursor() as cursor:
        cursor.execute(
            _APPEND,
            {
                "task": key.task,
                "sitting": key.sitting,
                "number": batch.number,
                "first": batch.first,
                "count": len(batch.events),
                "needs": batch.extent.needs,
                "grows": batch.extent.grows,
                "most": incoming.MOST_CHARACTERS,
                "codec": codec.CODEC,
                "payload": payload,
                "digest": codec.digest(payload),
                "now": now,
            },
        )
        row = cursor.fetchone()
    return row[0] if row else None


def _known(key: tokens.Key, batch: Batch, payload: bytes) -> bool:
    """Return whether the sitting of a batch that is stored already is fenced; refuse one that is not stored."""
    sitting = Sitting.objects.filter(pk=key.sitting, log__task=key.task).first()
    if sitting is None:
        raise tokens.BadTokenError("There is no such sitting any more.")
    if batch.number < sitting.next_batch:
        _compare(sitting, batch, payload)
        return Sitting.objects.filter(log=sitting.log_id, number__gt=sitting.number).exists()
    if (batch.number, batch.first) != (sitting.next_batch, sitting.next_event):
        raise GapError(next_batch=sitting.next_batch, next_event=sitting.next_event)
    if batch.extent.needs > sitting.length:
        raise BadInputError(f"a splice lies beyond the end of the text of {sitting.length} characters", where="events")
    raise BadInputError(f"the text would have more than {incoming.MOST_CHARACTERS} characters", where="events")


def _compare(sitting: Sitting, batch: Batch, payload: bytes) -> None:
    """Refuse other events than those that are stored under this number."""
    stored = LogBatch.objects.get(log=sitting.log_id, sitting=sitting.number, number=batch.number)
    if stored.first_event == batch.first:
        if bytes(stored.digest) == codec.digest(payload):
            return
        # Packed by another version of the library, the same events may have other bytes.
        if codec.unpack(bytes(stored.payload), stored.codec) == batch.events:
            return
    raise OtherEventsError(f"Batch {batch.number} is stored already, with other events.")
