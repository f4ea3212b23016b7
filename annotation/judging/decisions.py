"""Decisions about assignments. Acceptance, payment and inclusion are separate, each with its reason.

An accepted assignment is one of the k. A rejected one is none: its slot is free, and somebody else judges. What was
erased at its judge's wish can still be paid, and nothing else.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.db import transaction

from crowdrag.assignments import decisions, undo
from crowdrag.assignments.lifecycle import REVERSED, storable_text
from crowdrag.assignments.problems import Erased, NeedsReason, NotUndoable
from crowdrag.assignments.review_locks import RELEASED
from crowdrag.studies.enums import DecisionKind
from crowdrag.studies.messages import services
from crowdrag.studies.models import User

from ..enums import AssignmentState
from ..models import Assignment, AssignmentDecision
from . import problems
from .lifecycle import ASSIGNMENTS

S = AssignmentState
JUDGED_AS_ASKED: Final = "Judged as asked."
SLOT_TAKEN: Final = "Another judge has taken this place. Accept the questionnaire instead: it is kept as surplus."


@transaction.atomic
def accept(*, assignment: Assignment, by: User, now: datetime, note: str = "") -> Assignment:
    """Accept an assignment: it is paid, and counts in the analysis unless it was decided otherwise before.

    Accepted again it stays accepted, and is paid once. A rejected one is accepted when somebody says why: with a slot
    of its questionnaire if one is free, else as surplus, paid and not counted.

    Raises
    ------
    NotAllowed, UnderReview, NeedsReason
    """
    note = storable_text(note).strip()
    assignment = ASSIGNMENTS.lock(assignment)
    if assignment.state == S.ACCEPTED:
        return assignment
    if assignment.state == S.REJECTED:
        return _reverse(assignment, note, by, now)
    if assignment.state == S.SURPLUS and _was_rejected(assignment):
        return assignment
    decisions.require_decidable(assignment, S.ACCEPTED, by, now, {S.SUBMITTED})
    decisions.accept(ASSIGNMENTS, assignment, assignment, note=note, default=JUDGED_AS_ASKED, by=by, now=now)
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
    """Reject an assignment: nothing, a part or all of its pay; left out of the analysis; its slot is free again.

    One that was accepted may be taken back; what was paid stays paid. `evidence` is kept with the decision to leave it
    out: what stood beside it when it was decided.

    Raises
    ------
    NeedsReason, BadAmount, NotAllowed, UnderReview
    """
    reason = decisions.require_reason(Assignment, reason)
    assignment = ASSIGNMENTS.lock(assignment)
    if assignment.state == S.REJECTED:
        return assignment
    decisions.require_decidable(assignment, S.REJECTED, by, now, {S.SUBMITTED, S.ACCEPTED})
    decisions.reject(
        ASSIGNMENTS, assignment, assignment, reason=reason, pay_part=pay_part, evidence=evidence, by=by, now=now
    )
    return assignment


@transaction.atomic
def take_up(*, assignment: Assignment, by: User, now: datetime, note: str = "") -> Assignment:
    """Let a surplus assignment have a slot of its questionnaire that is free: it waits for a decision like any other.

    Raises
    ------
    NoSlot, NotAllowed, UnderReview, Erased
    """
    assignment = ASSIGNMENTS.lock(assignment)
    if assignment.state in {S.SUBMITTED, S.ACCEPTED}:
        return assignment
    decisions.require_decidable(assignment, S.SUBMITTED, by, now, {S.SURPLUS})
    if assignment.erased_at:
        raise Erased(Assignment)
    note = storable_text(note).strip()
    return ASSIGNMENTS.move(assignment, S.SUBMITTED, "taken up", note=note, by=by, now=now, **RELEASED)


@transaction.atomic
def undo_decision(*, assignment: Assignment, by: User, now: datetime, at: datetime | None = None) -> Any | None:
    """Return an assignment to review, and return the decision that is undone; None if it was undone before.

    `at` names the decision by its moment, so that no later one is undone by mistake.

    Raises
    ------
    NotAllowed, UndoTooLate, NotUndoable, Erased
    """
    assignment = ASSIGNMENTS.lock(assignment)
    if assignment.state == S.SUBMITTED and undo.is_undone(assignment):
        return None
    move = undo.require_undoable(assignment, assignment, at=at, now=now)
    try:
        with transaction.atomic():
            undo.take_back(ASSIGNMENTS, assignment, assignment, move, by=by, now=now)
    except problems.NoSlot:
        raise NotUndoable(SLOT_TAKEN) from None
    return move


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
        raise NeedsReason(Assignment)
    counts = assignment.participant.erased_at is None
    if counts:
        try:
            ASSIGNMENTS.move(assignment, S.ACCEPTED, "rejection reversed", note=note, by=by, now=now, **RELEASED)
        except problems.NoSlot:
            counts = False
    if not counts:
        ASSIGNMENTS.move(
            assignment, S.SURPLUS, "rejection reversed, when its place was gone", note=note, by=by, now=now, **RELEASED
        )
    ASSIGNMENTS.pay_rest(assignment, REVERSED, by=by, now=now)
    services.settle_contests(
        participant=assignment.participant, about=assignment.external_id, text=note, by=by, now=now
    )
    decisions.decide(assignment, DecisionKind.PAY, holds=True, reason=note, by=by, now=now)
    if counts:
        decisions.decide(assignment, DecisionKind.INCLUDE, holds=True, reason=note, by=by, now=now)
    return assignment


def _was_rejected(assignment: Assignment) -> bool:
    return assignment.transitions.filter(before=S.REJECTED, after__in=[S.ACCEPTED, S.SURPLUS]).exists()


@transaction.atomic
def _change(
    assignment: Assignment, reason: str, evidence: Mapping[str, Any] | None, by: User, now: datetime, *, holds: bool
) -> AssignmentDecision:
    reason = decisions.require_reason(Assignment, reason)
    decided: AssignmentDecision = decisions.change_inclusion(
        Assignment, ASSIGNMENTS.lock(assignment), holds=holds, reason=reason, evidence=evidence, by=by, now=now
    )
    return decided
