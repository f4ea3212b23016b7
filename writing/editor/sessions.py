"""Editing sessions: open, renew the token, and finish.

The row of the task is the lock for all changes to its log. A new session continues from the state of the last one and
fences it: later events of the fenced session no longer change the text.
"""

import hashlib
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.core import signing
from django.db import connection, transaction

from ..assignments import leases, steps
from ..enums import LogSource, TaskState
from ..models import EditingSession, LogBatch, WritingLog, WritingTask
from . import codec, logs
from .event_validation import Finish, RefusedError
from .logs import SessionHistory, session_history

# Longer than any claim, so that text typed offline can still be sent weeks later.
VALID_FOR = timedelta(days=30)
SALT = "writing.session"


class BadTokenError(RefusedError):
    """The token is invalid or expired; the editor opens a new session."""

    problem = "token"


@dataclass(frozen=True, slots=True)
class TokenKey:
    """The content of a token."""

    task: int
    session: int


def issue_token(session: EditingSession, task: int) -> str:
    """Return a signed token for a session of this task."""
    return signing.dumps([task, session.pk], salt=SALT)


def read_token(token: str) -> TokenKey:
    """Return the content of a token.

    Raises
    ------
    BadTokenError
        If the signature is invalid, or the token is older than `VALID_FOR`.
    """
    try:
        task, session = signing.loads(token, salt=SALT, max_age=VALID_FOR)
    except signing.BadSignature as error:
        raise BadTokenError("This token is not valid or has expired.") from error
    return TokenKey(task, session)


# In these states, a task's log accepts events. `RETURNED` is included so that text typed before the end of a lease is
# not lost.
GROWING = (TaskState.CLAIMED, TaskState.RETURNED)

_HOLD = """
    SELECT task.state, task.lease_until, plan.lease_hours, task.finished_at,
        person.id IS NULL OR person.withdrawn_at IS NOT NULL OR person.erased_at IS NOT NULL
    FROM writing_writingtask task
    LEFT JOIN studies_participant person ON person.id = task.participant_id
    LEFT JOIN writing_writingplan plan ON plan.study_id = task.study_id
    WHERE task.id = %s FOR NO KEY UPDATE OF task
"""


class ClosedError(RefusedError):
    """The task cannot be written now: it was submitted, returned or withdrawn, or another step comes first."""

    problem = "closed"


@dataclass(slots=True)
class LockedTask:
    """The state of a task whose row is locked. Meanwhile, nothing else can open, extend or submit it."""

    pk: int
    state: str
    lease_until: datetime | None
    lease_hours: int | None
    finished_at: datetime | None = None
    has_left: bool = False

    @property
    def is_being_written(self) -> bool:
        """Whether its writer may open it."""
        return self.state == TaskState.CLAIMED and not self.has_left

    @property
    def grows(self) -> bool:
        """Whether the log accepts events: never after the writer withdrew."""
        return self.state in GROWING and not self.has_left

    def take_back(self) -> None:
        """Clear `finished_at`: a finished text must not change, so the writer must finish it again."""
        if self.finished_at is not None:
            self.finished_at = None
            WritingTask.objects.filter(pk=self.pk).update(finished_at=None)


def lock_task(pk: int) -> LockedTask | None:
    """Lock a task's row and return its state; None if it does not exist. Other rows may still refer to it."""
    with connection.cursor() as cursor:
        cursor.execute(_HOLD, [pk])
        row = cursor.fetchone()
    if row is None:
        return None
    return LockedTask(pk, *row)


RESTORED = "restored"


@dataclass(frozen=True, slots=True)
class DivergedText:
    """A text of an earlier session with changes after it was fenced. The writer may want to keep parts of it."""

    session: int
    text: str


@dataclass(frozen=True, slots=True)
class SessionStart:
    """The data that the editor needs when it opens."""

    session: EditingSession
    token: str
    text: str
    elapsed: int
    lease_until: datetime | None
    others: list[DivergedText]


def open_session(*, task: WritingTask, device: Mapping[str, Any], now: datetime) -> SessionStart:
    """Open an editing session on a task: start or continue its log, and fence earlier sessions.

    A finished task becomes unfinished. `device` describes the editor's device; the editor also records it as its
    first event.

    Raises
    ------
    ClosedError
        If the task is not being written, or if another step comes first.
    """
    with transaction.atomic(durable=True):
        held = lock_task(task.pk)
        if held is None or not held.is_being_written or not _is_ready(task):
            raise ClosedError("This text is not open for writing at the moment.")
        log, _made = WritingLog.objects.get_or_create(
            task_id=held.pk, defaults={"source": LogSource.EDITOR, "started_at": now, "created_at": now}
        )
        earlier = list(log.sessions.order_by("number"))
        draft = "" if earlier else WritingTask.objects.values_list("draft", flat=True).get(pk=held.pk)
        if draft:
            earlier.append(_carry_over(log, draft, now))
        base = earlier[-1] if earlier else None
        log.sessions.filter(superseded_at=None).update(superseded_at=now)
        session = EditingSession.objects.create(
            log=log,
            number=base.number + 1 if base else 0,
            base=base,
            base_events=base.next_event if base else 0,
            length=base.length if base else 0,
            opened_at=now,
            last_at=now,
        )
        leases.renew(held, now=now)
        held.take_back()
        history = session_history(log)
    text, others = _state(history)
    return SessionStart(
        session=session,
        token=issue_token(session, held.pk),
        text=text,
        elapsed=_elapsed(log, history, now),
        lease_until=held.lease_until,
        others=others,
    )


