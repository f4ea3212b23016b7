"""Decisions of reviewers about responses. Payment and inclusion are decided separately.

What was erased at its writer's wish can still be paid, and nothing else: nobody can judge it, and it never counts
again.
"""

from datetime import datetime
from typing import Final
from uuid import uuid4

from django.db import transaction

from crowdrag.assignments import decisions
from crowdrag.assignments.lifecycle import REVERSED
from crowdrag.assignments.problems import Erased, NotAllowed
from crowdrag.assignments.review_locks import RELEASED
from crowdrag.studies.enums import DecisionKind
from crowdrag.studies.messages import services
from crowdrag.studies.models import User

from ..assignments import leases, slots
from ..assignments.lifecycle import TASKS
from ..enums import SurveyKind, TaskState
from ..models import Response, ResponseDecision, WritingTask
from ..plans import surveys

WRITTEN_AS_ASKED: Final = "Written as asked."
SENT_BACK: Final = "Sent back for revision."


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
    counts = may_count and (slots.take_over(task) or slots.holder(task) is None)
    slot = task.slot if counts else None
    TASKS.move(task, TaskState.ACCEPTED, "rejection reversed", note=note, by=by, now=now, **RELEASED, slot=slot)
    TASKS.pay_rest(task, REVERSED, by=by, now=now)
    decisions.decide(task.response, DecisionKind.PAY, holds=True, reason=note, by=by, now=now)
    if counts:
        decisions.decide(task.response, DecisionKind.INCLUDE, holds=True, reason=note, by=by, now=now)
    if task.participant is not None:
        services.settle_contests(participant=task.participant, about=task.external_id, text=note, by=by, now=now)
    return task


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


def _require_decidable(task: WritingTask, after: TaskState, by: User, now: datetime) -> None:
    if task.state == TaskState.SUBMITTED and task.response.erased_at and after != TaskState.ACCEPTED:
        raise Erased(WritingTask)
    decisions.require_decidable(task, after, by, now, {TaskState.SUBMITTED})
