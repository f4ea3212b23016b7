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
    """Release or take a slot of the questionnaire as the new state requires; raise NoSlot if all are held."""
    if before in HOLDING and after not in HOLDING:
        slots.release(assignment)
    needs_one = after in HOLDING and before not in HOLDING and assignment.questionnaire.campaign.has_slots
    if needs_one and not slots.take(assignment):
        raise NoSlot(assignment)


ASSIGNMENTS: Final = Lifecycle(
    model=Assignment,
    allowed={
        S.ASSIGNED: frozenset({S.SUBMITTED, S.RETURNED, S.TIMED_OUT, S.WITHDRAWN}),
        # The judge came back: in time they continue, too late they may submit what they have.
        S.RETURNED: frozenset({S.ASSIGNED, S.SUBMITTED, S.SURPLUS}),
        # Or the judge returns it.
        S.TIMED_OUT: frozenset({S.ASSIGNED, S.SUBMITTED, S.SURPLUS, S.RETURNED}),
        S.SUBMITTED: frozenset({S.ACCEPTED, S.REJECTED, S.WITHDRAWN}),
        # Back to review if the decision is undone.
        S.ACCEPTED: frozenset({S.REJECTED, S.WITHDRAWN, S.SUBMITTED}),
        # A rejection that is reversed, with or without a slot, or undone.
        S.REJECTED: frozenset({S.ACCEPTED, S.SURPLUS, S.SUBMITTED}),
        S.SURPLUS: frozenset({S.SUBMITTED}),
        S.WITHDRAWN: frozenset(),
    },
    in_hand=Q(state=S.ASSIGNED),
    batch_size=500,
    on_move=_change_slot,
    after_move=publish_move,
)
