"""A judge's pages: what comes next, and the questionnaire."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache

from crowdrag.studies.access import consented_page
from crowdrag.studies.models import Participant

from ..domain import offering, reading
from ..models import Assignment, Campaign

# A campaign's way, by what the address says.
judging_page = consented_page("judging-{campaign}")


@judging_page
@never_cache
def start(request: HttpRequest, participant: Participant, campaign: int) -> HttpResponse:
    """Show what comes next; POST gives a questionnaire, or the one in hand again."""
    found = get_object_or_404(Campaign.objects.filter(study=participant.study, has_places=True), pk=campaign)
    context = {
        "participant": participant,
        "taking_part": participant.study,
        "campaign": found,
        "offer": offering.offer(found),
    }
    return render(request, "annotation/judging/start.html", context)


@judging_page
@never_cache
def questionnaire(request: HttpRequest, participant: Participant, campaign: int, assignment: str) -> HttpResponse:
    """Show a questionnaire to be answered."""
    mine = Assignment.objects.filter(participant=participant, questionnaire__campaign=campaign)
    along = ("questionnaire__campaign__instructions", "questionnaire__campaign__study")
    found = get_object_or_404(mine.select_related(*along), external_id=assignment)
    context = {"participant": participant, "taking_part": participant.study, "page": reading.page(found)}
    return render(request, "annotation/judging/questionnaire.html", context)
