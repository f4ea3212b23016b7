"""What a recruitment platform says of a visit: it frees a place only where nothing was handed in."""

from datetime import datetime
from typing import Final

from django.db import transaction

from crowdrag.studies.models import Participant

from ...enums import AssignmentState
from ...models import Assignment, Campaign
from . import moving

S = AssignmentState
# What platforms call it when somebody does not go on; everything else that they say changes no state here.
LOST: Final = {"RETURNED": S.RETURNED, "TIMED-OUT": S.TIMED_OUT}
CAUSES: Final = {S.RETURNED: "returned on the platform", S.TIMED_OUT: "timed out on the platform"}


@transaction.atomic
def heard(
    *,
    session: str,
    status: str,
    at: datetime,
    now: datetime,
    campaign: Campaign | None = None,
    participant: Participant | None = None,
) -> list[Assignment]:
    """Free the place of a visit that the platform says is over; return the assignments that this changed.

    `participant` is whose visit it is, where that is known: nobody's place is freed by what is said of another's.
    Heard twice, late, or in any order it comes to the same: what was handed in here stays so, and what was begun after
    the platform spoke is another matter.
    """
    after = LOST.get(status.upper().replace("_", "-").replace(" ", "-"))
    if not session or after is None:
        return []
    meant = Assignment.objects.filter(session=session, questionnaire__campaign__has_places=True)
    if campaign is not None:
        meant = meant.filter(questionnaire__campaign=campaign)
    if participant is not None:
        meant = meant.filter(participant=participant)
    changed = []
    for assignment in meant.order_by("participant_id", "pk"):
        held = moving.locked(assignment)
        begun_later = held.assigned_at is not None and held.assigned_at > at
        if held.state == S.ASSIGNED and held.session == session and not begun_later:
            changed.append(moving.move(held, after, CAUSES[after], now=now, lease_until=None))
        elif held.state == S.TIMED_OUT and after == S.RETURNED and held.session == session:
            changed.append(moving.move(held, after, CAUSES[after], now=now))
    return changed
