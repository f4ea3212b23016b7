"""What somebody has in hand, and for how long it is theirs."""

from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import QuerySet
from psycopg.types.numeric import Int8

from crowdrag import prepared_statements
from crowdrag.studies.models import Participant

from ...enums import AssignmentState
from ...models import Assignment, Campaign

# These do not count as judged: somebody else may have the place.
NOT_JUDGED = (AssignmentState.RETURNED, AssignmentState.TIMED_OUT)
# A sign of life that adds less than this is not written down: who answers every few seconds writes one row, not two.
LEAST_RENEWAL = timedelta(minutes=1)

_THEIRS: Final = f"""
    SELECT {prepared_statements.columns(Assignment, "mine")} FROM annotation_assignment mine
    JOIN annotation_questionnaire sheet ON sheet.id = mine.questionnaire_id
    JOIN annotation_campaign c ON c.id = sheet.campaign_id
    WHERE mine.external_id = %(external_id)s AND mine.participant_id = %(participant)s AND c.id = %(campaign)s
        AND c.has_places
"""  # noqa: S608 -- names of columns
_RENEW: Final = """
    UPDATE annotation_assignment SET lease_until = %(until)s WHERE id = %(assignment)s AND state = %(assigned)s
"""


def of(campaign: Campaign, participant: Participant) -> QuerySet[Assignment]:
    """Return somebody's assignments in a campaign, the first one first."""
    mine = Assignment.objects.filter(questionnaire__campaign=campaign, participant=participant)
    return mine.select_related("questionnaire__campaign__study", "participant").order_by("assigned_at", "pk")


def in_hand(campaign: Campaign, participant: Participant) -> Assignment | None:
    """Return the questionnaire that somebody is judging now."""
    return of(campaign, participant).filter(state=AssignmentState.ASSIGNED).first()


def judged(campaign: Campaign, participant: Participant) -> int:
    """Return how many questionnaires somebody has judged or is judging."""
    return of(campaign, participant).exclude(state__in=NOT_JUDGED).count()


def lease(campaign: Campaign) -> timedelta:
    """Return how long a claim holds after the last sign of life."""
    return timedelta(minutes=campaign.lease_minutes)


def theirs(*, participant: Participant, campaign: int, external_id: str) -> Assignment | None:
    """Return somebody's assignment in a campaign that has places; nobody else's is found."""
    arguments = {"external_id": external_id, "participant": Int8(participant.pk), "campaign": Int8(campaign)}
    found = prepared_statements.row(_THEIRS, arguments) if external_id and campaign < 2**63 else None
    if found is None:
        return None
    assignment = prepared_statements.instance(Assignment, found)
    assignment.participant = participant
    return assignment


def renew(assignment: Assignment, now: datetime, *, minutes: int | None = None) -> None:
    """Let a lease run from now, so many minutes, or as the campaign says; one that is over stays so."""
    if assignment.state != AssignmentState.ASSIGNED:
        return
    lasts = lease(assignment.questionnaire.campaign) if minutes is None else timedelta(minutes=minutes)
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
