"""What researchers decide. Accepting, paying and including are apart, each with its reason.

An accepted assignment is one of the k. A rejected one is none: its place is free, and somebody else judges. What was
erased at its judge's wish can still be paid, and nothing else.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.db import transaction

from crowdrag.studies.enums import DecisionKind
from crowdrag.studies.messages import services
from crowdrag.studies.models import User
from crowdrag.studies.review_locks import RELEASED, locked_by_another

from ..enums import AssignmentState
from ..models import Assignment, AssignmentDecision
from . import answers, payments, problems, transitions

S = AssignmentState
JUDGED_AS_ASKED: Final = "Judged as asked."


@transaction.atomic
def accept(*, assignment: Assignment, by: User, now: datetime, note: str = "") -> Assignment:
    """Accept an assignment: it is paid, and counts in the analysis unless it was decided otherwise before.

    Accepted again it stays accepted, and is paid once. A rejected one is accepted when somebody says why: with a place
    of its questionnaire if one is free, else as surplus, paid and not counted.

    Raises
    ------
    NotAllowed, UnderReview, NeedsReason
    """
    note = answers.storable_text(note).strip()
    assignment = transitions.lock(assignment)
    if assignment.state == S.ACCEPTED:
        return assignment
    if assignment.state == S.REJECTED:
        return _reverse(assignment, note, by, now)
    if assignment.state == S.SURPLUS and _was_rejected(assignment):
        return assignment
    _may_decide(assignment, by, S.ACCEPTED, now, {S.SUBMITTED})
    transitions.move(assignment, S.ACCEPTED, "accepted", note=note, by=by, now=now, **RELEASED)
    payments.pay_rest(assignment=assignment, reason=payments.ACCEPTED, by=by, now=now)
    reason = note or JUDGED_AS_ASKED
    _decide(assignment, DecisionKind.PAY, holds=True, reason=reason, by=by, now=now)
    if not assignment.decisions.filter(about=DecisionKind.INCLUDE).exists():
        _decide(assignment, DecisionKind.INCLUDE, holds=True, reason=reason, by=by, now=now)
    return assignment


@transaction.atomic
def reject(
    *,
    assignment: Assignment,
    reason: str,
    by: User,
    now: datetime,
    pay_part: int = 0,
    evidence: Mapping[str, Any] | None = None,
) -> Assignment:
    """Reject an assignment: nothing, a part or all of its pay; left out of the analysis; its place is free again.

    One that was accepted may be taken back; what was paid stays paid. `evidence` is kept with the decision to leave it
    out: what stood beside it when it was decided.

    Raises
    ------
    NeedsReason, BadAmount, NotAllowed, UnderReview
    """
    if not (reason := answers.storable_text(reason).strip()):
        raise problems.NeedsReason
    assignment = transitions.lock(assignment)
    if assignment.state == S.REJECTED:
        return assignment
    _may_decide(assignment, by, S.REJECTED, now, {S.SUBMITTED, S.ACCEPTED})
    before = payments.paid_of_promise(assignment)
    most = max((assignment.pay or 0) - before, 0)
    if not 0 <= pay_part <= most:
        raise problems.BadAmount(most, assignment.questionnaire.campaign.study.currency)
    transitions.move(assignment, S.REJECTED, "rejected", note=reason, by=by, now=now, **RELEASED)
    if pay_part:
        payments.pay(assignment=assignment, amount=pay_part, reason=payments.PART, by=by, now=now)
    amounts = {"amount": before + pay_part, "of": assignment.pay or 0}
    _decide(assignment, DecisionKind.PAY, holds=before + pay_part > 0, reason=reason, by=by, now=now, evidence=amounts)
    why = dict(evidence or {})
    _decide(assignment, DecisionKind.INCLUDE, holds=False, reason=reason, by=by, now=now, evidence=why)
    return assignment


@transaction.atomic
def take_up(*, assignment: Assignment, by: User, now: datetime, note: str = "") -> Assignment:
    """Let a surplus assignment have a place of its questionnaire that is free: it waits for a decision like any other.

    Raises
    ------
    NoPlace, NotAllowed, UnderReview, Erased
    """
    assignment = transitions.lock(assignment)
    if assignment.state in {S.SUBMITTED, S.ACCEPTED}:
        return assignment
    _may_decide(assignment, by, S.SUBMITTED, now, {S.SURPLUS})
    if assignment.participant.erased_at:
        raise problems.Erased
    note = answers.storable_text(note).strip()
    return transitions.move(assignment, S.SUBMITTED, "taken up", note=note, by=by, now=now, **RELEASED)


def include(
    *, assignment: Assignment, reason: str, evidence: Mapping[str, Any] | None = None, by: User, now: datetime
) -> AssignmentDecision:
    """Let an assignment's judgments count in the analysis once it is accepted, whatever it was paid.

    Raises
    ------
    NeedsReason, Erased
    """
    return _change(assignment, reason, evidence, by, now, holds=True)


def exclude(
    *, assignment: Assignment, reason: str, evidence: Mapping[str, Any] | None = None, by: User, now: datetime
) -> AssignmentDecision:
    """Leave an assignment's judgments out of the analysis, whatever it was paid."""
    return _change(assignment, reason, evidence, by, now, holds=False)


