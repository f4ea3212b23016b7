"""A study's campaigns, and one with how it stands: for everybody who may read them; people go by their pseudonyms."""

from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from crowdrag.studies.access import audited, study_page
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Study
from crowdrag.ui import csv_export

from ..domain import assignments, live
from ..domain import overview as asked
from ..models import Campaign

SECTION = {"section": "annotation"}
PER_PAGE = 20
LISTED_PER_PAGE = 50
JUDGES_PER_PAGE = 50
# Phases in which nothing of a campaign moves here.
STILL = (live.Phase.IMPORTED, live.Phase.MODEL, live.Phase.DRAFT)


@study_page(Role.VIEWER)
@require_safe
def campaigns(request: HttpRequest, study: Study) -> HttpResponse:
    """List the campaigns with how much each collected, the latest first."""
    page = Paginator(_of(study).with_counts().newest_first(), LISTED_PER_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "campaigns": live.glance(page), "may_edit": _role(request) >= Role.EDITOR}
    return render(request, "annotation/campaigns.html", context | SECTION)


@study_page(Role.VIEWER)
@require_safe
def campaign(request: HttpRequest, study: Study, campaign_id: int) -> HttpResponse:
    """Show a campaign: how it stands while it runs, or what came in where it does not run here; and what it asks."""
    found = get_object_or_404(_of(study).with_counts(), pk=campaign_id)
    context = {"campaign": found, "phase": live.phase(found), "may_edit": _role(request) >= Role.EDITOR}
    if context["phase"] not in STILL:
        context |= _moving(request, found)
    return render(request, "annotation/campaign.html", context | asked.describe(found) | SECTION)


@study_page(Role.VIEWER)
@require_safe
def moving(request: HttpRequest, study: Study, campaign_id: int) -> HttpResponse:
    """Answer with the part of a campaign's page that moves; with 204 if nothing has changed since `seen`."""
    found = get_object_or_404(_of(study), pk=campaign_id)
    if live.phase(found) in STILL:
        raise Http404("Nothing of this campaign moves.")
    context = _moving(request, found)
    if request.GET.get("seen") == context["found"].digest:
        return HttpResponse(status=204)
    return render(request, "annotation/live/_moving.html", context)


@study_page(Role.VIEWER)
@require_safe
@audited(AuditedContent.PEOPLE)
def judges(request: HttpRequest, study: Study, campaign_id: int) -> HttpResponse:
    """List who judges in a campaign, those who are trusted least first."""
    found = get_object_or_404(_of(study), pk=campaign_id)
    if live.phase(found) in STILL:
        raise Http404("Nobody judges in this campaign here.")
    shown = live.overview(found)
    page = Paginator(shown.judges, JUDGES_PER_PAGE).get_page(request.GET.get("page"))
    asked_of = [each.dimension for each in shown.agreement]
    context = {
        "campaign": found,
        "found": shown,
        "page": page,
        "dimensions": asked_of,
        "judges": [(judge, [judge.trust.get(dimension.pk) for dimension in asked_of]) for judge in page],
    }
    return render(request, "annotation/live/judges.html", context | SECTION)


@study_page(Role.VIEWER)
@require_safe
@audited(AuditedContent.PEOPLE)
def table(request: HttpRequest, study: Study, campaign_id: int, name: str) -> HttpResponse:
    """Send one of the tables as CSV."""
    found = get_object_or_404(_of(study), pk=campaign_id)
    try:
        content = live.as_table(found, name)
    except live.UnknownTable as error:
        raise Http404("There is no such table.") from error
    disposition = f'attachment; filename="{study.slug}-campaign-{found.pk}-{name}.csv"'
    return HttpResponse(content, content_type=csv_export.MEDIA_TYPE, headers={"Content-Disposition": disposition})


def _of(study: Study) -> Any:
    return Campaign.objects.filter(study=study).select_related("study", "instructions", "consent_text")


def _role(request: HttpRequest) -> Role:
    return request.study_role  # type: ignore[attr-defined, no-any-return] # set by study_page


def _moving(request: HttpRequest, campaign: Campaign) -> dict[str, Any]:
    found = live.overview(campaign)
    return {
        "campaign": campaign,
        "found": found,
        "phase": found.phase,
        "page": Paginator(found.questionnaires, PER_PAGE).get_page(request.GET.get("page")),
        "purpose": assignments.purpose(campaign),
        "may_edit": _role(request) >= Role.EDITOR,
        "may_review": _role(request) >= Role.REVIEWER,
    }
