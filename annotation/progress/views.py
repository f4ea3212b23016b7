"""Pages of campaigns: the list, the tabs of one campaign, and pause, close, reopen and extend.

All members with read access see them; participants are pseudonymous.
"""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from crowdrag.recruitment.models import PlatformStudy
from crowdrag.studies.access import audited, study_page
from crowdrag.studies.entry import link_forms
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Study
from crowdrag.ui import csv_export as ui_csv_export

from ..campaigns import launch, problems
from ..campaigns.views import of_people, put, tab_context
from ..enums import Judges
from ..judging import claims
from ..models import Campaign
from ..policies import queries as policy_queries
from . import campaign_summary, figures, judge_flags, overview, people_at_work, queries, services
from . import csv_export as progress_csv_export
from .forms import ExtendForm
from .judges import HANDED_IN, judges_of

SECTION = {"section": "judging"}
PER_PAGE = 20
LISTED_PER_PAGE = 50
# Flags of each judge's questionnaires take some milliseconds.
JUDGES_PER_PAGE = 20
# Phases without live progress here.
STILL = (overview.Phase.IMPORTED, overview.Phase.MODEL, overview.Phase.DRAFT)


@study_page(Role.VIEWER)
@require_safe
def campaigns(request: HttpRequest, study: Study) -> HttpResponse:
    """List the campaigns with the number of collected questionnaires, newest first."""
    archived = Campaign.objects.filter(study=study).archived().count()
    only_archived = archived > 0 and "archived" in request.GET
    listed = _of(study).archived() if only_archived else _of(study).current()
    page = Paginator(listed.with_counts().newest_first(), LISTED_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "campaigns": campaign_summary.summarise(page),
        "archived": archived,
        "only_archived": only_archived,
        "may_edit": _role(request) >= Role.EDITOR,
    }
    return render(request, "annotation/progress/campaigns.html", context | SECTION)


@study_page(Role.VIEWER)
@require_safe
def campaign_page(request: HttpRequest, study: Study, campaign_id: int) -> HttpResponse:
    """Show the progress of a running campaign, or the results of one that does not run here."""
    campaign = get_object_or_404(_of(study), pk=campaign_id)
    if overview.phase(campaign) in STILL:
        campaign = _of(study).with_counts().get(pk=campaign_id)
    context = tab_context(request, campaign, "Progress")
    if context["phase"] not in STILL:
        context |= _moving(request, campaign) | {"shows_questionnaires": "page" in request.GET}
    elif context["phase"] != overview.Phase.DRAFT:
        context |= campaign_summary.describe_campaign(campaign)
    return render(request, "annotation/progress/campaign.html", context)


@study_page(Role.VIEWER)
@require_safe
def live(request: HttpRequest, study: Study, campaign_id: int) -> HttpResponse:
    """Return the live part of a campaign's page; 204 if nothing has changed since `seen`."""
    campaign = get_object_or_404(_of(study), pk=campaign_id)
    if overview.phase(campaign) in STILL:
        raise Http404("Nothing of this campaign moves.")
    context = _moving(request, campaign)
    if request.GET.get("seen") == context["found"].digest:
        return HttpResponse(status=204)
    return render(request, "annotation/progress/_live.html", tab_context(request, campaign, "Progress") | context)


@study_page(Role.VIEWER)
@require_safe
@audited(AuditedContent.PEOPLE)
def quality(request: HttpRequest, study: Study, campaign_id: int) -> HttpResponse:
    """Show the agreement so far, flagged and least trusted judges, and the results of checks."""
    campaign = get_object_or_404(_of_people(study), pk=campaign_id)
    context = tab_context(request, campaign, "Quality") | campaign_summary.describe_campaign(campaign)
    context["has_judgments"] = context["judgments"] > 0
    if context["phase"] not in STILL:
        now = timezone.now()
        progress = overview.overview(campaign, now)
        page = Paginator(figures.judge_order(campaign, progress.rows, now), JUDGES_PER_PAGE).get_page(
            request.GET.get("page")
        )
        context |= {
            "found": progress,
            "phase": progress.phase,
            "has_judgments": any(progress.whole.counts[state] for state in HANDED_IN),
            "page": page,
            "checks": figures.check_results(campaign, progress.rows, now),
            "judges": judge_flags.with_flags(judges_of(campaign, list(page)), campaign),
            "dimensions_judged": [each.dimension for each in progress.agreement],
        }
    return render(request, "annotation/progress/quality.html", context)


