"""Leases of assignments: what a judge has in hand, until when, and how it is given back."""

from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import QuerySet
from psycopg.types.numeric import Int8

from crowdrag import prepared_statements
from crowdrag.assignments.lifecycle import LEASE_OVER
from crowdrag.assignments.problems import NotAllowed
from crowdrag.studies.models import Participant

from ..enums import HOLDING, AssignmentState
from ..models import Assignment, Campaign
from .lifecycle import ASSIGNMENTS

# These do not count as judged: somebody else may have the slot.
NOT_JUDGED = (AssignmentState.RETURNED, AssignmentState.TIMED_OUT)
# A sign of life that adds less than this is not written down: who answers every few seconds writes one row, not two.
LEAST_RENEWAL = timedelta(minutes=1)

_THEIRS: Final = f"""
    SELECT {prepared_statements.columns(Assignment, "mine")} FROM annotation_assignment mine
    JOIN annotation_questionnaire sheet ON sheet.id = mine.questionnaire_id
    JOIN annotation_campaign c ON c.id = sheet.campaign_id
    WHERE mine.external_id = %(external_id)s AND mine.participant_id = %(participant)s AND c.id = %(campaign)s
        AND c.has_slots
"""  # noqa: S608 -- names of columns
_RENEW: Final = """
    UPDATE annotation_assignment SET lease_until = %(until)s WHERE id = %(assignment)s AND state = %(assigned)s
"""


def assignments_of(campaign: Campaign, participant: Participant) -> QuerySet[Assignment]:
    """Return somebody's assignments in a campaign, the first one first."""
    assignments = Assignment.objects.filter(questionnaire__campaign=campaign, participant=participant)
    return assignments.select_related("questionnaire__campaign__study", "participant").order_by("assigned_at", "pk")


def assignment_in_hand(campaign: Campaign, participant: Participant) -> Assignment | None:
    """Return the questionnaire that somebody is judging now."""
    return assignments_of(campaign, participant).filter(state=AssignmentState.ASSIGNED).first()


def count_judged(campaign: Campaign, participant: Participant) -> int:
    """Return how many questionnaires somebody has judged or is judging."""
    return assignments_of(campaign, participant).exclude(state__in=NOT_JUDGED).count()


def lease_length(campaign: Campaign) -> timedelta:
    """Return how long a claim holds after the last sign of life."""
    return timedelta(minutes=campaign.lease_minutes)


def find_assignment_of(*, participant: Participant, campaign: int, external_id: str) -> Assignment | None:
    """Return somebody's assignment in a campaign that has slots; nobody else's is found."""
    arguments = {"external_id": external_id, "participant": Int8(participant.pk), "campaign": Int8(campaign)}
    row = prepared_statements.row(_THEIRS, arguments) if external_id and campaign < 2**63 else None
    if row is None:
        return None
    assignment = prepared_statements.instance(Assignment, row)
    assignment.participant = participant
    return assignment


def renew(assignment: Assignment, now: datetime, *, minutes: int | None = None) -> None:
    """Let a lease run from now, so many minutes, or as the campaign says; one that is over stays so."""
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
        # Where nobody holds the assignment meanwhile, the lease may have ended just now.
        if is_renewed:
            assignment.lease_until = until


S = AssignmentState


def expire(*, now: datetime) -> int:
    """Take the slot from those whose lease ran out, their answers kept; count them."""
    return ASSIGNMENTS.expire(
        lambda assignment: ASSIGNMENTS.move(assignment, S.TIMED_OUT, LEASE_OVER, now=now, lease_until=None), now=now
    )


@transaction.atomic
def give_back(*, assignment: Assignment, reason: str = "", now: datetime) -> Assignment:
    """Take a questionnaire back from its judge at their wish: answers stay, the slot is free for somebody else."""
    assignment = ASSIGNMENTS.lock(assignment)
    if assignment.state == S.RETURNED:
        return assignment
    if assignment.state not in {S.ASSIGNED, S.TIMED_OUT}:
        raise NotAllowed(assignment, S.RETURNED)
    return ASSIGNMENTS.move(assignment, S.RETURNED, "given back", note=reason, now=now, lease_until=None)


def on_withdraw(participant: Participant, now: datetime) -> None:
    """Give to others what somebody had in hand who withdraws; what they handed in stays. The caller holds them."""
    _withdraw(participant, [AssignmentState.ASSIGNED], "withdrew", now)


def on_erase(participant: Participant, now: datetime) -> None:
    """Free all slots of somebody who has everything erased: others judge in their stead. The caller holds them."""
    # Held first, those without a slot too: whoever still answers or hands in waits, and then finds them gone.
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
