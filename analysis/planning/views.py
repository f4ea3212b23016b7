"""Pages of planning: cost and precision of study designs."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.campaigns.problems import CampaignProblem
from annotation.models import Campaign
from annotation.progress import goal_progress
from crowdrag.jobs.models import Run
from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from ..figures import figure, renderer
from . import queries, services
from . import queries as planner_queries
from .forms import PlanForm, UseForm, initial
from .parameters import BadPlanError


@study_page(Role.VIEWER)
@require_http_methods(["GET", "HEAD", "POST"])
def planner(request: HttpRequest, study: Study) -> HttpResponse:
    """Show a plan and the form for a new one, or start a plan."""
    may_plan = request.study_role >= Role.EDITOR  # type: ignore[attr-defined]
    campaign = _requested_campaign(request, study)
    known = queries.default_parameters(study, campaign)
    options: dict[str, Any] = {"currency": study.currency, "source": known["source"]}
    if request.method == "POST" and may_plan:
        form = PlanForm(request.POST, **options)
        if form.is_valid():
            plan_run = services.start(
                study=study, parameters=form.plan(), by=request.user, seed=form.cleaned_data["seed"]  # type: ignore[arg-type]
            )  # fmt: skip
            return redirect(services.result_url(plan_run) + (f"&campaign={campaign.pk}" if campaign else ""))
    else:
        form = PlanForm(initial=initial(known), **options)
    run = _requested_run(request, study)
    context = _use_context(request, study, campaign) | {
        "form": form, "may_plan": may_plan, "section": "judging" if campaign else "planner", "run": run
    }  # fmt: skip
    status = 422 if form.is_bound else 200
    return render(request, "analysis/planning/planner.html", context | planner_queries.planner(run), status=status)


@study_page(Role.VIEWER)
@require_safe
def show_progress(request: HttpRequest, study: Study, key: uuid.UUID) -> HttpResponse:
    """Show the progress of a plan and its results so far."""
    run = get_object_or_404(Run, study=study, kind=services.KIND, key=key)
    context = _use_context(request, study, _requested_campaign(request, study)) | {"run": run}
    return render(request, "analysis/planning/planner.html#found", context | planner_queries.planner(run))


@study_page(Role.EDITOR)
@require_POST
def use(request: HttpRequest, study: Study, key: uuid.UUID) -> HttpResponse:
    """Copy the numbers of one design to a draft's setup."""
    run = get_object_or_404(Run, study=study, kind=services.KIND, key=key)
    form = UseForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose a draft and a design of this plan.")
        return redirect(services.result_url(run))
    campaign = get_object_or_404(queries.drafts(study), pk=form.cleaned_data["campaign"])
    k, topics = form.cleaned_data["k"], form.cleaned_data["topics"]
    try:
        filled = services.fill_in(run=run, campaign=campaign, k=k, topics=topics, now=timezone.now())
    except (BadPlanError, CampaignProblem) as error:
        messages.error(request, str(error))
        return redirect(f"{services.result_url(run)}&campaign={campaign.pk}")
    messages.success(request, f"The setup now has the plan's numbers: {k} judges per pair, {filled.topics} topics.")
    if filled.topics < topics:
        messages.warning(
            request,
            f"The plan has {topics} topics, but only {filled.topics} have responses to compare. Import more topics.",
        )
    return redirect("campaign_setup", study.slug, campaign.pk)


@study_page(Role.VIEWER)
@require_safe
def chart(request: HttpRequest, study: Study, key: uuid.UUID, form: str) -> HttpResponse:
    """Send the chart of a plan so far; `?of=` changes when there are more results."""
    run = get_object_or_404(Run, study=study, kind=services.KIND, key=key)
    theme, size = request.GET.get("theme", "light"), request.GET.get("size", "paper")
    if not figure.is_known("plan", theme, form, size):
        raise Http404("There is no such chart.")
    try:
        spec = figure.specification_of_rows(study, "plan", theme, services.tables(run), run.parameters, size)
    except figure.EmptyChartError as error:
        raise Http404(str(error)) from None
    response = HttpResponse(renderer.draw(spec, form), content_type=renderer.MEDIA_TYPES[form])
    patch_cache_control(response, private=True, max_age=3600 if "of" in request.GET else 0)
    return response


@study_page(Role.VIEWER)
@require_safe
def goal_chart(request: HttpRequest, study: Study, campaign_id: int, form: str) -> HttpResponse:
    """Send the chart of a campaign's goal; `?of=` changes when judgments are looked at again."""
    campaign = get_object_or_404(Campaign, study=study, pk=campaign_id)
    theme, size = request.GET.get("theme", "light"), request.GET.get("size", "paper")
    if not figure.is_known("campaign_goal", theme, form, size):
        raise Http404("There is no such chart.")
    rows = {"campaign_goal": goal_progress.chart_rows(campaign)}
    try:
        spec = figure.specification_of_rows(study, "campaign_goal", theme, rows, {}, size)
    except figure.EmptyChartError as error:
        raise Http404(str(error)) from None
    response = HttpResponse(renderer.draw(spec, form), content_type=renderer.MEDIA_TYPES[form])
    patch_cache_control(response, private=True, max_age=3600 if "of" in request.GET else 0)
    return response


def _use_context(request: HttpRequest, study: Study, campaign: Campaign | None) -> dict[str, Any]:
    may_use = request.study_role >= Role.EDITOR  # type: ignore[attr-defined]
    return {"campaign": campaign, "may_use": may_use, "drafts": queries.drafts(study) if may_use else []}


def _requested_campaign(request: HttpRequest, study: Study) -> Campaign | None:
    """Return the draft that the planner was opened from; None without one."""
    key = request.GET.get("campaign", "")
    return queries.drafts(study).filter(pk=key).first() if key.isascii() and key.isdigit() and len(key) < 19 else None


def _requested_run(request: HttpRequest, study: Study) -> Run | None:
    key = request.GET.get("run")
    try:
        return services.find(study, key=uuid.UUID(key) if key else None)
    except (ValueError, Run.DoesNotExist):
        raise Http404("This study has no such plan.") from None
