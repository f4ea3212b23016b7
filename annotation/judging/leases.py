"""Leases of assignments: current assignments, deadlines, returning and expiry."""

from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import QuerySet
from psycopg.types.numeric import Int8

from crowdrag import prepared_statements
from crowdrag.assignments.lifecycle import LEASE_OVER, LEAST_RENEWAL
from crowdrag.assignments.problems import NotAllowed
from crowdrag.studies.access import OwnRow, Row
from crowdrag.studies.models import Participant

from ..enums import HOLDING, AssignmentState
from ..models import Assignment, Campaign
from .lifecycle import ASSIGNMENTS

# States that do not count as judged: the slot is free for others.
NOT_JUDGED = (AssignmentState.RETURNED, AssignmentState.TIMED_OUT)

# An assignment in the URL, if it is the participant's own. Keys of campaigns are in the range of the database.
OWN_ASSIGNMENT: Final = OwnRow(
    columns=prepared_statements.columns(Assignment, "mine"),
    join="""LEFT JOIN (
            annotation_assignment mine
            JOIN annotation_questionnaire sheet ON sheet.id = mine.questionnaire_id
            JOIN annotation_campaign c ON c.id = sheet.campaign_id AND c.has_slots
        ) ON mine.external_id = %(external_id)s AND mine.participant_id = person.id AND c.id = %(campaign)s""",
    parameters=lambda campaign_id, assignment_id: {
        "external_id": assignment_id,
        "campaign": Int8(campaign_id if campaign_id < 2**63 else 0),
    },
)
_RENEW: Final = """
    UPDATE annotation_assignment SET lease_until = %(until)s WHERE id = %(assignment)s AND state = %(assigned)s
"""


def assignments_of(campaign: Campaign, participant: Participant) -> QuerySet[Assignment]:
    """Return a participant's assignments in a campaign, oldest first."""
    assignments = Assignment.objects.filter(questionnaire__campaign=campaign, participant=participant)
    return assignments.select_related("questionnaire__campaign__study", "participant").order_by("assigned_at", "pk")


def assignment_in_hand(campaign: Campaign, participant: Participant) -> Assignment | None:
    """Return the assignment that a participant is working on."""
    return assignments_of(campaign, participant).filter(state=AssignmentState.ASSIGNED).first()


def count_judged(campaign: Campaign, participant: Participant) -> int:
    """Return how many questionnaires a participant has judged or is judging."""
    return assignments_of(campaign, participant).exclude(state__in=NOT_JUDGED).count()


def lease_length(campaign: Campaign) -> timedelta:
    """Return how long a lease lasts after the last activity."""
    return timedelta(minutes=campaign.lease_minutes)


def read_assignment(participant: Participant, row: Row) -> Assignment:
    """Return the assignment in a row of `OWN_ASSIGNMENT`."""
    assignment = prepared_statements.instance(Assignment, row)
    assignment.participant = participant
    return assignment


def renew(assignment: Assignment, now: datetime, *, minutes: int | None = None) -> None:
    """Let a lease run from now for `minutes`, by default the campaign's. An expired lease is not renewed."""
    if assignment.state != AssignmentState.ASSIGNED:
        return
    lasts = lease_length(assignment.questionnaire.campaign) if minutes is None else timedelta(minutes=minutes)
    until = now + lasts
    if assignment.lease_until is None or until - assignment.lease_until >= min(LEAST_RENEWAL, lasts):
        arguments: dict[str, Any] = {
            "until": until, "assignment": Int8(assignment.pk), "assigned": str(AssignmentState.ASSIGNED)
        }  # fmt: skip
        with prepared_statements.cursor() as cursor:
            cursor.execute(_RENEW, arguments)
            is_renewed = cursor.rowcount == 1
        # Without a lock on the assignment, its lease may have ended in the meantime.
        if is_renewed:
            assignment.lease_until = until


S = AssignmentState


def expire(*, now: datetime) -> int:
    """Free the slots of assignments whose lease has expired, and return their number. Answers are kept."""
    return ASSIGNMENTS.expire(
        lambda assignment: ASSIGNMENTS.move(assignment, S.TIMED_OUT, LEASE_OVER, now=now, lease_until=None), now=now
    )


@transaction.atomic
def give_back(*, assignment: Assignment, reason: str = "", now: datetime) -> Assignment:
    """Return a questionnaire at the judge's request. Answers are kept, and the slot is free for others."""
    assignment = ASSIGNMENTS.lock(assignment)
    if assignment.state == S.RETURNED:
        return assignment
    if assignment.state not in {S.ASSIGNED, S.TIMED_OUT}:
        raise NotAllowed(assignment, S.RETURNED)
    return ASSIGNMENTS.move(assignment, S.RETURNED, "given back", note=reason, now=now, lease_until=None)


def on_withdraw(participant: Participant, now: datetime) -> None:
    """Free the slots of a withdrawing participant's unsubmitted assignments. The caller has locked the participant."""
    _withdraw(participant, [AssignmentState.ASSIGNED], "withdrew", now)


def on_erase(participant: Participant, now: datetime) -> None:
    """Free all slots of a participant whose data are erased. The caller has locked the participant."""
    # Lock all assignments first, also those without a slot, so that concurrent answers and submissions wait and then
    # fail.
    assignments = Assignment.objects.select_for_update(no_key=True).filter(participant=participant)
    list(assignments.order_by("pk").values_list("pk", flat=True))
    _withdraw(participant, list(HOLDING), "erased", now)


def _withdraw(participant: Participant, states: list[AssignmentState], cause: str, now: datetime) -> None:
    assignments = Assignment.objects.filter(
        participant=participant, state__in=states, questionnaire__campaign__has_slots=True
    )
    for assignment in assignments.order_by("pk"):
        held = ASSIGNMENTS.lock_alone(assignment.pk)
        if held.state in states:
            ASSIGNMENTS.move(held, AssignmentState.WITHDRAWN, cause, now=now, lease_until=None)
