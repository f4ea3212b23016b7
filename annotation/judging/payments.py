"""What a judge is owed for an assignment, written down when it is decided; what was promised stays."""

from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models import Sum

from crowdrag.studies.models import Participant, User

from ..enums import AssignmentState
from ..models import Assignment, AssignmentPayment, Campaign
from . import answers, problems, transitions

ACCEPTED: Final = "accepted"
PART: Final = "part of the pay, with the rejection"
REVERSED: Final = "the rejection was reversed"
# What is paid for these reasons is of the pay that was promised; what is paid for another is beside it.
PROMISED: Final = frozenset({ACCEPTED, PART, REVERSED})
# The column's limit.
MOST: Final = 2_147_483_647
LONGEST_REASON: Final = 200


@transaction.atomic
def pay(
    *, assignment: Assignment, amount: int, reason: str, by: User | None = None, now: datetime
) -> AssignmentPayment:
    """Owe a judge money, whatever the state of the assignment: their pay, or a part of it when the fault was ours.

    The same amount for the same reason is the same payment, so that a request sent twice pays once.

    Raises
    ------
    NeedsReason, BadAmount, PaidOtherwise
    """
    reason = " ".join(answers.storable_text(reason).split())[:LONGEST_REASON]
    if not reason:
        raise problems.NeedsReason
    assignment = transitions.lock(assignment)
    currency = assignment.questionnaire.campaign.study.currency
    if not 0 < amount <= MOST:
        raise problems.BadAmount(MOST, currency)
    known = AssignmentPayment.objects.filter(assignment=assignment, reason=reason).first()
    if known is None:
        return AssignmentPayment.objects.create(assignment=assignment, amount=amount, reason=reason, at=now, by=by)
    if known.amount != amount:
        raise problems.PaidOtherwise(reason, known.amount, currency)
    return known


def total_paid(assignment: Assignment) -> int:
    """Return what was paid for an assignment so far, in minor units."""
    return assignment.payments.aggregate(sum=Sum("amount"))["sum"] or 0


def paid_of_promise(assignment: Assignment) -> int:
    """Return how much of the promised pay was paid so far, in minor units; what was paid besides is left out."""
    rows = assignment.payments.filter(reason__in=PROMISED)
    return rows.aggregate(sum=Sum("amount"))["sum"] or 0


def extra_payments(assignment: Assignment) -> list[AssignmentPayment]:
    """Return what was paid beside the promised pay, the first one first; each for a reason that the judge reads."""
    found = (each for each in assignment.payments.all() if each.reason not in PROMISED)
    return sorted(found, key=lambda each: each.pk)


def pay_rest(*, assignment: Assignment, reason: str, by: User, now: datetime) -> None:
    """Pay what is still owed of the promised pay, however often it was decided that it is owed."""
    rest = (assignment.pay or 0) - paid_of_promise(assignment)
    if rest > 0:
        pay(assignment=assignment, amount=rest, reason=reason, by=by, now=now)


def total_earned(participant: Participant, campaign: Campaign | None = None) -> int:
    """Return what somebody is owed for what they judged, in all or in one campaign, in minor units."""
    rows = AssignmentPayment.objects.filter(assignment__participant=participant)
    if campaign is not None:
        rows = rows.filter(assignment__questionnaire__campaign=campaign)
    return rows.aggregate(sum=Sum("amount"))["sum"] or 0


def total_awaited(participant: Participant, campaign: Campaign | None = None) -> int:
    """Return what somebody gets if all is accepted that waits for a reviewer, in minor units."""
    rows = Assignment.objects.filter(participant=participant, state=AssignmentState.SUBMITTED)
    if campaign is not None:
        rows = rows.filter(questionnaire__campaign=campaign)
    return rows.aggregate(sum=Sum("pay"))["sum"] or 0
