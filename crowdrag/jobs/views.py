"""Pages of runs: the list, one run, the card on the study's overview, and the operator's page of workers."""

import uuid
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST
from django_htmx.http import HttpResponseClientRedirect, HttpResponseClientRefresh

from crowdrag.studies.access import operator_page, study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from . import kinds, lifecycle, progress
from .enums import Queue, RunState, UnitState
from .models import BEAT_IS_FRESH_FOR, Run, Unit, WorkerHeartbeat, may_start
from .templatetags.jobs import column_name, plainly

PER_PAGE = 25
# Session key: the run that the user has just started.
STARTED = "started_run"


@study_page(Role.VIEWER)
def run_list(request: HttpRequest, study: Study) -> HttpResponse:
    """List the runs, newest first, optionally of one kind or state."""
    kind, state = request.GET.get("kind", ""), request.GET.get("state", "")
    runs = Run.objects.filter(study=study)
    known = list(runs.order_by("kind").values_list("kind", flat=True).distinct())
    if kind in known:
        runs = runs.filter(kind=kind)
    if state in RunState.values:
        runs = runs.filter(state=state)
    ordered = runs.with_unit_counts().select_related("created_by").newest_first()
    page = Paginator(ordered, PER_PAGE).get_page(request.GET.get("page"))
    listed = list(page)
    shown = progress.measure_listed(listed)
    rows = [{**labels, "progress": shown[labels["run"].pk]} for labels in _labels(listed)]
    context = {
        "page": page,
        "rows": rows,
        "kinds": [(name, kinds.title(name)) for name in known],
        "states": RunState.choices,
        "kind": kind,
        "state": state,
    }
    return render(request, "jobs/runs.html", context)


SHOWN_UNITS = 50


@study_page(Role.VIEWER)
def run_page(request: HttpRequest, study: Study, key: uuid.UUID) -> HttpResponse:
    """Show a run; show its result instead to the user who has just started it, if it has ended already."""
    run = _run(study, key)
    kind = kinds.find(run.kind)
    if request.session.pop(STARTED, "") == str(key) and (address := _lead_on(request, run)):
        return redirect(address)
    failed = run.units.filter(state=UnitState.FAILED)
    context = _progress_context(run) | {
        "artifacts": run.artifacts.order_by("name", "id"),
        "failed_units": failed.order_by("position")[:SHOWN_UNITS],
        "failed_count": failed.count(),
        "columns": _columns(run.problems),
        "result_url": _result_url(run),
        "result_label": kind.result_label if kind else "",
        "summary": _summary(run),
        "warnings": _warnings(run),
        "restarts": kind.restarts(run) if kind and kind.restarts and run.is_rejected else [],
        "parameters": _parameters(run),
        "may_change": request.study_role >= Role.EDITOR,  # type: ignore[attr-defined]
        "resumable": run.is_resumable,
    }
    return render(request, "jobs/run.html", context)


@study_page(Role.VIEWER)
def run_progress(request: HttpRequest, study: Study, key: uuid.UUID) -> HttpResponse:
    """Return the current progress for polling; when the run has ended, show its page anew or that of its result."""
    run = _run(study, key)
    if run.is_active:
        return render(request, "jobs/run.html#moving", _progress_context(run))
    address = _lead_on(request, run)
    return HttpResponseClientRedirect(address) if address else HttpResponseClientRefresh()


def redirect_to_started(request: HttpRequest, run: Run) -> HttpResponse:
    """Redirect to the page of a run that the user has just started."""
    request.session[STARTED] = str(run.key)
    address = reverse("run", args=[run.study.slug, run.key])
    return HttpResponseClientRedirect(address) if request.htmx else redirect(address)  # type: ignore[attr-defined]


def _lead_on(request: HttpRequest, run: Run) -> str | None:
    """Return the address of the result if people who waited for the run are shown it at once, with a message."""
    kind, address = kinds.find(run.kind), _result_url(run)
    if kind is None or not kind.leads_on or _warnings(run):
        return None
    if address:
        counts = ", ".join(f"{column_name(name)}: {plainly(value)}" for name, value in _summary(run).items())
        messages.success(request, f"{kinds.title(run.kind)} finished. {counts}")
    return address


