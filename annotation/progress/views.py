"""Pages of campaigns: list, one campaign; pause, close, reopen, extend.

Everybody who may read them sees them; people go by their pseudonyms.
"""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from crowdrag.studies.access import audited, study_page
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Study
from crowdrag.ui import csv_export as ui_csv_export

from ..campaigns import launch, problems
from ..campaigns.views import of_people, put
from ..judging import claims
from ..models import Campaign
from . import campaign_summary, overview, services
from . import csv_export as progress_csv_export
from .forms import ExtendForm

SECTION = {"section": "judging"}
PER_PAGE = 20
LISTED_PER_PAGE = 50
JUDGES_PER_PAGE = 50
# Phases in which nothing of a campaign moves here.
STILL = (overview.Phase.IMPORTED, overview.Phase.MODEL, overview.Phase.DRAFT)


@study_page(Role.VIEWER)
@require_safe
def campaigns(request: HttpRequest, study: Study) -> HttpResponse:
    """List the campaigns with how much each collected, the latest first."""
    page = Paginator(_of(study).with_counts().newest_first(), LISTED_PER_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "campaigns": campaign_summary.summarise(page), "may_edit": _role(request) >= Role.EDITOR}
    return render(request, "annotation/progress/campaigns.html", context | SECTION)


@study_page(Role.VIEWER)
@require_safe
def campaign_page(request: HttpRequest, study: Study, campaign_id: int) -> HttpResponse:
    """Show a campaign: how it stands while it runs, or what came in where it does not run here; and what it asks."""
    campaign = get_object_or_404(_of(study).with_counts(), pk=campaign_id)
    context = {"campaign": campaign, "phase": overview.phase(campaign), "may_edit": _role(request) >= Role.EDITOR}
    if context["phase"] not in STILL:
        context |= _moving(request, campaign)
    return render(
        request, "annotation/progress/campaign.html", context | campaign_summary.describe_campaign(campaign) | SECTION
    )


@study_page(Role.VIEWER)
@require_safe
def live(request: HttpRequest, study: Study, campaign_id: int) -> HttpResponse:
    """Answer with the part of a campaign's page that moves; with 204 if nothing has changed since `seen`."""
    campaign = get_object_or_404(_of(study), pk=campaign_id)
    if overview.phase(campaign) in STILL:
        raise Http404("Nothing of this campaign moves.")
    context = _moving(request, campaign)
    if request.GET.get("seen") == context["found"].digest:
        return HttpResponse(status=204)
    return render(request, "annotation/progress/_live.html", context)


@study_page(Role.VIEWER)
@require_safe
@audited(AuditedContent.PEOPLE)
def judges(request: HttpRequest, study: Study, campaign_id: int) -> HttpResponse:
    """List who judges in a campaign, those who are trusted least first."""
    campaign = get_object_or_404(_of(study), pk=campaign_id)
    if overview.phase(campaign) in STILL:
        raise Http404("Nobody judges in this campaign here.")
    shown = overview.overview(campaign)
    page = Paginator(shown.judges, JUDGES_PER_PAGE).get_page(request.GET.get("page"))
    asked_of = [each.dimension for each in shown.agreement]
    context = {
        "campaign": campaign,
        "found": shown,
        "page": page,
        "dimensions": asked_of,
        "judges": [(judge, [judge.trust.get(dimension.pk) for dimension in asked_of]) for judge in page],
    }
    return render(request, "annotation/progress/judges.html", context | SECTION)


@study_page(Role.VIEWER)
@require_safe
@audited(AuditedContent.PEOPLE)
def table(request: HttpRequest, study: Study, campaign_id: int, name: str) -> HttpResponse:
    """Send one of the tables as CSV."""
    campaign = get_object_or_404(_of(study), pk=campaign_id)
    try:
        content = progress_csv_export.as_table(campaign, name)
    except progress_csv_export.UnknownTable as error:
        raise Http404("There is no such table.") from error
    disposition = f'attachment; filename="{study.slug}-campaign-{campaign.pk}-{name}.csv"'
    return HttpResponse(content, content_type=ui_csv_export.MEDIA_TYPE, headers={"Content-Disposition": disposition})


def _of(study: Study) -> Any:
    return Campaign.objects.filter(study=study).select_related("study", "instructions", "consent_text")


def _role(request: HttpRequest) -> Role:
    return request.study_role  # type: ignore[attr-defined, no-any-return] # set by study_page


def _moving(request: HttpRequest, campaign: Campaign) -> dict[str, Any]:
    figures = overview.overview(campaign)
    return {
        "campaign": campaign,
        "found": figures,
        "phase": figures.phase,
        "page": Paginator(figures.questionnaires, PER_PAGE).get_page(request.GET.get("page")),
        "purpose": claims.purpose(campaign),
        "may_edit": _role(request) >= Role.EDITOR,
        "may_review": _role(request) >= Role.REVIEWER,
    }


@of_people()
@require_POST
def pause(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Give out no questionnaire for the time being."""
    return _to(request, campaign, launch.pause_campaign, _("Paused. People who have a questionnaire can finish it."))


@of_people()
@require_POST
def close(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Give out no questionnaire any more."""
    return _to(request, campaign, launch.close_campaign, _("Closed. People who have a questionnaire can finish it."))


@of_people()
@require_POST
def reopen(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Give out questionnaires again."""
    return _to(
        request, campaign, launch.reopen_campaign, _("The campaign is open. People who use its links can judge again.")
    )


@of_people()
@require_http_methods(["GET", "HEAD", "POST"])
def extend(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Say what more judgments of each questionnaire cost; POST asks for them."""
    data = request.POST if request.method == "POST" else request.GET if "k" in request.GET else None
    form = ExtendForm(campaign, data)
    cost = None
    if data is not None and form.is_valid():
        try:
            cost = services.extension_cost(campaign, form.cleaned_data["k"])
            if request.method == "POST":
                slot_count = services.extend(campaign=campaign, k=form.cleaned_data["k"], now=timezone.now())
                messages.success(request, _extended(slot_count))
                return redirect("campaign", campaign.study.slug, campaign.pk)
        except problems.CampaignProblem as error:
            put(form, error)
    context = {
        "campaign": campaign,
        "form": form,
        "extension": cost,
        "phase": overview.phase(campaign),
        "recruitment": reverse("recruitment", args=[campaign.study.slug, claims.purpose(campaign)]),
        **SECTION,
    }
    return render(request, "annotation/progress/extend.html", context, status=422 if form.errors else 200)


def _extended(slot_count: int) -> str:
    if not slot_count:
        return _("There are already that many places.")
    return ngettext("Added %(n)s place.", "Added %(n)s places.", slot_count) % {"n": slot_count}


def _to(request: HttpRequest, campaign: Campaign, change: Callable[..., Campaign], done: str) -> HttpResponse:
    try:
        change(campaign=campaign, now=timezone.now())
    except problems.CampaignProblem as error:
        messages.error(request, str(error))
    else:
        messages.success(request, done)
    return redirect("campaign", campaign.study.slug, campaign.pk)
