"""What somebody has in hand, and for how long it is theirs."""

from datetime import datetime, timedelta

from django.db.models import QuerySet

from crowdrag.studies.models import Participant

from ...enums import AssignmentState
from ...models import Assignment, Campaign

# These do not count as judged: somebody else may have the place.
NOT_JUDGED = (AssignmentState.RETURNED, AssignmentState.TIMED_OUT)
# A sign of life that adds less than this is not written down: who answers every few seconds writes one row, not two.
LEAST_RENEWAL = timedelta(minutes=1)


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


def renew(assignment: Assignment, now: datetime) -> None:
    """Let a lease run from now; the caller holds the assignment. One that is over stays so."""
    if assignment.state != AssignmentState.ASSIGNED:
        return
    until = now + lease(assignment.questionnaire.campaign)
    if assignment.lease_until is None or until - assignment.lease_until >= min(LEAST_RENEWAL, until - now):
        Assignment.objects.filter(pk=assignment.pk).update(lease_until=until)
        assignment.lease_until = until