def _is_ready(task: WritingTask) -> bool:
    """Return whether all steps before writing are done."""
    return steps.next_step(task) in (steps.Step.WRITE, steps.Step.EXIT)


def _carry_over(log: WritingLog, text: str, now: datetime) -> EditingSession:
    """Record the initial text of a task (for example of a revision) as session 0, which the server creates."""
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
    return EditingSession.objects.create(
        log=log, number=0, next_batch=1, next_event=1, length=len(text), opened_at=now, last_at=now
    )


def _state(history: SessionHistory) -> tuple[str, list[DivergedText]]:
    """Return the text, and the texts of branches that the writer has not restored."""
    replay, taken = codec.Replay(), set()
    for _session, _number, event in history.events:
        if replay.apply(event) and _is_restored(event):
            taken.add(replay.text)
    wrote = [each for each in history.branches if any(event[0] == codec.SPLICE for event in each.events)]
    others = [DivergedText(each.session, each.text) for each in wrote if each.text not in {replay.text, *taken}]
    return replay.text, others


def _is_restored(splice: Sequence[Any]) -> bool:
    return len(splice) > 5 and splice[5] == RESTORED


def _elapsed(log: WritingLog, history: SessionHistory, now: datetime) -> int:
    """Return the log's time in milliseconds by the clock, but at least that of the latest event."""
    latest = max((placed.event[1] for placed in history.events), default=0)
    since = (now - log.started_at) // timedelta(milliseconds=1) if log.started_at else 0
    return max(since, latest)


class UnknownError(RefusedError):
    """The task has no such session."""

    problem = "unknown"


@dataclass(frozen=True, slots=True)
class TokenRenewal:
    """The data that an editor needs to send its remaining events."""

    session: EditingSession
    token: str
    fenced: bool
    lease_until: datetime | None


def renew_token(*, task: WritingTask, number: int, now: datetime) -> TokenRenewal:
    """Return a new token of a session, for an editor with an expired one. No session is opened or fenced.

    This counts as activity: the lease of a claimed task is extended to the plan's length from now.

    Raises
    ------
    ClosedError
        If the task's log accepts no more events.
    UnknownError
        If there is no such session.
    """
    with transaction.atomic(durable=True):
        held = lock_task(task.pk)
        sessions = list(EditingSession.objects.filter(log__task=task, number__gte=number).order_by("number"))
        if held is not None and held.grows and sessions:
            leases.renew(held, now=now)
    if held is None or not held.grows:
        raise ClosedError("This text no longer accepts changes.")
    if not sessions or sessions[0].number != number:
        raise UnknownError("This task has no such session.")
    token = issue_token(sessions[0], task.pk)
    return TokenRenewal(sessions[0], token, fenced=len(sessions) > 1, lease_until=held.lease_until)


CHECK_SUM = "h"
log_ = logging.getLogger(__name__)


class BehindError(RefusedError):
    """The server lacks some events; the facts contain the number of the next expected one."""

    problem = "behind"


class DiffersError(RefusedError):
    """The text rebuilt from the log differs from the text that the writer sees."""

    problem = "differs"


class FencedError(RefusedError):
    """A later session has fenced this one."""

    problem = "fenced"


def finish(*, task: WritingTask, finished: Finish, now: datetime) -> None:
    """Mark a task's text as finished, and store it as the draft. Idempotent.

    Raises
    ------
    ClosedError, FencedError, BehindError, DiffersError
        If the text differs from the one rebuilt from the log, or cannot be finished now.
    """
    with transaction.atomic(durable=True):
        held = lock_task(task.pk)
        if held is None or not held.is_being_written:
            raise ClosedError("This text is not open for writing at the moment.")
        latest = EditingSession.objects.filter(log__task=held.pk).select_related("log").order_by("-number").first()
        if latest is None or latest.number != finished.session:
            raise FencedError("The text is open elsewhere.")
        if latest.next_event != finished.events:
            raise BehindError(next_event=latest.next_event)
        text, wrong = rebuild_text(logs.events(latest.log))
        if text_digest(text) != finished.digest:
            raise DiffersError("The log rebuilds a different text.")
        if wrong:
            # The final text is correct, so the writer can continue; wrong checksums before are for the operator.
            log_.warning("Task %s: %s check sums of its log do not fit.", task.external_id, wrong)
        if held.finished_at is None:
            WritingTask.objects.filter(pk=held.pk).update(finished_at=now, draft=text)


def rebuild_text(events: Iterable[codec.Event]) -> tuple[str, int]:
    """Rebuild a text from its events; also return the number of checksums that do not match."""
    replay = codec.Replay()
    wrong = 0
    for event in events:
        replay.apply(event)
        if event[0] == CHECK_SUM:
            wrong += not text_digest(replay.text).startswith(event[2])
    return replay.text, wrong


def text_digest(text: str) -> str:
    """Return the checksum of a text: the hexadecimal SHA-256 of its UTF-8 bytes."""
    return hashlib.sha256(text.encode()).hexdigest()
