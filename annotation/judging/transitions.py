"""Every change of an assignment's state goes through here, with its place, and leaves a row with its cause."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.db import transaction

from crowdrag.studies.models import Participant, User

from ..enums import HOLDING, AssignmentState
from ..models import Assignment, AssignmentTransition
from . import slots
from .problems import NoPlace, NotAllowed

S = AssignmentState
# What may follow on what.
ALLOWED: Final[Mapping[str, frozenset[str]]] = {
    S.ASSIGNED: frozenset({S.SUBMITTED, S.RETURNED, S.TIMED_OUT, S.WITHDRAWN}),
    # The judge came back: in time they go on, too late they may hand in what they have.
    S.RETURNED: frozenset({S.ASSIGNED, S.SUBMITTED, S.SURPLUS}),
    # Or they say that they will not come back.
    S.TIMED_OUT: frozenset({S.ASSIGNED, S.SUBMITTED, S.SURPLUS, S.RETURNED}),
    S.SUBMITTED: frozenset({S.ACCEPTED, S.REJECTED, S.WITHDRAWN}),
    S.ACCEPTED: frozenset({S.REJECTED, S.WITHDRAWN}),
    # A rejection that was contested, and reversed: with a place, or without one.
    S.REJECTED: frozenset({S.ACCEPTED, S.SURPLUS}),
    S.SURPLUS: frozenset({S.SUBMITTED}),
    S.WITHDRAWN: frozenset(),
}


@transaction.atomic
def move(
    assignment: Assignment,
    after: AssignmentState,
    cause: str,
    *,
    note: str = "",
    by: User | None = None,
    now: datetime,
    **changes: Any,
) -> Assignment:
    """Put an assignment into another state, with its place and whatever else changes along, and write down why.

    The state that the caller has seen is compared with the row's in the same statement: of two who saw the same,
    one succeeds. `note` is for the judge to read.

    Raises
    ------
    NotAllowed
        if this state does not follow on the assignment's, or it has left the state in which the caller saw it.
    NoPlace
        if the state needs a place of the questionnaire, and all are held.
    """
    before = AssignmentState(assignment.state)
    if after not in ALLOWED[before]:
        raise NotAllowed(assignment, after)
    if not Assignment.objects.filter(pk=assignment.pk, state=before).update(state=after, **changes):
        assignment.refresh_from_db(fields=["state"])
        raise NotAllowed(assignment, after)
    if before in HOLDING and after not in HOLDING:
        slots.release(assignment)
    elif after in HOLDING and before not in HOLDING and _has_places(assignment) and not slots.take(assignment):
        raise NoPlace(assignment)
    assignment.state = after
    for name, value in changes.items():
        setattr(assignment, name, value)
    record(assignment, before, cause, note=note, by=by, now=now)
    return assignment


def record(
    assignment: Assignment, before: str, cause: str, *, note: str = "", by: User | None = None, now: datetime
) -> None:
    """Write down that an assignment has come into its state; `before` is empty for one that begins in it."""
    AssignmentTransition.objects.create(
        assignment=assignment, before=before, after=assignment.state, cause=cause[:200], note=note, by=by, at=now
    )


def lock(assignment: Assignment) -> Assignment:
    """Return the assignment as it is now, held until the transaction ends; its judge is held before it.

    What is stored about an assignment refers to its judge, and whoever lets somebody withdraw holds the judge first.
    """
    Participant.objects.select_for_update(no_key=True).filter(pk=assignment.participant_id).order_by().first()
    return lock_alone(assignment.pk)


def lock_alone(pk: int) -> Assignment:
    """Return an assignment as it is now, held until the transaction ends, for who does not hold its judge."""
    return (
        Assignment.objects.select_for_update(of=("self",), no_key=True)
        .select_related("questionnaire__campaign__study", "participant")
        .get(pk=pk)
    )


def _has_places(assignment: Assignment) -> bool:
    return assignment.questionnaire.campaign.has_places
