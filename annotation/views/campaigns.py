"""A study's campaigns, and one with what it asks and what came in."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from ..domain import overview
from ..models import Campaign


@study_page(Role.VIEWER)
def campaigns(request: HttpRequest, study: Study) -> HttpResponse:
    """List the campaigns with how much each collected."""
    found = Campaign.objects.filter(study=study).with_counts().order_by("-created_at", "id")
    return render(request, "annotation/campaigns.html", {"campaigns": found, "section": "annotation"})


@study_page(Role.VIEWER)
def campaign(request: HttpRequest, study: Study, campaign_id: int) -> HttpResponse:
    """Show a campaign: dimensions, instructions, assignments by state, distribution of answers."""
    found = get_object_or_404(Campaign.objects.filter(study=study).with_counts(), pk=campaign_id)
    context = {"campaign": found, "section": "annotation", **overview.describe(found)}
    return render(request, "annotation/campaign.html", context)
