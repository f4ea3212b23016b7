"""Reasons in judging that prevent archiving or deleting a study."""

from collections.abc import Iterator

from crowdrag.studies.models import Study

from ..enums import AssignmentState, CampaignState
from ..models import Assignment, AssignmentPayment, Campaign
from . import campaign_summary


def work_in_progress(study: Study) -> Iterator[str]:
    """Yield a message if people can start judging, and one if some have started."""
    opened = Campaign.objects.filter(study=study, has_slots=True, state=CampaignState.OPEN).order_by("name")
    for summary in campaign_summary.summarise(opened):
        yield f"The campaign “{summary.campaign.name}” is {summary.phase}. Close it first."
    assignments = Assignment.objects.filter(questionnaire__campaign__study=study, participant__is_simulated=False)
    if assigned := assignments.filter(state=AssignmentState.ASSIGNED).count():
        waiting = "Wait until they are submitted or returned, or their time is over."
        yield f"Questionnaires being judged: {assigned}. {waiting}"


def payments(study: Study) -> Iterator[str]:
    """Yield a message if judges have earned money that must be accounted for."""
    paid = AssignmentPayment.objects.filter(
        assignment__questionnaire__campaign__study=study, amount__gt=0, assignment__participant__is_simulated=False
    )
    if paid.exists():
        yield "Judges have earned money, so their payment records must be kept. Archive the study instead."