@study_page(Role.EDITOR)
@require_POST
def cancel(request: HttpRequest, study: Study, key: uuid.UUID) -> HttpResponse:
    """Cancel a run."""
    try:
        lifecycle.cancel(run=_run(study, key), by=request.user)  # type: ignore[arg-type]
    except lifecycle.NotActiveError as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, "The run is cancelled. Finished steps are kept.")
    return redirect("run", slug=study.slug, key=key)


@study_page(Role.EDITOR)
@require_POST
def resume(request: HttpRequest, study: Study, key: uuid.UUID) -> HttpResponse:
    """Resume a failed or cancelled run."""
    try:
        lifecycle.resume(run=_run(study, key), by=request.user)  # type: ignore[arg-type]
    except lifecycle.NotResumableError as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, "The run continues where it stopped.")
    return redirect("run", slug=study.slug, key=key)


def _run(study: Study, key: uuid.UUID) -> Run:
    people = ("created_by", "cancelled_by", "resumed_by")
    return get_object_or_404(Run.objects.select_related("study", *people), study=study, key=key)


def _progress_context(run: Run) -> dict[str, Any]:
    context = {**_labels([run])[0], "progress": progress.measure(run)}
    return context | {"at_work": progress.units_at_work(run), "waits_for": progress.find_wait(run)}


def _labels(runs: list[Run]) -> list[dict[str, Any]]:
    """Return each run with its title and its subject in words."""
    subjects = kinds.subjects(runs)
    return [{"run": run, "title": kinds.title(run.kind), "subject": subjects.get(run.pk, "")} for run in runs]


def _columns(problems: list[dict[str, Any]]) -> list[str]:
    """Return the columns of the table of problems: the usual ones first, if any problem has them."""
    usual = ["file", "line", "field", "expected", "message"]
    named = {key for problem in problems for key in problem}
    return [column for column in usual if column in named] + sorted(named.difference(usual))


def _parameters(run: Run) -> dict[str, Any]:
    """Return a run's parameters, in words if its kind defines some."""
    kind = kinds.find(run.kind)
    if kind is not None and kind.describe is not None:
        return kind.describe(run)
    return {column_name(name): value for name, value in run.parameters.items()}


def _result_url(run: Run) -> str | None:
    kind = kinds.find(run.kind)
    return kind.result_url(run) if kind and kind.result_url and run.state == RunState.DONE else None


def _summary(run: Run) -> dict[str, Any]:
    """Return what the summary says to people."""
    kind = kinds.find(run.kind)
    if kind is None:
        return dict(run.summary)
    labels = dict(kind.summary_labels)
    return {labels.get(name, name): value for name, value in run.summary.items() if name not in kind.internal}


def _warnings(run: Run) -> list[str]:
    kind = kinds.find(run.kind)
    return kind.warnings(run) if kind and kind.warnings and run.state == RunState.DONE else []


def latest_runs(study: Study) -> dict[str, Any] | None:
    """Return the context of the card, without runs that start by themselves; None if there was no run."""
    runs = list(
        Run.objects.filter(study=study)
        .exclude(kind__in=kinds.automatic())
        .select_related("created_by")
        .newest_first()[:5]
    )
    return {"runs": _labels(runs)} if runs else None


SHOWN_TROUBLED = 50


@operator_page
def services(request: HttpRequest) -> HttpResponse:
    """Show workers, queues, and units whose lease expired or that failed recently."""
    now = timezone.now()
    beats = list(WorkerHeartbeat.objects.order_by("queue", "name", "id"))
    counts = Unit.objects.by_queue(now)
    alive = {beat.queue for beat in beats if now - beat.at <= BEAT_IS_FRESH_FOR}
    queues: list[dict[str, Any]] = [
        {"name": queue.value, "work": queue.work, "served": queue in alive, **counts.get(queue, {})} for queue in Queue
    ]
    for queue in queues:
        queue["starts"] = may_start(queue["name"], queue.get("oldest"), now)
    active = Run.objects.active().select_related("study", "created_by").newest_first()[:SHOWN_TROUBLED]
    context = {
        "now": now,
        "beats": [{"beat": beat, "fresh": now - beat.at <= BEAT_IS_FRESH_FOR} for beat in beats],
        "queues": queues,
        "active": _labels(list(active)),
        "stale": Unit.objects.stale(now).select_related("run__study").order_by("lease_until", "id")[:SHOWN_TROUBLED],
    }
    return render(request, "jobs/services.html", context)
