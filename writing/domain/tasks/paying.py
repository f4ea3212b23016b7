"""What a writer is owed for a task, written down when it is decided; what was promised stays."""

from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models import Sum

from crowdrag.studies.models import Participant, User

from ...enums import TaskState
from ...models import TaskPayment, WritingTask
from . import moving, platform, problems

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
    task = moving.locked(task)
    if task.participant_id is None:
        raise problems.NotAllowed(task, task.state)
    known = TaskPayment.objects.filter(task=task, reason=reason).first()
    if known is None:
        payment = TaskPayment.objects.create(task=task, amount=amount, reason=reason, at=now, by=by)
        platform.owed(payment, approves=reason in {ACCEPTED, REVERSED}, by=by, now=now)
        return payment
    if known.amount != amount:
        raise problems.PaidOtherwise(reason, known.amount, task.study.currency)
    return known


def paid(task: WritingTask) -> int:
    """Return what was paid for a task so far, in minor units."""
    return task.payments.aggregate(sum=Sum("amount"))["sum"] or 0


def earned(participant: Participant) -> int:
    """Return all that somebody is owed for what they wrote: the sum of the payments, in minor units."""
    rows = TaskPayment.objects.filter(task__participant=participant)
    return rows.aggregate(sum=Sum("amount"))["sum"] or 0


def awaited(participant: Participant) -> int:
    """Return what somebody gets if all is accepted that waits for a reviewer, in minor units."""
    rows = WritingTask.objects.filter(participant=participant, state=TaskState.SUBMITTED)
    return rows.aggregate(sum=Sum("pay"))["sum"] or 0
