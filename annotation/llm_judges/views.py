"""Pages of model judges: runs, settings, answers, injection tests."""

from functools import partial
from typing import Any
from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_http_methods, require_safe

from crowdrag.jobs.run_orders.views import order_run
from crowdrag.jobs.views import redirect_to_started
from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from ..enums import JudgingOutcome
from . import injection, injection_results, judge_run, queries, run_orders, trained_judge
from .forms import InjectionForm, JudgingForm, TrainingForm

PER_PAGE = 50
RUNS = 20
SECTION = {"section": "model_judges"}


@study_page(Role.EDITOR)
@require_safe
def judges(request: HttpRequest, study: Study) -> HttpResponse:
    """List the model judges, the injection tests, and the runs."""
    page = Paginator(queries.runs(study), RUNS).get_page(request.GET.get("page"))
    context = {
        "judges": queries.judges(study),
        "measured": injection_results.results_of_study(study),
        "page": page,
        "runs": queries.describe_runs(page.object_list),
        "outcomes": JudgingOutcome,
    }
    return render(request, "annotation/llm_judges/list.html", context | SECTION)


@study_page(Role.EDITOR)
@require_http_methods(["GET", "HEAD", "POST"])
def order(request: HttpRequest, study: Study) -> HttpResponse:
    """Start a judging run: show the form (for `campaign`), then the estimate with the prompts, then the run."""
    initial = {"source": request.GET["campaign"]} if "campaign" in request.GET else {}
    form = JudgingForm(study, request.POST if request.method == "POST" else None, initial=initial)
    return order_run(
        request,
        form,
        start=lambda order: judge_run.start(study=study, order=order, by=request.user),  # type: ignore[arg-type] # study_page lets nobody else in
        estimate=lambda order: {
            "forecast": run_orders.forecast(study=study, order=order),
            "sample": run_orders.sample(study=study, order=order),
        },
        show=partial(_form, request, form),
    )


@study_page(Role.EDITOR)
@require_http_methods(["GET", "HEAD", "POST"])
def measure(request: HttpRequest, study: Study) -> HttpResponse:
    """Start an injection test: show the form, then the estimate, then the run."""
    form = InjectionForm(study, request.POST if request.method == "POST" else None)
    return order_run(
        request,
        form,
        start=lambda order: injection.start(study=study, order=order, by=request.user),  # type: ignore[arg-type] # study_page lets nobody else in
        estimate=lambda order: {"forecast": injection.forecast(study=study, order=order)},
        show=partial(_form, request, form, is_measurement=True),
    )


@study_page(Role.EDITOR)
@require_http_methods(["GET", "HEAD", "POST"])
def train(request: HttpRequest, study: Study) -> HttpResponse:
    """Train a judge on the study's judgments: show the form (for `campaign`), then the run."""
    initial = {"source": request.GET["campaign"]} if "campaign" in request.GET else {}
    form = TrainingForm(study, request.POST if request.method == "POST" else None, initial=initial)
    if form.is_bound and form.is_valid():
        source = form.cleaned_data["source"]
        return redirect_to_started(request, trained_judge.start(study=study, source=source, by=request.user))  # type: ignore[arg-type] # study_page lets nobody else in
    context = {"form": form, **SECTION}
    return render(request, "annotation/llm_judges/train.html", context, status=422 if form.errors else 200)


@study_page(Role.EDITOR)
@require_safe
def run(request: HttpRequest, study: Study, key: UUID) -> HttpResponse:
    """Show the answers of a run's model by outcome, or the results of an injection test."""
    run_of_study = get_object_or_404(queries.runs(study), key=key)
    context: dict[str, Any] = {"row": queries.describe_runs([run_of_study])[0], "run": run_of_study}
    if run_of_study.kind == injection.KIND:
        context["found"] = injection_results.result_of_run(run_of_study)
        return render(request, "annotation/llm_judges/injection_results.html", context | SECTION)
    outcome = request.GET.get("outcome", "")
    page = Paginator(queries.answers(run_of_study, outcome=outcome), PER_PAGE).get_page(request.GET.get("page"))
    context |= {
        "page": page,
        "answers": queries.with_verdicts(page.object_list),
        "outcome": outcome,
        "outcomes": JudgingOutcome.choices,
    }
    return render(request, "annotation/llm_judges/run.html", context | SECTION)


def _form(
    request: HttpRequest, form: JudgingForm | InjectionForm, *, status: int = 200, **context: Any
) -> HttpResponse:
    return render(request, "annotation/llm_judges/new.html", {"form": form, **SECTION, **context}, status=status)
