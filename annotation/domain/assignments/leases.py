"""How long a claim holds: so many minutes after the last sign of life; and giving one back."""

import logging
from datetime import datetime

from django.db import transaction

from crowdrag.studies.models import Participant

from ...enums import AssignmentState
from ...models import Assignment
from . import moving, problems

S = AssignmentState
# One pass of the sweep takes so many; the next pass goes on.
AT_ONCE = 500
LAPSED = "lease over"
log = logging.getLogger(__name__)


def expire(*, now: datetime, at_once: int = AT_ONCE) -> int:
    """Take the place from those whose lease ran out, their answers kept; count them."""
    due = Assignment.objects.filter(state=S.ASSIGNED, lease_until__lt=now).order_by("lease_until", "pk")
    ended = 0
    for pk, participant in due.values_list("pk", "participant")[:at_once]:
        try:
            ended += _expire(pk, participant, now)
        except Exception:
            # One that cannot be ended must not keep the others' places.
            log.exception("The lease of assignment %s is over, but its place could not be freed", pk)
    return ended


@transaction.atomic
def _expire(pk: int, participant: int, now: datetime) -> bool:
    # Looked at again under the locks: its judge may have come back in this moment.
    people = Participant.objects.select_for_update(no_key=True, skip_locked=True)
    if not people.filter(pk=participant):
        return False
    held = Assignment.objects.select_for_update(of=("self",), no_key=True, skip_locked=True)
    assignment = held.filter(pk=pk, state=S.ASSIGNED, lease_until__lt=now).first()
    if assignment is None:
        return False
    moving.move(assignment, S.TIMED_OUT, LAPSED, now=now, lease_until=None)
    return True


@transaction.atomic
def give_back(*, assignment: Assignment, reason: str = "", now: datetime) -> Assignment:
    """Take a questionnaire back from its judge at their wish: answers stay, the place is free for somebody else."""
    assignment = moving.locked(assignment)
    if assignment.state == S.RETURNED:
        return assignment
    if assignment.state not in {S.ASSIGNED, S.TIMED_OUT}:
        raise problems.NotAllowed(assignment, S.RETURNED)
    return moving.move(assignment, S.RETURNED, "given back", note=reason, now=now, lease_until=None)
