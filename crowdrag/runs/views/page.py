"""One run: how far it is, what it found, what made it."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from .. import kinds
from ..domain import progress, running
from ..enums import RunState, UnitState
from ..models import Run
from ..templatetags.run_pages import column_name

SHOWN_UNITS = 50


@study_page(Role.VIEWER)
def page(request: HttpRequest, study: Study, key: uuid.UUID) -> HttpResponse:
    """Show a run."""
    run = _run(study, key)
    failed = run.units.filter(state=UnitState.FAILED)
    context = _moving(run) | {
        "artifacts": run.artifacts.order_by("name", "id"),
        "failed_units": failed.order_by("position")[:SHOWN_UNITS],
        "failed_count": failed.count(),
        "columns": _columns(run.problems),
        "result_url": _result_url(run),
        "parameters": _parameters(run),
        "may_change": request.study_role >= Role.EDITOR,  # type: ignore[attr-defined]
        "resumable": run.is_resumable,
    }
    return render(request, "runs/run.html", context)


@study_page(Role.VIEWER)
def moving(request: HttpRequest, study: Study, key: uuid.UUID) -> HttpResponse:
    """Answer the page's question how far the run is; when it is over, have the whole page come again."""
    run = _run(study, key)
    response = render(request, "runs/run.html#moving", _moving(run))
    if not run.is_active:
        response["HX-Refresh"] = "true"
    return response


@study_page(Role.EDITOR)
@require_POST
def cancel(request: HttpRequest, study: Study, key: uuid.UUID) -> HttpResponse:
    """Cancel a run."""
    try:
        running.cancel(run=_run(study, key), by=request.user)  # type: ignore[arg-type]
    except running.NotActiveError as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, _("The run was cancelled. What its finished units did stays."))
    return redirect("run", slug=study.slug, key=key)


@study_page(Role.EDITOR)
@require_POST
def resume(request: HttpRequest, study: Study, key: uuid.UUID) -> HttpResponse:
    """Go on with a run that failed or was cancelled."""
    try:
        running.resume(run=_run(study, key), by=request.user)  # type: ignore[arg-type]
    except running.NotResumableError as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, _("The run goes on where it stopped."))
    return redirect("run", slug=study.slug, key=key)


def _run(study: Study, key: uuid.UUID) -> Run:
    people = ("created_by", "cancelled_by", "resumed_by")
    return get_object_or_404(Run.objects.select_related("study", *people), study=study, key=key)


def _moving(run: Run) -> dict[str, Any]:
    found = {"run": run, "title": kinds.title(run.kind), "progress": progress.of(run)}
    return found | {"at_work": progress.at_work(run), "waits_for": progress.waits_for(run)}


def _columns(problems: list[dict[str, Any]]) -> list[str]:
    """Return the columns of the table of problems: the usual ones first, as far as any problem has them."""
    usual = ["file", "line", "field", "expected", "message"]
    named = {key for problem in problems for key in problem}
    return [column for column in usual if column in named] + sorted(named.difference(usual))


def _parameters(run: Run) -> dict[str, Any]:
    """Return what a run was asked for, in words where its kind has some."""
    try:
        told = kinds.get(run.kind).told
    except kinds.UnknownKind:
        told = None
    return told(run) if told is not None else {column_name(name): value for name, value in run.parameters.items()}


def _result_url(run: Run) -> str | None:
    try:
        shows = kinds.get(run.kind).result_url
    except kinds.UnknownKind:
        return None
    return shows(run) if shows is not None and run.state == RunState.DONE else None
