"""Queries for the pages of experiments: the list, their runs, a run's results."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from string import ascii_uppercase
from typing import Any

from django.core.paginator import Page, Paginator

from crowdrag.jobs import progress
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Artifact, Run, RunQuerySet
from crowdrag.studies.models import Study

from ..reports import report_page
from . import runs as experiments_runs
from . import services as experiments_services
from .experiment import EXPERIMENTS, PREFIX, Experiment
from .wording import collection_label, currency_of

LATEST = 5
RUNS_PER_PAGE = 25
MOST_CHOICES = 200


@dataclass(frozen=True)
class ListedRun:
    """A run in the list: its progress, parameters and usage."""

    run: Run
    collection: str
    parameters: list[tuple[str, Any]]
    usage: dict[str, Any] | None
    progress: progress.Progress


@dataclass(frozen=True)
class ExperimentRuns:
    """An experiment with its runs: `total` in all, of which `finished` can be compared."""

    experiment: Experiment
    rows: list[ListedRun]
    total: int
    finished: int


def listing(study: Study, name: str, number: str | None) -> dict[str, Any]:
    """Return the contents of the list: the latest runs of each experiment, or all runs of one, paginated."""
    named = [EXPERIMENTS[name]] if name else list(EXPERIMENTS.values())
    page: Page[Run] | None = None
    shown = []
    for experiment in named:
        runs = _runs(study, experiment.kind)
        if name:
            page = Paginator(runs, RUNS_PER_PAGE).get_page(number)
            rows = list(page)
        else:
            rows = list(runs[:LATEST])
        far = progress.measure_listed(rows)
        finished = runs.filter(state=RunState.DONE).count()
        shown.append(
            ExperimentRuns(experiment, [_listed(experiment, run, far[run.pk]) for run in rows], runs.count(), finished)
        )
    return {"offered": shown, "page": page, "only": named[0] if name else None}


def _runs(study: Study, kind: str) -> RunQuerySet:
    runs = Run.objects.filter(study=study, kind=kind).with_unit_counts()
    return runs.select_related("study", "created_by").newest_first()


def _listed(experiment: Experiment, run: Run, far: progress.Progress) -> ListedRun:
    questions = collection_label(run.parameters.get("collection") or {})
    return ListedRun(run, questions, experiments_services.changed_parameters(experiment, run), spent(run), far)


def settled(order: experiments_services.Order) -> list[tuple[str, Any]]:
    """Return an order's settings, as the page shows them before it starts."""
    settings = [("Questions", collection_label(order.parameters["collection"])), ("Seed", order.seed)]
    return [*settings, ("Model", order.parameters["generator"])]


def spent(run: Run) -> dict[str, Any] | None:
    """Return a finished run's usage of generators, with costs in minor units of the endpoint's currency."""
    usage = run.summary.get("usage")
    if usage is None:
        return None
    return {**usage, "cost": Decimal(str(usage.get("cost", 0))), "currency": currency_of(run)}


def result(run: Run, *, part: str = "") -> dict[str, Any]:
    """Return the contents of a run's page, in any state."""
    context: dict[str, Any] = {
        "experiment": EXPERIMENTS.get(run.kind.removeprefix(PREFIX)),
        "collection_said": collection_label(run.parameters.get("collection") or {}),
        "usage": spent(run),
        "progress": progress.measure(run),
        "at_work": progress.units_at_work(run),
        "waits_for": progress.find_wait(run),
        "warnings": experiments_runs.warnings(run),
        "seconds": (run.finished_at - run.started_at).total_seconds() if run.finished_at and run.started_at else None,
    }
    if run.state != RunState.DONE or context["experiment"] is None:
        return context
    return (
        context
        | report_page.context(run, part=part or context["experiment"].name)
        | {
            "files": Artifact.objects.filter(run=run).order_by("name"),
            "others": choices(run.study, run.kind)[:2],
        }
    )


def choices(study: Study, kind: str) -> list[Run]:
    """Return the finished runs of a kind that can be compared, newest first."""
    return list(Run.objects.filter(study=study, kind=kind, state=RunState.DONE).newest_first()[:MOST_CHOICES])


def columns(runs: Sequence[Run]) -> list[tuple[str, ListedRun]]:
    """Return the runs of one kind for a comparison, each with a letter."""
    experiment = EXPERIMENTS[runs[0].kind.removeprefix(PREFIX)]
    far = progress.measure_listed(list(_runs(runs[0].study, runs[0].kind).filter(pk__in=[run.pk for run in runs])))
    return [(letter, _listed(experiment, run, far[run.pk])) for letter, run in zip(ascii_uppercase, runs, strict=False)]
