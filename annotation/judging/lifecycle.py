"""The lifecycle of an assignment, and of the slot that it holds."""

from typing import Final

from django.db.models import Q

from crowdrag.assignments.lifecycle import Lifecycle
from crowdrag.mail.work_events import publish_move

from ..enums import HOLDING, AssignmentState
from ..models import Assignment
from . import slots
from .problems import NoSlot

S = AssignmentState


def _change_slot(assignment: Assignment, before: str, after: str) -> None:
    """Give the slot of the questionnaire back, or take one; NoSlot where one is needed and all are held."""
    if before in HOLDING and after not in HOLDING:
        slots.release(assignment)
    needs_one = after in HOLDING and before not in HOLDING and assignment.questionnaire.campaign.has_slots
    if needs_one and not slots.take(assignment):
        raise NoSlot(assignment)


ASSIGNMENTS: Final = Lifecycle(
    model=Assignment,
    allowed={
        S.ASSIGNED: frozenset({S.SUBMITTED, S.RETURNED, S.TIMED_OUT, S.WITHDRAWN}),
        # The judge came back: in time they go on, too late they may hand in what they have.
        S.RETURNED: frozenset({S.ASSIGNED, S.SUBMITTED, S.SURPLUS}),
        # Or they say that they will not come back.
        S.TIMED_OUT: frozenset({S.ASSIGNED, S.SUBMITTED, S.SURPLUS, S.RETURNED}),
        S.SUBMITTED: frozenset({S.ACCEPTED, S.REJECTED, S.WITHDRAWN}),
        # Back to review: the decision was undone.
        S.ACCEPTED: frozenset({S.REJECTED, S.WITHDRAWN, S.SUBMITTED}),
        # A rejection that was contested, and reversed: with a slot, or without one; or it was undone.
        S.REJECTED: frozenset({S.ACCEPTED, S.SURPLUS, S.SUBMITTED}),
        S.SURPLUS: frozenset({S.SUBMITTED}),
        S.WITHDRAWN: frozenset(),
    },
    in_hand=Q(state=S.ASSIGNED),
    batch_size=500,
    on_move=_change_slot,
    after_move=publish_move,
)
