"""What becomes of the places of somebody who leaves."""

from datetime import datetime

from crowdrag.studies.models import Participant

from ...enums import HOLDING, AssignmentState
from ...models import Assignment
from . import moving


def leave(participant: Participant, now: datetime) -> None:
    """Give to others what somebody had in hand who withdraws; what they handed in stays. The caller holds them."""
    _withdraw(participant, [AssignmentState.ASSIGNED], "withdrew", now)


def erase_states(participant: Participant, now: datetime) -> None:
    """Free all places of somebody who has everything erased: others judge in their stead. The caller holds them."""
    # Held first, those without a place too: whoever still answers or hands in waits, and then finds them gone.
    mine = Assignment.objects.select_for_update(no_key=True).filter(participant=participant)
    list(mine.order_by("pk").values_list("pk", flat=True))
    _withdraw(participant, list(HOLDING), "erased", now)


def _withdraw(participant: Participant, states: list[AssignmentState], cause: str, now: datetime) -> None:
    mine = Assignment.objects.filter(
        participant=participant, state__in=states, questionnaire__campaign__has_places=True
    )
    for assignment in mine.order_by("pk"):
        held = moving.locked_alone(assignment.pk)
        if held.state in states:
            moving.move(held, AssignmentState.WITHDRAWN, cause, now=now, lease_until=None)
