"""Pages of experiments: list, start, result, comparison."""

import uuid
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.jobs.run_orders.views import order_run
from crowdrag.request_limits import MAX_UPLOAD_BYTES
from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from ..rag.retrieval.index_library import MissingIndexError
from ..reports import comparison
from . import experiment as experiments
from . import index_runs, services
from . import queries as experiments_queries
from .forms import ExperimentForm, initial
from .question_sets import BadCollectionError

INVALID = 422


@study_page(Role.VIEWER)
@require_safe
def listing(request: HttpRequest, study: Study) -> HttpResponse:
    """List the experiments and their runs, or all runs of one experiment, paginated."""
    name = request.GET.get("experiment", "")
    if name and name not in experiments.EXPERIMENTS:
        raise Http404("Unknown experiment.")
    context = experiments_queries.listing(study, name, request.GET.get("page")) | _frame(request)
    return render(request, "analysis/experiments/list.html", context)


@study_page(Role.EDITOR, max_bytes=MAX_UPLOAD_BYTES + settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, study: Study, name: str) -> HttpResponse:
    """Show an experiment's form, then its cost, then start it."""
    experiment = _experiment(name)
    options: dict[str, Any] = {"experiment": experiment, "study": study, "by": request.user}
    if request.method == "POST":
        form = ExperimentForm(request.POST, request.FILES, **options)
    else:
        form = ExperimentForm(initial=_again(request, study, experiment), **options)

    def show(*, status: int = 200, **more: Any) -> HttpResponse:
        context = {"experiment": experiment, "form": form} | more | _frame(request)
        return render(request, "analysis/experiments/new.html", context, status=status)

    return order_run(
        request,
        form,
        show=show,
        estimate=lambda order: _expected(order, form),
        start=lambda order: services.start(order, by=form.by),
    )


@study_page(Role.EDITOR)
@require_POST
def estimate(request: HttpRequest, study: Study, name: str) -> HttpResponse:
    """Show the cost for the form's current values; nothing is stored or generated."""
    experiment = _experiment(name)
    form = ExperimentForm(request.POST, experiment=experiment, study=study)
    context: dict[str, Any] = {"experiment": experiment, "form": form}
    if form.is_valid():
        order = form.order()
        context |= {"order": order} | _expected(order)
    return render(request, "analysis/experiments/_cost_estimate.html", context)


@study_page(Role.VIEWER)
@require_safe
def result(request: HttpRequest, study: Study, key: uuid.UUID) -> HttpResponse:
    """Show a run's results: tables, charts, usage, and its report for download."""
    runs = Run.objects.select_related("study", "created_by")
    run = get_object_or_404(runs, study=study, key=key, kind__startswith=experiments.PREFIX)
    context = {"run": run} | experiments_queries.result(run, part=request.GET.get("part", "")) | _frame(request)
    return render(request, "analysis/experiments/experiment.html", context)


@study_page(Role.VIEWER)
@require_safe
def compare(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the differences between two finished runs of one experiment, or several side by side (`?run=`)."""
    if "run" in request.GET:
        return _beside(request, study)
    old, new = (_named_run(request, study, name) for name in ("a", "b"))
    if old and new and old.kind != new.kind:
        messages.error(request, "These runs belong to different experiments. Choose two runs of the same experiment.")
        return redirect("experiments", slug=study.slug)
    context: dict[str, Any] = {"old": old, "new": new} | _frame(request)
    one = new or old
    context["choices"] = experiments_queries.choices(study, one.kind) if one else []
    context["experiment"] = experiments.EXPERIMENTS.get(one.kind.removeprefix(experiments.PREFIX)) if one else None
    if old and new:
        context["comparison"] = comparison.compare(old, new)
    return render(request, "analysis/experiments/compare.html", context)


@study_page(Role.VIEWER)
@require_safe
def indexes(request: HttpRequest, study: Study) -> HttpResponse:
    """List the search indexes that runs of the study built or are building."""
    context = {"indexes": index_runs.of_study(study)} | _frame(request)
    return render(request, "analysis/experiments/indexes.html", context)


@study_page(Role.EDITOR)
@require_POST
def delete_index(request: HttpRequest, study: Study, key: str) -> HttpResponse:
    """Delete a search index of the study."""
    try:
        index = index_runs.delete(study, key)
    except MissingIndexError:
        messages.info(request, "This index was already deleted.")
    except experiments.BadParameterError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"Deleted the index of {index.corpus} by {index.choice}.")
    return redirect("indexes", study.slug)


def _beside(request: HttpRequest, study: Study) -> HttpResponse:
    keys = dict.fromkeys(_uuid(key) for key in request.GET.getlist("run"))
    runs = list(_finished(study).filter(key__in=keys).order_by("created_at", "id"))
    problem = ""
    if len(runs) < len(keys) or len(runs) < 2:
        problem = "Choose at least two finished runs."
    elif len({run.kind for run in runs}) > 1:
        problem = "These runs belong to different experiments. Choose runs of the same experiment."
    elif (experiment := experiments.EXPERIMENTS.get(runs[0].kind.removeprefix(experiments.PREFIX))) is None:
        problem = "The experiment of these runs is not installed on this server."
    elif len(runs) > comparison.MOST_RUNS:
        problem = f"Choose at most {comparison.MOST_RUNS} runs to compare side by side."
    if problem:
        messages.error(request, problem)
        return redirect("experiments", slug=study.slug)
    context = {
        "runs": experiments_queries.columns(runs),
        "tables": comparison.side_by_side(runs),
        "experiment": experiment,
    } | _frame(request)
    return render(request, "analysis/experiments/side_by_side.html", context)


def _expected(order: services.Order, form: ExperimentForm | None = None) -> dict[str, Any]:
    """The order with its cost, or with an error at the form's field."""
    try:
        return {"expected": services.forecast(order), "settled": experiments_queries.settled(order)}
    except (experiments.BadParameterError, BadCollectionError) as error:
        if form is not None:
            form.refuse(error)
        return {"problems": getattr(error, "problems", None) or [{"message": str(error)}]}


def _again(request: HttpRequest, study: Study, experiment: experiments.Experiment) -> dict[str, Any]:
    """The parameters of a run to repeat with changes (`?like=key`)."""
    runs = Run.objects.filter(study=study, kind=experiment.kind)
    if key := request.GET.get("like"):
        run = get_object_or_404(runs, key=_uuid(key))
        return initial(experiment, run.parameters, run.seed)
    return {}


def _experiment(name: str) -> experiments.Experiment:
    try:
        return experiments.EXPERIMENTS[name]
    except KeyError:
        raise Http404("Unknown experiment.") from None


def _named_run(request: HttpRequest, study: Study, name: str) -> Run | None:
    """The finished run with this key in the request, if any."""
    key = request.GET.get(name)
    if not key:
        return None
    return get_object_or_404(_finished(study), key=_uuid(key))


def _finished(study: Study) -> QuerySet[Run]:
    runs = Run.objects.filter(study=study, kind__startswith=experiments.PREFIX, state=RunState.DONE)
    return runs.select_related("study")


def _uuid(key: str) -> uuid.UUID:
    try:
        return uuid.UUID(key)
    except ValueError:
        raise Http404("This is not the key of a run.") from None


def _frame(request: HttpRequest) -> dict[str, Any]:
    may = request.study_role >= Role.EDITOR  # type: ignore[attr-defined]
    return {"section": "experiments", "may_start": may}
