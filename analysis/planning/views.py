"""Planning a study: what designs cost, and what they can find out."""

import uuid
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_http_methods, require_safe

from crowdrag.jobs.models import Run
from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from ..figures import figure, renderer
from . import queries, services
from . import queries as planner_queries
from .forms import PlanForm, initial


@study_page(Role.VIEWER)
@require_http_methods(["GET", "HEAD", "POST"])
def planner(request: HttpRequest, study: Study) -> HttpResponse:
    """Show a plan and the form that makes another; make one."""
    may_plan = request.study_role >= Role.EDITOR  # type: ignore[attr-defined]
    known = queries.default_parameters(study)
    options: dict[str, Any] = {"currency": study.currency, "source": known["source"]}
    if request.method == "POST" and may_plan:
        form = PlanForm(request.POST, **options)
        if form.is_valid():
            plan_run = services.start(
                study=study, parameters=form.plan(), by=request.user, seed=form.cleaned_data["seed"]  # type: ignore[arg-type]
            )  # fmt: skip
            return redirect(services.result_url(plan_run))
    else:
        form = PlanForm(initial=initial(known), **options)
    run = _requested_run(request, study)
    context = {"form": form, "may_plan": may_plan, "section": "planner", "run": run}
    status = 422 if form.is_bound else 200
    return render(request, "analysis/planning/planner.html", context | planner_queries.planner(run), status=status)


@study_page(Role.VIEWER)
@require_safe
def show_progress(request: HttpRequest, study: Study, key: uuid.UUID) -> HttpResponse:
    """Show how far a plan is, and what it found so far."""
    run = get_object_or_404(Run, study=study, kind=services.KIND, key=key)
    return render(request, "analysis/planning/planner.html#found", {"run": run} | planner_queries.planner(run))


@study_page(Role.VIEWER)
@require_safe
def chart(request: HttpRequest, study: Study, key: uuid.UUID, form: str) -> HttpResponse:
    """Send the chart of a plan so far; `?of=` changes when there is more to show."""
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


def _requested_run(request: HttpRequest, study: Study) -> Run | None:
    key = request.GET.get("run")
    try:
        return services.find(study, key=uuid.UUID(key) if key else None)
    except (ValueError, Run.DoesNotExist):
        raise Http404("This study has no such plan.") from None
