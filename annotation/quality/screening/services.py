"""Decisions about a questionnaire, with what the platform is told, in one transaction.

What stands in the way of a decision is said in words.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from django.db import transaction

from annotation.judging.lifecycle import ASSIGNMENTS
from crowdrag.assignments import assignees, bulk
from crowdrag.assignments.bulk import BulkResult
from crowdrag.assignments.lifecycle import total_paid
from crowdrag.assignments.problems import NotUndoable, WorkProblem
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
            f"This judge came from a platform that requires at least {LEAST} characters to explain a rejection. You "
            f"entered {length}. Explain what was wrong, with numbers that can be checked."
        )


class NeedsCategory(WorkProblem):
    """The platform sorts rejections by category."""

    def __init__(self) -> None:
        super().__init__("Choose the platform's category for this rejection.")


class SingleCheck(WorkProblem):
    """Rejected for a failed check where one is not enough."""

    def __init__(self, failed: int, needed: int):
        super().__init__(
            f"{failed} failed check is not enough to reject for failed checks. For studies of five minutes or more, "
            f"the platforms require {needed}. If something else was wrong, choose another category."
        )


S = AssignmentState


# What keeps one of many from being decided; the others are.
REFUSALS: Final = (WorkProblem, ActionError)


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
    accepted. It can be undone as one (`undo_each`).
    """
    clean = [row.assignment for row in queue.proposing(campaign, ProposedAction.ACCEPT, now)]
    handed_in = [one for one in clean if one.submitted_at is not None and one.submitted_at <= until]
    return bulk.for_each(handed_in, lambda one: accept(assignment=one, by=by, now=now), REFUSALS)


def accept_each(*, assignments: Iterable[Assignment], note: str = "", by: User, now: datetime) -> BulkResult:
    """Accept each of some questionnaires that await review; what cannot be accepted is skipped."""
    return bulk.for_each(_waiting(assignments), lambda one: accept(assignment=one, note=note, by=by, now=now), REFUSALS)


def reject_each(
    *,
    assignments: Iterable[Assignment],
    reason: str,
    in_full: bool = False,
    category: str = "",
    by: User,
    now: datetime,
) -> BulkResult:
    """Reject each of some questionnaires that await review for one reason: all of the pay with it, or nothing."""

    def reject_one(one: Assignment) -> None:
        part = max((one.pay or 0) - total_paid(one), 0) if in_full else 0
        reject(assignment=one, reason=reason, pay_part=part, category=category, by=by, now=now)

    return bulk.for_each(_waiting(assignments), reject_one, REFUSALS)


@transaction.atomic
def undo_decision(*, assignment: Assignment, by: User, now: datetime, at: datetime | None = None) -> Assignment:
    """Undo the decision about a questionnaire, with what the platform was to be told. Idempotent.

    Raises
    ------
    WorkProblem
    """
    move = decisions.undo_decision(assignment=assignment, at=at, by=by, now=now)
    if move is not None and not platform_decisions.cancel(assignment, decided_at=move.at, now=now):
        raise NotUndoable("The recruitment platform has already been told about this decision.")
    assignment.refresh_from_db()
    return assignment


def assign_each(*, assignments: Iterable[Assignment], to: User | None) -> BulkResult:
    """Assign each of some questionnaires that await review to a reviewer, or to nobody."""

    def assign_one(one: Assignment) -> None:
        assignees.assign(ASSIGNMENTS, one, one.questionnaire.campaign.study, to)

    return bulk.for_each(assignments, assign_one, REFUSALS)


def undo_each(*, campaign: Campaign, at: datetime, by: User, now: datetime) -> BulkResult:
    """Undo all that a reviewer decided in a campaign at one moment; what cannot be undone stays decided."""
    moves = queue.transitions_of(campaign).filter(by=by, at=at, before=S.SUBMITTED)
    rows = queue.assignments_of(campaign).filter(pk__in=moves.values("assignment")).order_by("pk")
    return bulk.for_each(rows, lambda one: undo_decision(assignment=one, at=at, by=by, now=now), REFUSALS)


def _waiting(assignments: Iterable[Assignment]) -> list[Assignment]:
    """Return those that await review: of many, none that was decided meanwhile is decided otherwise."""
    return [one for one in assignments if one.state == S.SUBMITTED]


def _signals(assignment: Assignment) -> dict[str, Any]:
    signals_of_assignment = flags.flags_of([assignment])[assignment.pk]
    return {signal.name: signal.evidence for signal in signals_of_assignment}


def _look_at_checks(assignment: Assignment) -> None:
    work = evidence.collect_work([assignment])[assignment.pk]
    failed = sum(not check.passed for check in work.checks)
    if failed < work.fails_needed:
        raise SingleCheck(failed, work.fails_needed)
