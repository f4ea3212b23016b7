"""Taking in what an editor sends: once, in order, and acknowledged when it is stored for good."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from psycopg.types.numeric import Int8

from crowdrag import prepared_statements

from ...enums import LONGEST_TEXT
from ...models import LogBatch, Sitting
from .. import codec
from ..incoming import BadInputError, Batch, RefusedError
from . import holding, tokens

# All of it in one statement, which commits by itself: this comes so often that each round trip and each query that the
# ORM puts together counts; so the database keeps it prepared. Each table is entered by a key, whatever was known of its
# size when that was done. The task's row is the lock. Whoever waited for it looks at the newest versions of the rows
# of task and sitting; so a submission or a later sitting that was committed meanwhile is seen.
_APPEND = """
    WITH task AS (
        SELECT task.id, task.state, task.lease_until,
            (SELECT lease_hours FROM writing_writingplan plan WHERE plan.study_id = task.study_id) AS lease_hours
        FROM writing_writingtask task
        WHERE task.id = %(task)s AND task.state = ANY(%(growing)s::text[])
            AND (task.finished_at IS NULL OR NOT %(changes)s)
            AND (
                SELECT person.withdrawn_at IS NULL AND person.erased_at IS NULL
                FROM studies_participant person WHERE person.id = task.participant_id
            )
        FOR NO KEY UPDATE OF task
    ), sitting AS (
        UPDATE writing_sitting SET next_batch = next_batch + 1, next_event = next_event + %(count)s,
            length = length + %(grows)s, last_at = %(now)s
        FROM task
        WHERE writing_sitting.id = %(sitting)s AND next_batch = %(number)s AND next_event = %(first)s
            AND length >= %(needs)s AND length + %(grows)s <= %(most)s
        RETURNING log_id, number, fenced_at IS NOT NULL AS is_fenced, task.state, task.lease_until, task.lease_hours
    ), batch AS (
        INSERT INTO writing_logbatch
            (log_id, sitting, number, first_event, event_count, codec, payload, digest, received_at)
        SELECT log_id, number, %(number)s, %(first)s, %(count)s, %(codec)s, %(payload)b, %(digest)b, %(now)s
        FROM sitting
    )
    SELECT state, lease_until, lease_hours, is_fenced FROM sitting
"""


# As the database writes an array: the driver would put a list together anew for every batch.
_GROWING = "{" + ",".join(state.value for state in holding.GROWING) + "}"


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
    stored = _append(key, batch, payload, now, changes=batch.extent.changes)
    if stored is not None:
        task, fenced = stored
        task.extend_lease(now)
        return _receipt(batch, task, fenced)
    return _look_closer(key, batch, payload, now)


@transaction.atomic(durable=True)
def _look_closer(key: tokens.Key, batch: Batch, payload: bytes, now: datetime) -> Receipt:
    """Find out why a batch was not stored at once: it was before, it must not be, or it changes a finished text."""
    task = holding.hold(key.task)
    if task is None or not task.grows:
        raise holding.ClosedError("Nothing is added to this text any more.")
    sitting = Sitting.objects.filter(pk=key.sitting, log__task=key.task).first()
    if sitting is None:
        raise tokens.BadTokenError("There is no such sitting any more.")
    fenced = sitting.fenced_at is not None
    if batch.number < sitting.next_batch:
        _compare(sitting, batch, payload)
        return _receipt(batch, task, fenced)
    _check_place(sitting, batch)
    if batch.extent.changes and not fenced:
        task.take_back()
    if _append(key, batch, payload, now, changes=False) is None:
        raise holding.ClosedError("The writer withdrew in this moment.")
    task.extend_lease(now)
    return _receipt(batch, task, fenced)


def _receipt(batch: Batch, task: holding.Held, fenced: bool) -> Receipt:
    return Receipt(batch.number, batch.first + len(batch.events), fenced, task.lease_until)


def _append(
    key: tokens.Key, batch: Batch, payload: bytes, now: datetime, *, changes: bool
) -> tuple[holding.Held, bool] | None:
    """Store a batch if it is the next one, and say whether its sitting is fenced; None if nothing was stored.

    What `changes` the text is not stored where the task is finished.
    """
    with prepared_statements.cursor() as cursor:
        cursor.execute(
            _APPEND,
            {
                "task": Int8(key.task),
                "growing": _GROWING,
                "changes": changes,
                "sitting": Int8(key.sitting),
                "number": Int8(batch.number),
                "first": Int8(batch.first),
                "count": Int8(len(batch.events)),
                "needs": Int8(batch.extent.needs),
                "grows": Int8(batch.extent.grows),
                "most": Int8(LONGEST_TEXT),
                "codec": codec.CODEC,
                "payload": payload,
                "digest": codec.digest(payload),
                "now": now,
            },
        )
        row = cursor.fetchone()
    if row is None:
        return None
    state, lease_until, lease_hours, is_fenced = row
    return holding.Held(key.task, state, lease_until, lease_hours), is_fenced


def _check_place(sitting: Sitting, batch: Batch) -> None:
    """Refuse a batch that is not the next one, or whose splices are of no text that there is."""
    if (batch.number, batch.first) != (sitting.next_batch, sitting.next_event):
        raise GapError(next_batch=sitting.next_batch, next_event=sitting.next_event)
    if batch.extent.needs > sitting.length:
        raise BadInputError(f"a splice lies beyond the end of the text of {sitting.length} characters", where="events")
    if sitting.length + batch.extent.grows > LONGEST_TEXT:
        raise BadInputError(f"the text would have more than {LONGEST_TEXT} characters", where="events")


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
