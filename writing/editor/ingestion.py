"""Store batches of editor events: once, in order, and acknowledged after the commit.

When a log is complete, many small batches are merged into few large ones: the same events in a tenth of the rows.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from django.db import transaction
from django.db.models import Count, Max, Q
from psycopg.types.numeric import Int8

from crowdrag import prepared_statements

from ..assignments import leases
from ..enums import LONGEST_TEXT, LogSource, TaskState
from ..models import EditingSession, LogBatch, WritingLog
from . import codec, sessions
from .event_validation import BadInputError, Batch, RefusedError

# One prepared statement that commits by itself: batches are so frequent that each round trip and each query built by
# the ORM matters. Each table is accessed by a key, so the prepared plan does not depend on table sizes. The task's row
# is the lock. After waiting for it, the statement reads the newest versions of the task's and session's rows, so it
# sees a submission or a later session that was committed meanwhile.
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
    ), session AS (
        UPDATE writing_editingsession SET next_batch = next_batch + 1, next_event = next_event + %(count)s,
            length = length + %(grows)s, last_at = %(now)s
        FROM task
        WHERE writing_editingsession.id = %(session)s AND next_batch = %(number)s AND next_event = %(first)s
            AND length >= %(needs)s AND length + %(grows)s <= %(most)s
        RETURNING log_id, number, superseded_at IS NOT NULL AS is_fenced, task.state, task.lease_until, task.lease_hours
    ), batch AS (
        INSERT INTO writing_logbatch
            (log_id, session, number, first_event, event_count, codec, payload, digest, received_at)
        SELECT log_id, number, %(number)s, %(first)s, %(count)s, %(codec)s, %(payload)b, %(digest)b, %(now)s
        FROM session
    )
    SELECT state, lease_until, lease_hours, is_fenced FROM session
"""


# A PostgreSQL array literal, so that the driver does not convert a list for each batch.
_GROWING = "{" + ",".join(state.value for state in sessions.GROWING) + "}"


class GapError(RefusedError):
    """An earlier batch is missing; the facts contain the expected number."""

    problem = "gap"


class OtherEventsError(RefusedError):
    """A batch with this number is already stored, but with other events."""

    problem = "other"


@dataclass(frozen=True, slots=True)
class Receipt:
    """The acknowledgement of a stored batch."""

    acked: int
    next_event: int
    fenced: bool
    lease_until: datetime | None


def receive(*, token: str, batch: Batch, now: datetime) -> Receipt:
    """Store and commit a batch. Idempotent: the same batch again has no effect and gets the same answer.

    Batches of fenced sessions are also stored, so that no text is lost, but they do not change the current text.

    Raises
    ------
    BadTokenError, ClosedError, GapError, OtherEventsError, BadInputError
        If the batch is not stored.
    """
    key = sessions.read_token(token)
    payload = codec.pack(batch.events)
    stored = _append(key, batch, payload, now, changes=batch.extent.changes)
    if stored is not None:
        task, fenced = stored
        leases.renew(task, now=now)
        return _receipt(batch, task, fenced)
    return _look_closer(key, batch, payload, now)


@transaction.atomic(durable=True)
def _look_closer(key: sessions.TokenKey, batch: Batch, payload: bytes, now: datetime) -> Receipt:
    """Find out why a batch was not stored at once: it is a repetition, is rejected, or changes a finished text."""
    task = sessions.lock_task(key.task)
    if task is None or not task.grows:
        raise sessions.ClosedError("Nothing is added to this text any more.")
    session = EditingSession.objects.filter(pk=key.session, log__task=key.task).first()
    if session is None:
        raise sessions.BadTokenError("There is no such session any more.")
    fenced = session.superseded_at is not None
    if batch.number < session.next_batch:
        _compare(session, batch, payload)
        return _receipt(batch, task, fenced)
    _check_place(session, batch)
    if batch.extent.changes and not fenced:
        task.take_back()
    if _append(key, batch, payload, now, changes=False) is None:
        raise sessions.ClosedError("The writer withdrew in this moment.")
    leases.renew(task, now=now)
    return _receipt(batch, task, fenced)


def _receipt(batch: Batch, task: sessions.LockedTask, fenced: bool) -> Receipt:
    return Receipt(batch.number, batch.first + len(batch.events), fenced, task.lease_until)


