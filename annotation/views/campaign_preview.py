"""A campaign as a judge sees it; whatever is chosen here goes nowhere."""

from django.db.models import F
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from crowdrag.studies.access import audited
from crowdrag.studies.enums import AuditedContent, Role

from ..domain import offering, reading
from ..domain.campaigns import design, questions
from ..domain.checks import attention
from ..models import Campaign
from . import judging_wording
from .campaign_drafts import SECTION, of_people


@of_people(Role.VIEWER)
@require_safe
def preview(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show everything that judges are told before they get a questionnaire, and lead to one."""
    kept = design.read(campaign.design)
    context = {
        "campaign": campaign,
        "offer": offering.offer(campaign),
        "told": attention.told(campaign, kept.checks),
        "questionnaires": campaign.questionnaires.count(),
        "asked": questions.of(campaign),
        "section": SECTION,
    }
    return render(request, "annotation/campaigns/preview.html", context)


@of_people(Role.VIEWER)
@require_safe
@audited(AuditedContent.RESPONSE)
def questionnaire(request: HttpRequest, campaign: Campaign, number: int) -> HttpResponse:
    """Show a questionnaire to be tried out, by its number from 1."""
    # Imported ones have no position: they are tried in the order in which they came.
    ordered = campaign.questionnaires.order_by(F("position").asc(nulls_last=True), "pk")
    found = ordered.select_related("campaign__study")[max(number - 1, 0) : number]
    if not found:
        raise Http404
    context = {
        "page": reading.preview(found[0]),
        "campaign": campaign,
        "project": campaign.study,
        "title": offering.title(campaign),
        "number": number,
        "wording": judging_wording.questionnaire(),
    }
    return render(request, "annotation/campaigns/try.html", context)
