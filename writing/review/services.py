"""Decisions of reviewers about responses. Payment and inclusion are decided separately.

What was erased at its writer's wish can still be paid, and nothing else: nobody can judge it, and it never counts
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
# What keeps one of many from being decided; the others are.
REFUSALS: Final = (WorkProblem, ActionError)


@transaction.atomic
def accept(*, task: WritingTask, by: User, now: datetime, note: str = "") -> WritingTask:
    """Accept a response: it is paid, and counts in the analysis unless it was decided otherwise before.

    Accepted again it stays accepted, and is paid once. A rejected one is accepted by `reverse`. One that was erased is
    paid, and stays left out.
    """
    task = TASKS.lock(task)
    if task.state == TaskState.ACCEPTED:
        return task
    _require_decidable(task, TaskState.ACCEPTED, by, now)
    decisions.accept(TASKS, task, task.response, note=note, default=WRITTEN_AS_ASKED, by=by, now=now)
    return task


@transaction.atomic
def reject(*, task: WritingTask, reason: str, pay_part: int = 0, by: User, now: datetime) -> WritingTask:
    """Reject a response: nothing, a part or all of its pay; left out of the analysis; the slot is free again.

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
    """Ask for a revision, and return the new task: the same writer's, beginning with the old text.

    The old response is kept and left out; what will be paid is the revision.

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
    """Accept a response that was rejected, and pay the rest.

    The slot is its own again if nobody has begun to write in it; else the response is a surplus one, paid and not
    counted. Whether it counts in the analysis is a decision of its own: it does when it has its slot again. One that
    was erased is paid, no more.
    """
    note = decisions.require_reason(WritingTask, note)
    task = TASKS.lock(task)
    if task.state == TaskState.ACCEPTED:
        return task
    if task.state != TaskState.REJECTED:
        raise NotAllowed(task, TaskState.ACCEPTED)
    # Taking over holds the plan, so nobody fills the slot after the look at who has it.
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

    A rejection is undone while nobody has claimed the slot again, a revision while its writer has not begun it, and
    payments while the platform has not been told. `at` names the decision by its moment, so that no later one is undone
    by mistake.

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


def accept_each(*, tasks: Iterable[WritingTask], note: str = "", by: User, now: datetime) -> BulkResult:
    """Accept each of some responses that await review; what cannot be accepted is skipped."""
    return bulk.for_each(_waiting(tasks), lambda one: accept(task=one, note=note, by=by, now=now), REFUSALS)


def reject_each(
    *, tasks: Iterable[WritingTask], reason: str, in_full: bool = False, by: User, now: datetime
) -> BulkResult:
    """Reject each of some responses that await review for one reason: all of the pay with it, or nothing."""

    def reject_one(one: WritingTask) -> None:
        reject(task=one, reason=reason, pay_part=one.pay or 0 if in_full else 0, by=by, now=now)

    return bulk.for_each(_waiting(tasks), reject_one, REFUSALS)


def send_back_each(*, tasks: Iterable[WritingTask], note: str, by: User, now: datetime) -> BulkResult:
    """Request a revision of each of some responses that await review, in the same words."""
    return bulk.for_each(_waiting(tasks), lambda one: send_back(task=one, note=note, by=by, now=now), REFUSALS)


def assign_each(*, tasks: Iterable[WritingTask], to: User | None) -> BulkResult:
    """Assign each of some responses that await review to a reviewer, or to nobody."""
    return bulk.for_each(tasks, lambda one: assignees.assign(TASKS, one, one.study, to), REFUSALS)


def undo_each(*, study: Study, at: datetime, by: User, now: datetime) -> BulkResult:
    """Undo all that a reviewer decided in a study at one moment; what cannot be undone stays decided."""
    moves = queue.transitions_of(study).filter(by=by, at=at, before=TaskState.SUBMITTED)
    rows = WritingTask.objects.filter(pk__in=moves.values("task")).select_related("response").order_by("pk")
    return bulk.for_each(rows, lambda one: undo_decision(task=one, at=at, by=by, now=now), REFUSALS)


def include(*, response: Response, reason: str, by: User, now: datetime) -> ResponseDecision:
    """Let a response count in the analysis, whatever it was paid.

    Raises
    ------
    NeedsReason, Erased
    """
    return _change(response, reason, by, now, holds=True)


def exclude(*, response: Response, reason: str, by: User, now: datetime) -> ResponseDecision:
    """Leave a response out of the analysis, whatever it was paid."""
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
    """Return those that await review: of many, none that was decided meanwhile is decided otherwise."""
    return [one for one in tasks if one.state == TaskState.SUBMITTED]


def _remove_revision(task: WritingTask) -> None:
    """Remove the task of a revision that its writer has not begun."""
    fresh = WritingTask.objects.select_for_update().filter(revises=task, state=TaskState.CLAIMED).first()
    if fresh is None or fresh.draft != task.response.text or WritingLog.objects.filter(task=fresh).exists():
        raise NotUndoable("The writer has already begun the revision.")
    fresh.delete()


def _require_decidable(task: WritingTask, after: TaskState, by: User, now: datetime) -> None:
    if task.state == TaskState.SUBMITTED and task.response.erased_at and after != TaskState.ACCEPTED:
        raise Erased(WritingTask)
    decisions.require_decidable(task, after, by, now, {TaskState.SUBMITTED})
