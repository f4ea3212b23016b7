"""Decisions about a questionnaire, with the orders to the platform, in one transaction.

Refusals are raised with a message.
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
from . import evidence, platform_decisions, proposals, queue
from .signals import ProposedAction

# Prolific's minimum length.
LEAST: int = 100


class ShortReason(WorkProblem):
    """The reason of a rejection is too short for the platform."""

    def __init__(self, length: int):
        super().__init__(
            f"This judge came from a platform that requires at least {LEAST} characters to explain a rejection. You "
            f"entered {length}. Explain what was wrong, with numbers that can be checked."
        )


class NeedsCategory(WorkProblem):
    """The platform requires a category for a rejection."""

    def __init__(self) -> None:
        super().__init__("Choose the platform's category for this rejection.")


class SingleCheck(WorkProblem):
    """A rejection for one failed check where the platform requires two."""

    def __init__(self, failed: int, needed: int):
        super().__init__(
            f"{failed} failed check is not enough to reject for failed checks. For studies of five minutes or more, "
            f"the platforms require {needed}. If something else was wrong, choose another category."
        )


S = AssignmentState


# Problems that skip one of many questionnaires. The others are decided.
REFUSALS: Final = (WorkProblem, ActionError)


@transaction.atomic
def accept(*, assignment: Assignment, by: User, now: datetime, note: str = "") -> Assignment:
    """Accept a questionnaire, including a rejected one. It is paid here and on the platform that the judge came from.

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
    """Reject a questionnaire, so that another judge gets it; pay nothing, a part or all of it.

    The platform that the judge came from is told too, with the category and length that it requires. What was accepted
    before stays paid, because platforms do not take money back.

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
    """Include judgments in the analysis or exclude them, regardless of payment. The current signals are stored with it.

    Raises
    ------
    WorkProblem
    """
    choose = decisions.include if holds else decisions.exclude
    return choose(assignment=assignment, reason=reason, evidence=_signals(assignment), by=by, now=now)


@transaction.atomic
def pay(*, assignment: Assignment, amount: int, reason: str, by: User, now: datetime) -> AssignmentPayment:
    """Add an extra payment to a judge; platforms pay it as a bonus.

    Raises
    ------
    WorkProblem
    """
    payment: AssignmentPayment = ASSIGNMENTS.pay(assignment, amount=amount, reason=reason, by=by, now=now)
    platform_decisions.order_bonus(assignment, payment=payment.pk, amount=amount, reason=payment.reason, by=by, now=now)
    return payment


def accept_clean(*, campaign: Campaign, until: datetime, by: User, now: datetime) -> BulkResult:
    """Accept each unflagged questionnaire of a campaign that was submitted by `until`.

    Flags are computed anew. Questionnaires that another reviewer has open or that cannot be accepted are skipped. All
    can be undone together (`undo_each`).
    """
    clean = [row.assignment for row in queue.proposing(campaign, ProposedAction.ACCEPT, now)]
    handed_in = [one for one in clean if one.submitted_at is not None and one.submitted_at <= until]
    return bulk.for_each(handed_in, lambda one: accept(assignment=one, by=by, now=now), REFUSALS)


def accept_each(*, assignments: Iterable[Assignment], by: User, now: datetime) -> BulkResult:
    """Accept each of these questionnaires if it awaits review; skip those that cannot be accepted."""
    return bulk.for_each(_waiting(assignments), lambda one: accept(assignment=one, by=by, now=now), REFUSALS)


def reject_each(
    *,
    assignments: Iterable[Assignment],
    reason: str,
    in_full: bool = False,
    category: str = "",
    by: User,
    now: datetime,
) -> BulkResult:
    """Reject each of these questionnaires if it awaits review, for the same reason and with full pay or none."""

    def reject_one(one: Assignment) -> None:
        part = max((one.pay or 0) - total_paid(one), 0) if in_full else 0
        reject(assignment=one, reason=reason, pay_part=part, category=category, by=by, now=now)

    return bulk.for_each(_waiting(assignments), reject_one, REFUSALS)


@transaction.atomic
def undo_decision(*, assignment: Assignment, by: User, now: datetime, at: datetime | None = None) -> Assignment:
    """Undo the decision about a questionnaire and its orders to the platform. Idempotent.

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
    """Assign each of these questionnaires to a reviewer, or to nobody, if it awaits review."""

    def assign_one(one: Assignment) -> None:
        assignees.assign(ASSIGNMENTS, one, one.questionnaire.campaign.study, to)

    return bulk.for_each(assignments, assign_one, REFUSALS)


def undo_each(*, campaign: Campaign, at: datetime, by: User, now: datetime) -> BulkResult:
    """Undo a reviewer's decisions in a campaign at one moment; skip those that cannot be undone."""
    moves = queue.transitions_of(campaign).filter(by=by, at=at, before=S.SUBMITTED)
    rows = queue.assignments_of(campaign).filter(pk__in=moves.values("assignment")).order_by("pk")
    return bulk.for_each(rows, lambda one: undo_decision(assignment=one, at=at, by=by, now=now), REFUSALS)


def _waiting(assignments: Iterable[Assignment]) -> list[Assignment]:
    """Return those that still await review, so that a bulk decision does not change decisions made meanwhile."""
    return [one for one in assignments if one.state == S.SUBMITTED]


def _signals(assignment: Assignment) -> dict[str, Any]:
    signals_of_assignment = proposals.flags_of([assignment])[assignment.pk]
    return {signal.name: signal.evidence for signal in signals_of_assignment}


def _look_at_checks(assignment: Assignment) -> None:
    work = evidence.collect_work([assignment])[assignment.pk]
    failed = sum(not check.passed for check in work.checks)
    if failed < work.fails_needed:
        raise SingleCheck(failed, work.fails_needed)
