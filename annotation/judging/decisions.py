"""Decisions about assignments. Acceptance, payment and inclusion are separate, each with its own reason.

An accepted assignment is one of the k. A rejected one is not: its slot is free for another judge. An assignment that
was erased at the judge's request can still be paid, but nothing else.
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
    """Accept an assignment: it is paid, and counts in the analysis unless it was excluded before.

    Accepting it again has no further effect. Accepting a rejected one needs a reason: it gets a free slot of its
    questionnaire, or becomes surplus (paid but not counted).

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
    """Reject an assignment: pay nothing, a part or all; exclude it from the analysis; free its slot.

    An accepted assignment can be rejected, but what was paid stays paid. `evidence` is stored with the exclusion: what
    the reviewer saw when deciding.

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
    """Give a surplus assignment a free slot of its questionnaire; it then awaits a decision like any other.

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
    """Return an assignment to review, and return the undone decision; None if it was undone before.

    `at` identifies the decision by its time, so that no later decision is undone by mistake.

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
    """Include an assignment's judgments in the analysis once it is accepted, regardless of payment.

    Raises
    ------
    NeedsReason, Erased
    """
    return _change(assignment, reason, evidence, by, now, holds=True)


def exclude(
    *, assignment: Assignment, reason: str, evidence: Mapping[str, Any] | None = None, by: User, now: datetime
) -> AssignmentDecision:
    """Exclude an assignment's judgments from the analysis, regardless of payment."""
    return _change(assignment, reason, evidence, by, now, holds=False)


def _reverse(assignment: Assignment, note: str, by: User, now: datetime) -> Assignment:
    """Accept a rejected assignment, and pay the rest."""
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