def _reverse(assignment: Assignment, note: str, by: User, now: datetime) -> Assignment:
    """Accept what was rejected, and pay the rest."""
    if not note:
        raise problems.NeedsReason
    counts = assignment.participant.erased_at is None
    if counts:
        try:
            transitions.move(assignment, S.ACCEPTED, "rejection reversed", note=note, by=by, now=now, **RELEASED)
        except problems.NoPlace:
            counts = False
    if not counts:
        transitions.move(
            assignment, S.SURPLUS, "rejection reversed, when its place was gone", note=note, by=by, now=now, **RELEASED
        )
    payments.pay_rest(assignment=assignment, reason=payments.REVERSED, by=by, now=now)
    services.settle_contests(
        participant=assignment.participant, about=assignment.external_id, text=note, by=by, now=now
    )
    _decide(assignment, DecisionKind.PAY, holds=True, reason=note, by=by, now=now)
    if counts:
        _decide(assignment, DecisionKind.INCLUDE, holds=True, reason=note, by=by, now=now)
    return assignment


def _was_rejected(assignment: Assignment) -> bool:
    return assignment.transitions.filter(before=S.REJECTED).exists()


@transaction.atomic
def _change(
    assignment: Assignment, reason: str, evidence: Mapping[str, Any] | None, by: User, now: datetime, *, holds: bool
) -> AssignmentDecision:
    if not (reason := answers.storable_text(reason).strip()):
        raise problems.NeedsReason
    assignment = transitions.lock(assignment)
    if assignment.participant.erased_at:
        raise problems.Erased
    last = assignment.decisions.filter(about=DecisionKind.INCLUDE).order_by("-decided_at", "-id").first()
    if last is not None and (last.holds, last.reason, last.decided_by_id) == (holds, reason, by.pk):
        return last  # the same request once more
    return _decide(
        assignment, DecisionKind.INCLUDE, holds=holds, reason=reason, by=by, now=now, evidence=dict(evidence or {})
    )


def _decide(
    assignment: Assignment,
    about: DecisionKind,
    *,
    holds: bool,
    reason: str,
    by: User,
    now: datetime,
    evidence: dict[str, Any] | None = None,
) -> AssignmentDecision:
    if about is DecisionKind.INCLUDE and assignment.is_included != holds:
        Assignment.objects.filter(pk=assignment.pk).update(is_included=holds)
        assignment.is_included = holds
    return AssignmentDecision.objects.create(
        assignment=assignment,
        about=about,
        holds=holds,
        reason=reason,
        evidence=evidence or {},
        decided_at=now,
        decided_by=by,
    )


def _may_decide(assignment: Assignment, by: User, after: S, now: datetime, states: set[S]) -> None:
    if assignment.state not in states:
        raise problems.NotAllowed(assignment, after)
    if locked_by_another(assignment, by, now):
        raise problems.UnderReview(assignment)