def _append(
    key: sessions.TokenKey, batch: Batch, payload: bytes, now: datetime, *, changes: bool
) -> tuple[sessions.LockedTask, bool] | None:
    """Store a batch if it is the next one, and return whether its session is fenced; None if nothing was stored.

    If the task is finished, a batch that `changes` the text is not stored.
    """
    with prepared_statements.cursor() as cursor:
        cursor.execute(
            _APPEND,
            {
                "task": Int8(key.task),
                "growing": _GROWING,
                "changes": changes,
                "session": Int8(key.session),
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
    return sessions.LockedTask(key.task, state, lease_until, lease_hours), is_fenced


def _check_place(session: EditingSession, batch: Batch) -> None:
    """Reject a batch that is not the next one, or whose splices are outside the text."""
    if (batch.number, batch.first) != (session.next_batch, session.next_event):
        raise GapError(next_batch=session.next_batch, next_event=session.next_event)
    if batch.extent.needs > session.length:
        raise BadInputError(f"a splice lies beyond the end of the text of {session.length} characters", where="events")
    if session.length + batch.extent.grows > LONGEST_TEXT:
        raise BadInputError(f"the text would have more than {LONGEST_TEXT} characters", where="events")


def _compare(session: EditingSession, batch: Batch, payload: bytes) -> None:
    """Reject a batch whose events differ from those stored with its number."""
    stored = LogBatch.objects.get(log=session.log_id, session=session.number, number=batch.number)
    if stored.first_event == batch.first:
        if bytes(stored.digest) == codec.digest(payload):
            return
        # Another version of the library may pack the same events to other bytes.
        if codec.unpack(bytes(stored.payload), stored.codec) == batch.events:
            return
    raise OtherEventsError(f"Batch {batch.number} is stored already, with other events.")


# The most events in one row: small enough to unpack at once, but more than any response's log has.
MOST_EVENTS = 200_000
AT_ONCE = 50
log_ = logging.getLogger(__name__)


@transaction.atomic
def compact(log: WritingLog, now: datetime) -> int:
    """Merge the batches of each session of a log; return the number of rows saved.

    The caller must ensure that nothing will be added: the task was submitted, or all tokens of its sessions have
    expired. Events, their numbers and their order stay the same. Idempotent.

    Raises
    ------
    codec.BrokenLog
        If a batch cannot be read; then nothing is changed.
    """
    sessions.lock_task(log.task_id)
    rows = list(log.batches.order_by("session", "number"))
    saved = 0
    for session, batches in groupby(rows, key=lambda row: row.session):
        saved += _merge(log, session, list(batches))
    return saved


def compact_abandoned(*, now: datetime, at_once: int = AT_ONCE) -> int:
    """Compact up to `at_once` logs to which nothing will be added; return their number."""
    many = Count("batches__pk", distinct=True) - Count("batches__session", distinct=True)
    # The log of a returned task may grow as long as a token of its sessions is valid.
    is_over = ~Q(task__state__in=sessions.GROWING) | (
        Q(task__state=TaskState.RETURNED) & Q(opened__lt=now - sessions.VALID_FOR)
    )
    logs = WritingLog.objects.filter(source=LogSource.EDITOR).annotate(opened=Max("sessions__opened_at"), many=many)
    logs_left = logs.filter(is_over, many__gt=0).order_by("id")[:at_once]
    done = 0
    for log in logs_left:
        try:
            done += compact(log, now) > 0
        except codec.BrokenLog:
            log_.exception("The log of writing task %s cannot be read", log.task_id)
    return done


def _merge(log: WritingLog, session: int, rows: Sequence[LogBatch]) -> int:
    merged = list(_merged(rows))
    if len(merged) >= len(rows):
        return 0
    LogBatch.objects.filter(pk__in=[row.pk for row in rows]).delete()
    LogBatch.objects.bulk_create(merged)
    EditingSession.objects.filter(log=log, number=session).update(next_batch=len(merged))
    return len(rows) - len(merged)


def _merged(rows: Sequence[LogBatch]) -> Iterator[LogBatch]:
    """Yield merged rows with the same events; each has the receipt time of its last part."""
    for number, part in enumerate(_parts(rows)):
        events = [event for row in part for event in codec.unpack(bytes(row.payload), row.codec)]
        payload = codec.pack(events, level=codec.SMALLEST)
        if codec.unpack(payload) != events or len(events) != sum(row.event_count for row in part):
            raise codec.BrokenLog("The events of a log are not what its batches say that they are.")
        yield LogBatch(
            log_id=part[0].log_id,
            session=part[0].session,
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
