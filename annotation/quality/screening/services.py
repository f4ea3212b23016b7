"""Decisions about a questionnaire, with what the platform is told, in one transaction.

What stands in the way of a decision is said in words.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.judging.lifecycle import ASSIGNMENTS
from crowdrag.assignments.lifecycle import total_paid
from crowdrag.assignments.problems import WorkProblem
from crowdrag.recruitment.enums import RejectionCategory
from crowdrag.recruitment.platform_actions import ActionError
from crowdrag.studies.models import User

from ...enums import AssignmentState
from ...judging import decisions
from ...models import Assignment, AssignmentDecision, AssignmentPayment, Campaign
from . import evidence, flags, platform_decisions, queue
from .signals import ProposedAction

# What Prolific asks for.
LEAST: int = 100


class ShortReason(WorkProblem):
    """The platform wants a rejection explained at length."""

    def __init__(self, length: int):
        super().__init__(
            _(
                "This judge came from a platform that requires at least %(least)d characters to explain a "
                "rejection. You entered %(length)d. Explain what was wrong, with numbers that can be checked."
            )
            % {"least": LEAST, "length": length}
        )


class NeedsCategory(WorkProblem):
    """The platform sorts rejections by category."""

    def __init__(self) -> None:
        super().__init__(_("Choose the platform's category for this rejection."))


class SingleCheck(WorkProblem):
    """Rejected for a failed check where one is not enough."""

    def __init__(self, failed: int, needed: int):
        super().__init__(
            _(
                "%(failed)d failed check is not enough to reject for failed checks. For studies of five minutes "
                "or more, the platforms require %(needed)d. If something else was wrong, choose another category."
            )
            % {"failed": failed, "needed": needed}
        )


S = AssignmentState


@dataclass(frozen=True)
class BulkResult:
    """What came of accepting all that nothing speaks against."""

    accepted: int
    # Opened by another reviewer, decided or changed meanwhile.
    passed_over: int


@transaction.atomic
def accept(*, assignment: Assignment, by: User, now: datetime, note: str = "") -> Assignment:
    """Accept a questionnaire, or one that was rejected after all; it is paid, here and where the judge came from.

    Raises
    ------
    WorkProblem
    """
    before = total_paid(assignment)
    done = decisions.accept(assignment=assignment, by=by, now=now, note=note)
    platform_decisions.order_reward(done, owed=total_paid(done) - before, by=by, now=now)
    return done


@transaction.atomic
def reject(
    *, assignment: Assignment, reason: str, by: User, now: datetime, pay_part: int = 0, category: str = ""
) -> Assignment:
    """Reject a questionnaire, so that somebody else judges; pay nothing, a part or all of it.

    Who came from a platform is told there as well, in the category and at the length that it asks for. What was
    accepted before stays paid: the platform takes nothing back.

    Raises
    ------
    WorkProblem
    """
    assignment = ASSIGNMENTS.lock(assignment)
    was_open = assignment.state == S.SUBMITTED
    reason = reason.strip()
    in_full = bool(assignment.pay) and pay_part + total_paid(assignment) >= (assignment.pay or 0)
    is_told = was_open and platform_decisions.is_from_platform(assignment) and not in_full
    if is_told:
        if category not in RejectionCategory.values:
            raise NeedsCategory
        if len(reason) < LEAST:
            raise ShortReason(len(reason))
    if category == RejectionCategory.FAILED_CHECK:
        _look_at_checks(assignment)
    why = _signals(assignment)
    done = decisions.reject(assignment=assignment, reason=reason, by=by, now=now, pay_part=pay_part, evidence=why)
    if was_open:
        platform_decisions.order_rejection(
            done, in_full=in_full, part=pay_part, category=category, message=reason, by=by, now=now
        )
    return done


@transaction.atomic
def include(*, assignment: Assignment, holds: bool, reason: str, by: User, now: datetime) -> AssignmentDecision:
    """Let judgments count in the analysis or leave them out, with the signals as they stand; whatever is paid.

    Raises
    ------
    WorkProblem
    """
    choose = decisions.include if holds else decisions.exclude
    return choose(assignment=assignment, reason=reason, evidence=_signals(assignment), by=by, now=now)


@transaction.atomic
def pay(*, assignment: Assignment, amount: int, reason: str, by: User, now: datetime) -> AssignmentPayment:
    """Owe a judge something beside; a platform pays it as a bonus.

    Raises
    ------
    WorkProblem
    """
    payment: AssignmentPayment = ASSIGNMENTS.pay(assignment, amount=amount, reason=reason, by=by, now=now)
    platform_decisions.order_bonus(assignment, payment=payment.pk, amount=amount, reason=payment.reason, by=by, now=now)
    return payment


def accept_clean(*, campaign: Campaign, until: datetime, by: User, now: datetime) -> BulkResult:
    """Accept all of a campaign that nothing speaks against and that was handed in by `until`, each on its own.

    What is looked at are the signals of now. What another reviewer has open is passed over, and so is what cannot be
    accepted. Nothing takes this back but people, one by one.
    """
    accepted = passed_over = 0
    for row in queue.proposing(campaign, ProposedAction.ACCEPT, now):
        one = row.assignment
        if one.submitted_at is None or one.submitted_at > until:
            continue
        try:
            accept(assignment=one, by=by, now=now)
        except (WorkProblem, ActionError):
            passed_over += 1
        else:
            accepted += 1
    return BulkResult(accepted, passed_over)


def _signals(assignment: Assignment) -> dict[str, Any]:
    signals_of_assignment = flags.flags_of([assignment])[assignment.pk]
    return {signal.name: signal.evidence for signal in signals_of_assignment}


def _look_at_checks(assignment: Assignment) -> None:
    work = evidence.collect_work([assignment])[assignment.pk]
    failed = sum(not check.passed for check in work.checks)
    if failed < work.fails_needed:
        raise SingleCheck(failed, work.fails_needed)