@of_people()
@never_cache
@audited(AuditedContent.PEOPLE)
def participants(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """List the people at work, and the campaign's platform studies and links; POST creates links."""
    study, purpose, now = campaign.study, claims.purpose(campaign), timezone.now()
    context = tab_context(request, campaign, "Participants and links")
    if not context["is_run_here"]:
        raise Http404("Nobody takes part in this campaign here.")
    is_draft = context["phase"] == overview.Phase.DRAFT
    is_sent = request.method == "POST" and not is_draft
    form = link_forms.read_form(study, request.POST, purpose=purpose) if is_sent else None
    refused, created = None, []
    if form is not None and form.is_valid():
        created = link_forms.create(form, study=study, by=request.user, now=now)  # type: ignore[arg-type]
        if not created:
            messages.success(request, "Link created.")
            return redirect(request.path)
    elif form is not None:
        refused = form
    absolute = request.build_absolute_uri
    context |= link_forms.link_lists(study, absolute=absolute, now=now, purpose=purpose) | {
        "made": link_forms.with_addresses(created, absolute),
        "forms": link_forms.make_forms(study, purpose=purpose, refused=refused),
        "refused": refused.prefix if refused else "",
        "only_purpose": purpose,
        "back": request.path,
        "at_work": people_at_work.people_at_work(campaign),
        "waiting": people_at_work.awaiting_review(campaign),
        "platform_studies": PlatformStudy.objects.filter(study=study, purpose=purpose).order_by("-created_at", "-pk"),
    }
    status = 422 if refused else 200
    return render(request, "annotation/progress/participants.html", context, status=status)


@study_page(Role.VIEWER)
@require_safe
def judges(request: HttpRequest, study: Study, campaign_id: int) -> HttpResponse:
    """Redirect to the list of judges on the Quality tab."""
    get_object_or_404(_of(study), pk=campaign_id)
    return redirect("campaign_quality", study.slug, campaign_id, permanent=True)


@study_page(Role.VIEWER)
@require_safe
@audited(AuditedContent.PEOPLE)
def table(request: HttpRequest, study: Study, campaign_id: int, name: str) -> HttpResponse:
    """Return one of the tables as CSV."""
    campaign = get_object_or_404(_of(study), pk=campaign_id)
    try:
        content = progress_csv_export.as_table(campaign, name, timezone.now())
    except progress_csv_export.UnknownTable as error:
        raise Http404("There is no such table.") from error
    disposition = f'attachment; filename="{study.slug}-campaign-{campaign.pk}-{name}.csv"'
    return HttpResponse(content, content_type=ui_csv_export.MEDIA_TYPE, headers={"Content-Disposition": disposition})


def _of(study: Study) -> Any:
    return Campaign.objects.filter(study=study).select_related("study", "source", "instructions", "consent_text")


def _of_people(study: Study) -> Any:
    return _of(study).exclude(judges=Judges.MODEL)


def _role(request: HttpRequest) -> Role:
    return request.study_role  # type: ignore[attr-defined, no-any-return] # set by study_page


def _moving(request: HttpRequest, campaign: Campaign) -> dict[str, Any]:
    progress = overview.overview(campaign, timezone.now())
    page: Any = Paginator(queries.questionnaires_of(campaign), PER_PAGE).get_page(request.GET.get("page"))
    page.object_list = queries.count_states(page.object_list)
    return {
        "campaign": campaign,
        "found": progress,
        "phase": progress.phase,
        "page": page,
        "policy": policy_queries.describe_policy(campaign),
        "pace": progress.pace if progress.phase == overview.Phase.OPEN else None,
    }


@of_people()
@require_POST
def pause(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Pause a campaign: no new questionnaires are assigned for now."""
    return _to(request, campaign, launch.pause_campaign, "Paused. People who have a questionnaire can finish it.")


@of_people()
@require_POST
def close(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Close a campaign: no new questionnaires are assigned."""
    return _to(request, campaign, launch.close_campaign, "Closed. People who have a questionnaire can finish it.")


@of_people()
@require_POST
def reopen(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Reopen a campaign: questionnaires are assigned again."""
    return _to(
        request, campaign, launch.reopen_campaign, "The campaign is open. People who use its links can judge again."
    )


@of_people()
@require_http_methods(["GET", "HEAD", "POST"])
def extend(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show the cost of more judges per questionnaire; POST requests them."""
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
        return "There are already that many places."
    return ("Added %(n)s place." if slot_count == 1 else "Added %(n)s places.") % {"n": slot_count}


def _to(request: HttpRequest, campaign: Campaign, change: Callable[..., Campaign], done: str) -> HttpResponse:
    try:
        change(campaign=campaign, now=timezone.now())
    except problems.CampaignProblem as error:
        messages.error(request, str(error))
    else:
        messages.success(request, done)
    return redirect("campaign", campaign.study.slug, campaign.pk)
