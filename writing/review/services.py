"""What reviewers decide. Paying and including are two decisions, each with its reason.

What was erased at its writer's wish can still be paid, and nothing else: nobody can judge it, and it never counts
again.
"""

from datetime import datetime
from typing import Final
from uuid import uuid4

from django.db import transaction

from crowdrag.studies.enums import DecisionKind
from crowdrag.studies.messages import services
from crowdrag.studies.models import User
from crowdrag.studies.review_locks import RELEASED, locked_by_another

from ..assignments import leases, payments, problems, slots, transitions
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
    task = transitions.lock(task)
    if task.state == TaskState.ACCEPTED:
        return task
    _may_decide(task, by, TaskState.ACCEPTED, now)
    transitions.move(task, TaskState.ACCEPTED, "accepted", note=note, by=by, now=now, **RELEASED)
    if task.pay:
        payments.pay(task=task, amount=task.pay, reason=payments.ACCEPTED, by=by, now=now)
    reason = note.strip() or WRITTEN_AS_ASKED
    _decide(task.response, DecisionKind.PAY, holds=True, reason=reason, by=by, now=now)
    if not task.response.erased_at and not task.response.decisions.filter(about=DecisionKind.INCLUDE).exists():
        _decide(task.response, DecisionKind.INCLUDE, holds=True, reason=reason, by=by, now=now)
    return task


@transaction.atomic
def reject(*, task: WritingTask, reason: str, pay_part: int = 0, by: User, now: datetime) -> WritingTask:
    """Reject a response: nothing, a part or all of its pay; left out of the analysis; the slot is free again.

    Raises
    ------
    NeedsReason, BadAmount, NotAllowed, UnderReview, Erased
    """
    if not (reason := reason.strip()):
        raise problems.NeedsReason
    task = transitions.lock(task)
    if task.state == TaskState.REJECTED:
        return task
    _may_decide(task, by, TaskState.REJECTED, now)
    if not 0 <= pay_part <= (task.pay or 0):
        raise problems.BadAmount(task.pay or 0, task.study.currency)
    transitions.move(task, TaskState.REJECTED, "rejected", note=reason, by=by, now=now, **RELEASED)
    if pay_part:
        payments.pay(task=task, amount=pay_part, reason=payments.PART, by=by, now=now)
    evidence = {"amount": pay_part, "of": task.pay or 0}
    _decide(task.response, DecisionKind.PAY, holds=pay_part > 0, reason=reason, by=by, now=now, evidence=evidence)
    _decide(task.response, DecisionKind.INCLUDE, holds=False, reason=reason, by=by, now=now)
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
    if not (note := note.strip()):
        raise problems.NeedsReason
    task = transitions.lock(task)
    if task.state == TaskState.REVISION:
        return task.revision
    _may_decide(task, by, TaskState.REVISION, now)
    transitions.move(task, TaskState.REVISION, "sent back", note=note, by=by, now=now, **RELEASED)
    _decide(task.response, DecisionKind.INCLUDE, holds=False, reason=SENT_BACK, by=by, now=now)
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
    transitions.record(fresh, "", "sent back for revision", note=note, by=by, now=now)
    return fresh


@transaction.atomic
def reverse_rejection(*, task: WritingTask, note: str, by: User, now: datetime) -> WritingTask:
    """Accept a response that was rejected, and pay the rest.

    The slot is its own again if nobody has begun to write in it; else the response is a surplus one, paid and not
    counted. Whether it counts in the analysis is a decision of its own: it does when it has its slot again. One that
    was erased is paid, no more.
    """
    if not (note := note.strip()):
        raise problems.NeedsReason
    task = transitions.lock(task)
    if task.state == TaskState.ACCEPTED:
        return task
    if task.state != TaskState.REJECTED:
        raise problems.NotAllowed(task, TaskState.ACCEPTED)
    # Taking over holds the plan, so nobody fills the slot after the look at who has it.
    may_count = task.slot is not None and not task.response.erased_at
    counts = may_count and (slots.take_over(task) or slots.holder(task) is None)
    slot = task.slot if counts else None
    transitions.move(task, TaskState.ACCEPTED, "rejection reversed", note=note, by=by, now=now, **RELEASED, slot=slot)
    part = task.payments.filter(reason=payments.PART).values_list("amount", flat=True).first() or 0
    rest = (task.pay or 0) - part
    if rest > 0:
        payments.pay(task=task, amount=rest, reason=payments.REVERSED, by=by, now=now)
    _decide(task.response, DecisionKind.PAY, holds=True, reason=note, by=by, now=now)
    if counts:
        _decide(task.response, DecisionKind.INCLUDE, holds=True, reason=note, by=by, now=now)
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
    if not (reason := reason.strip()):
        raise problems.NeedsReason
    response = Response.objects.select_for_update(no_key=True).get(pk=response.pk)
    if response.erased_at:
        raise problems.Erased
    last = response.decisions.filter(about=DecisionKind.INCLUDE).order_by("-decided_at", "-id").first()
    if last is not None and (last.holds, last.reason, last.decided_by_id) == (holds, reason, by.pk):
        return last  # the same request once more
    return _decide(response, DecisionKind.INCLUDE, holds=holds, reason=reason, by=by, now=now)


def _decide(
    response: Response,
    about: DecisionKind,
    *,
    holds: bool,
    reason: str,
    by: User,
    now: datetime,
    evidence: dict[str, int] | None = None,
) -> ResponseDecision:
    if about is DecisionKind.INCLUDE and response.is_included != holds:
        response.is_included = holds
        response.save(update_fields=["is_included"])
    return ResponseDecision.objects.create(
        response=response,
        about=about,
        holds=holds,
        reason=reason,
        evidence=evidence or {},
        decided_at=now,
        decided_by=by,
    )


def _may_decide(task: WritingTask, by: User, after: TaskState, now: datetime) -> None:
    if task.state != TaskState.SUBMITTED:
        raise problems.NotAllowed(task, after)
    if task.response.erased_at and after != TaskState.ACCEPTED:
        raise problems.Erased
    if locked_by_another(task, by, now):
        raise problems.UnderReview(task)
