"""What a writer is owed for a task, written down when it is decided, and ordered from the platform that sent them."""

from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.db.models import Sum

from crowdrag.recruitment import platform_actions
from crowdrag.recruitment.enums import OrderKind, OrderState, SubmissionStatus
from crowdrag.recruitment.models import PlatformOrder, Submission
from crowdrag.recruitment.platform_actions import latest_visit
from crowdrag.studies.models import Participant, User

from ..enums import TaskState
from ..models import TaskPayment, WritingTask
from . import problems, transitions

ACTIVITY = "writing"


def order_payment(payment: TaskPayment, *, approves: bool, by: User | None, now: datetime) -> None:
    """Have a payment made by the platform that sent its writer; nothing where none did.

    The payment's row is the order's name: the same payment is ordered once.
    """
    task = payment.task
    assert task.participant is not None, "only a task with a writer is paid"
    found = latest_visit(participant=task.participant, purpose=ACTIVITY)
    if found is None:
        return
    study, session = found
    about: dict[str, Any] = {
        "study": task.study,
        "purpose": ACTIVITY,
        "session": session,
        "participant": task.participant,
        "by": by,
        "now": now,
    }
    amount = payment.amount
    if approves and not _decided(session):
        platform_actions.approve(key=f"visit-{session}-approve", **about)
        amount -= study.reward
    if amount > 0:
        platform_actions.grant_bonus(amount=amount, reason=payment.reason, key=f"task-payment-{payment.pk}", **about)


def _decided(session: str) -> bool:
    """Say whether the visit's reward is ordered already, or cannot be paid any more."""
    ordered = PlatformOrder.objects.filter(submission__external_id=session, kind=OrderKind.APPROVE)
    if ordered.exclude(state=OrderState.DROPPED).exists():
        return True
    gone = [SubmissionStatus.REJECTED, SubmissionStatus.APPROVED, SubmissionStatus.SCREENED_OUT]
    return Submission.objects.filter(external_id=session, status__in=gone).exists()


ACCEPTED: Final = "accepted"
PART: Final = "part of the pay, with the rejection"
REVERSED: Final = "the rejection was reversed"
# The column's limit.
MOST: Final = 2_147_483_647
LONGEST_REASON: Final = 200


@transaction.atomic
def pay(*, task: WritingTask, amount: int, reason: str, by: User | None = None, now: datetime) -> TaskPayment:
    """Owe a writer money, whatever the state of the task: their pay, or a part of it when the fault was ours.

    The same amount for the same reason is the same payment, so that a request sent twice pays once. Whoever came from
    a platform is paid by it.
    """
    reason = " ".join(reason.split())[:LONGEST_REASON]
    if not reason:
        raise problems.NeedsReason
    if not 0 < amount <= MOST:
        raise problems.BadAmount(MOST, task.study.currency)
    task = transitions.lock(task)
    if task.participant_id is None:
        raise problems.NotAllowed(task, task.state)
    known = TaskPayment.objects.filter(task=task, reason=reason).first()
    if known is None:
        payment = TaskPayment.objects.create(task=task, amount=amount, reason=reason, at=now, by=by)
        order_payment(payment, approves=reason in {ACCEPTED, REVERSED}, by=by, now=now)
        return payment
    if known.amount != amount:
        raise problems.PaidOtherwise(reason, known.amount, task.study.currency)
    return known


def total_paid(task: WritingTask) -> int:
    """Return what was paid for a task so far, in minor units."""
    return task.payments.aggregate(sum=Sum("amount"))["sum"] or 0


def total_earned(participant: Participant) -> int:
    """Return all that somebody is owed for what they wrote: the sum of the payments, in minor units."""
    rows = TaskPayment.objects.filter(task__participant=participant)
    return rows.aggregate(sum=Sum("amount"))["sum"] or 0


def total_awaited(participant: Participant) -> int:
    """Return what somebody gets if all is accepted that waits for a reviewer, in minor units."""
    rows = WritingTask.objects.filter(participant=participant, state=TaskState.SUBMITTED)
    return rows.aggregate(sum=Sum("pay"))["sum"] or 0
