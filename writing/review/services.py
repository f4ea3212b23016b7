"""Reviewers' decisions about responses. Payment and inclusion are decided separately.

Responses that were erased at their writer's request can only be paid: they cannot be judged, and are never included
again.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final
from uuid import uuid4

from django.db import transaction

from crowdrag.assignments import assignees, bulk, decisions, undo
from crowdrag.assignments.bulk import BulkResult
from crowdrag.assignments.lifecycle import REVERSED
from crowdrag.assignments.problems import Erased, NotAllowed, NotUndoable, WorkProblem
from crowdrag.assignments.review_locks import RELEASED
from crowdrag.recruitment.platform_actions import ActionError
from crowdrag.studies.enums import DecisionKind
from crowdrag.studies.messages import services
from crowdrag.studies.models import Study, User

from ..assignments import leases, platform_payments, slots
from ..assignments.lifecycle import TASKS
from ..enums import SurveyKind, TaskState
from ..models import Response, ResponseDecision, WritingLog, WritingTask
from ..plans import surveys
from . import queue

WRITTEN_AS_ASKED: Final = "Written as asked."
SENT_BACK: Final = "Sent back for revision."
# Errors that skip one response of a bulk decision; the others are still decided.
REFUSALS: Final = (WorkProblem, ActionError)


@transaction.atomic
def accept(*, task: WritingTask, by: User, now: datetime, note: str = "") -> WritingTask:
    """Accept a response: it is paid, and included in the analysis unless it was explicitly excluded before.

    Idempotent: it is paid once. To accept a rejected response, use `reverse_rejection`. An erased response is paid but
    stays excluded.
    """
    task = TASKS.lock(task)
    if task.state == TaskState.ACCEPTED:
        return task
    _require_decidable(task, TaskState.ACCEPTED, by, now)
    decisions.accept(TASKS, task, task.response, note=note, default=WRITTEN_AS_ASKED, by=by, now=now)
    return task


@transaction.atomic
def reject(*, task: WritingTask, reason: str, pay_part: int = 0, by: User, now: datetime) -> WritingTask:
    """Reject a response: pay nothing, a part or all; exclude it from the analysis; and free its slot.

    Raises
    ------
    NeedsReason, BadAmount, NotAllowed, UnderReview, Erased
    """
    reason = decisions.require_reason(WritingTask, reason)
    task = TASKS.lock(task)
    if task.state == TaskState.REJECTED:
        return task
    _require_decidable(task, TaskState.REJECTED, by, now)
    decisions.reject(TASKS, task, task.response, reason=reason, pay_part=pay_part, by=by, now=now)
    slots.refill(task, now)
    return task


@transaction.atomic
def send_back(*, task: WritingTask, note: str, by: User, now: datetime) -> WritingTask:
    """Request a revision, and return the new task, which has the same writer and starts from the old text.

    The old response is kept but excluded; only the revision will be paid.

    Raises
    ------
    NeedsReason, NotAllowed, UnderReview, Erased
    """
    note = decisions.require_reason(WritingTask, note)
    task = TASKS.lock(task)
    if task.state == TaskState.REVISION:
        return task.revision
    _require_decidable(task, TaskState.REVISION, by, now)
    TASKS.move(task, TaskState.REVISION, "sent back", note=note, by=by, now=now, **RELEASED)
    decisions.decide(task.response, DecisionKind.INCLUDE, holds=False, reason=SENT_BACK, by=by, now=now)
    fresh = WritingTask.objects.create(
        study=task.study,
        external_id=uuid4().hex,
        topic=task.topic,
        style=task.style,
        slot=task.slot,
        is_trial=task.is_trial,
        revises=task,
        participant=task.participant,
        instructions=task.instructions,
        pay=task.pay,
        state=TaskState.CLAIMED,
        created_at=now,
        claimed_at=now,
        lease_until=now + leases.REVISION_LEASES * leases.lease_length(task.study_id),
        draft=task.response.text,
    )
    surveys.carry_over(task, fresh, SurveyKind.ENTRY)
    TASKS.record(fresh, "", "sent back for revision", note=note, by=by, now=now)
    return fresh


@transaction.atomic
def reverse_rejection(*, task: WritingTask, note: str, by: User, now: datetime) -> WritingTask:
    """Accept a rejected response, and pay the rest.

    If nobody else has claimed its slot, the response gets it back and is included in the analysis. Otherwise it is
    surplus: paid but not counted. An erased response is only paid.
    """
    note = decisions.require_reason(WritingTask, note)
    task = TASKS.lock(task)
    if task.state == TaskState.ACCEPTED:
        return task
    if task.state != TaskState.REJECTED:
        raise NotAllowed(task, TaskState.ACCEPTED)
    # `take_over` locks the plan, so nobody can fill the slot after this check.
    may_count = task.slot is not None and not task.response.erased_at
    counts = may_count and slots.may_return(task)
    slot = task.slot if counts else None
    TASKS.move(task, TaskState.ACCEPTED, "rejection reversed", note=note, by=by, now=now, **RELEASED, slot=slot)
    TASKS.pay_rest(task, REVERSED, by=by, now=now)
    decisions.decide(task.response, DecisionKind.PAY, holds=True, reason=note, by=by, now=now)
    if counts:
        decisions.decide(task.response, DecisionKind.INCLUDE, holds=True, reason=note, by=by, now=now)
    if task.participant is not None:
        services.settle_contests(participant=task.participant, about=task.external_id, text=note, by=by, now=now)
    return task


@transaction.atomic
def undo_decision(*, task: WritingTask, by: User, now: datetime, at: datetime | None = None) -> WritingTask:
    """Undo the decision about a response: it awaits review again. Idempotent.

    A rejection can be undone until somebody claims the slot, a revision until its writer begins, and payments until
    they are sent to the platform. `at` identifies the decision by its time, so that a later one is not undone by
    mistake.

    Raises
    ------
    NotAllowed, UndoTooLate, NotUndoable, Erased
    """
    task = TASKS.lock(task)
    if task.state == TaskState.SUBMITTED and undo.is_undone(task):
        return task
    move = undo.require_undoable(task, task.response, at=at, now=now)
    if task.state == TaskState.REVISION:
        _remove_revision(task)
    elif task.state == TaskState.REJECTED and not slots.may_return(task):
        raise NotUndoable("Another writer has claimed this topic. Accept the response instead.")
    for payment in undo.promised_payments(task, move):
        if not platform_payments.cancel_payment(payment, now):
            raise NotUndoable("The recruitment platform has already been told about this payment.")
    undo.take_back(TASKS, task, task.response, move, by=by, now=now)
    return task


def accept_each(*, tasks: Iterable[WritingTask], by: User, now: datetime) -> BulkResult:
    """Accept all given responses that await review; skip those that cannot be accepted."""
    return bulk.for_each(_waiting(tasks), lambda one: accept(task=one, by=by, now=now), REFUSALS)


def reject_each(
    *, tasks: Iterable[WritingTask], reason: str, in_full: bool = False, by: User, now: datetime
) -> BulkResult:
    """Reject all given responses that await review with the same reason; pay each in full or nothing."""

    def reject_one(one: WritingTask) -> None:
        reject(task=one, reason=reason, pay_part=one.pay or 0 if in_full else 0, by=by, now=now)

    return bulk.for_each(_waiting(tasks), reject_one, REFUSALS)


def send_back_each(*, tasks: Iterable[WritingTask], note: str, by: User, now: datetime) -> BulkResult:
    """Request a revision of all given responses that await review, with the same message."""
    return bulk.for_each(_waiting(tasks), lambda one: send_back(task=one, note=note, by=by, now=now), REFUSALS)


def assign_each(*, tasks: Iterable[WritingTask], to: User | None) -> BulkResult:
    """Assign all given responses that await review to a reviewer, or to nobody."""
    return bulk.for_each(tasks, lambda one: assignees.assign(TASKS, one, one.study, to), REFUSALS)


def undo_each(*, study: Study, at: datetime, by: User, now: datetime) -> BulkResult:
    """Undo all decisions of a reviewer in a study at one time; skip those that cannot be undone."""
    moves = queue.transitions_of(study).filter(by=by, at=at, before=TaskState.SUBMITTED)
    rows = WritingTask.objects.filter(pk__in=moves.values("task")).select_related("response").order_by("pk")
    return bulk.for_each(rows, lambda one: undo_decision(task=one, at=at, by=by, now=now), REFUSALS)


def include(*, response: Response, reason: str, by: User, now: datetime) -> ResponseDecision:
    """Include a response in the analysis, independently of payment.

    Raises
    ------
    NeedsReason, Erased
    """
    return _change(response, reason, by, now, holds=True)


def exclude(*, response: Response, reason: str, by: User, now: datetime) -> ResponseDecision:
    """Exclude a response from the analysis, independently of payment."""
    return _change(response, reason, by, now, holds=False)


@transaction.atomic
def _change(response: Response, reason: str, by: User, now: datetime, *, holds: bool) -> ResponseDecision:
    reason = decisions.require_reason(WritingTask, reason)
    response = Response.objects.select_for_update(no_key=True).get(pk=response.pk)
    decided: ResponseDecision = decisions.change_inclusion(
        WritingTask, response, holds=holds, reason=reason, by=by, now=now
    )
    return decided


def _waiting(tasks: Iterable[WritingTask]) -> list[WritingTask]:
    """Return those that await review, so that responses decided meanwhile are not decided again."""
    return [one for one in tasks if one.state == TaskState.SUBMITTED]


def _remove_revision(task: WritingTask) -> None:
    """Remove a revision's task that its writer has not begun."""
    fresh = WritingTask.objects.select_for_update().filter(revises=task, state=TaskState.CLAIMED).first()
    if fresh is None or fresh.draft != task.response.text or WritingLog.objects.filter(task=fresh).exists():
        raise NotUndoable("The writer has already begun the revision.")
    fresh.delete()


def _require_decidable(task: WritingTask, after: TaskState, by: User, now: datetime) -> None:
    if task.state == TaskState.SUBMITTED and task.response.erased_at and after != TaskState.ACCEPTED:
        raise Erased(WritingTask)
    decisions.require_decidable(task, after, by, now, {TaskState.SUBMITTED})
