"""Analyses of a study as runs: start, compute, and find the latest."""

import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from annotation.models import Judgment
from crowdrag.jobs import kinds, lifecycle
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run, RunQuerySet
from crowdrag.studies.models import Study, User
from writing.models import Response

from ..inputs import queries, snapshots
from ..inputs.arrays import Inputs
from ..inputs.models import Snapshot
from ..inputs.texts import Texts, TextsMissingError
from ..methods.reference_metrics import encodings as similarity
from ..methods.registry import Results, compute
from ..methods.reusable_fits import FITS
from ..methods.settings import AnalysisSettings, BadParameterError
from ..tables import run_tables
from ..tables.run_tables import ANALYSIS, UPDATE, AnalysisState

KIND = ANALYSIS
#: Labels of numbers in the summary, where their names do not say enough.
SUMMARY_LABELS = (("pairs", "presented pairs"),)
NothingToAnalyseError = queries.NothingToAnalyseError


def start(
    *,
    study: Study,
    by: User | None = None,
    seed: int = 0,
    parameters: dict[str, Any] | None = None,
    now: datetime | None = None,
) -> Run:
    """Start an analysis of a study's responses, and of its judgments so far.

    Raises
    ------
    BadParameterError
        If a parameter is unknown or out of range, or the seed is negative.
    NothingToAnalyseError
        If there are neither valid responses nor valid judgments.
    """
    if seed < 0:
        raise BadParameterError(f"The seed must be 0 or more, not {seed}.")
    settings = AnalysisSettings.read({"pool": queries.default_pool(study)} | (parameters or {}))
    responses = Response.objects.filter(study=study).included()
    if not responses.exists() and not Judgment.objects.of_study(study).counted().exists():
        raise NothingToAnalyseError
    run = lifecycle.start(study=study, kind=KIND, parameters=settings.write(), by=by, seed=seed, now=now)
    for update in Run.objects.filter(study=study, kind=UPDATE).active():
        with suppress(lifecycle.NotActiveError):  # it has just ended
            lifecycle.cancel(run=update, by=by, now=now)
    return run


def work(work: kinds.Work) -> Callable[[], None]:
    """Read the inputs and compute all tables; the effect stores them together."""
    run = work.run
    settings = AnalysisSettings.read(run.parameters)
    work.report(0, 0, "Reading the judgments")
    taken_at = timezone.now()
    mark = snapshots.inputs_fingerprint(run.study)
    try:
        inputs = queries.load(run.study, pool=settings.pool)
    except NothingToAnalyseError as error:
        raise kinds.InputRejectedError([{"message": str(error)}]) from error
    try:
        similarity_scores = similarity.read_scores(run.study, inputs.responses, named=settings.bertscore)
    except BadParameterError as error:
        raise kinds.InputRejectedError([{"message": str(error)}]) from error
    inputs = replace(inputs, similarity_scores=similarity_scores)
    texts = Texts(run.study, inputs)
    try:
        results = compute(inputs, settings=settings, seed=run.seed, texts=texts, report=work.report)
    except TextsMissingError as error:
        raise kinds.InputRejectedError([{"message": str(error)}]) from error
    return partial(_store, run, inputs, results, mark, taken_at)


def _store(run: Run, inputs: Inputs, results: Results, mark: dict[str, int], taken_at: datetime) -> None:
    snapshots.keep(run=run, inputs=inputs, mark=mark, taken_at=taken_at)
    # Updates start from fits: without judgments, only full analyses are possible.
    kept = results.tables | ({FITS: results.fits} if len(inputs.main.unit) else {})
    run_tables.store(run, kept)
    lifecycle.note(run=run, summary={**results.summary, **_scores(inputs)}, inputs_digest=inputs.digest)


def _scores(inputs: Inputs) -> dict[str, str]:
    """Return the source of the BERTScores in the inputs, if there are any."""
    scores = inputs.similarity_scores
    return {"bertscore": f"{scores.model}, layer {scores.layer}, {scores.version}"} if scores else {}


def result_url(run: Run) -> str:
    """Return the URL of a run's results."""
    return reverse("leaderboard", args=[run.study.slug]) + f"?run={run.key}"


def register(describe: Callable[[Run], dict[str, Any]]) -> None:
    """Register the run kind when the app is ready."""
    kinds.register(
        kinds.Kind(
            name=KIND,
            title="Analysis",
            work=work,
            result_url=result_url,
            describe=describe,
            leads_on=True,
            internal=("simulated",),
            summary_labels=SUMMARY_LABELS,
        )
    )


def state(study: Study, *, key: uuid.UUID | None = None, live: bool = False) -> AnalysisState:
    """Find the results to show, and whether they are up to date.

    `live`: the latest update of the latest analysis, if there is one.

    Raises
    ------
    Run.DoesNotExist
        If the requested run is not a finished analysis of this study, or an update of one.
    """
    runs = Run.objects.filter(study=study, kind=KIND).select_related("study", "created_by")
    full, run = _shown(study, runs.filter(state=RunState.DONE), key, live=live)
    later = runs.exclude(state=RunState.DONE)
    if full:
        later = later.filter(Q(created_at__gt=full.created_at))
    snapshot = Snapshot.objects.defer("payload").get(run=run) if run else None
    now = snapshots.inputs_fingerprint(study)
    then = snapshot.mark if snapshot else now
    return AnalysisState(
        run=run,
        full=full,
        newer=later.newest_first().first(),
        snapshot=snapshot,
        full_snapshot=snapshot if full == run or not full else Snapshot.objects.defer("payload").get(run=full),
        changed=now != then,
        added=now["judgments"] - then["judgments"],
        judgments=now["judgments"],
        responses=now["responses"],
    )


def _shown(study: Study, done: RunQuerySet, key: uuid.UUID | None, *, live: bool) -> tuple[Run | None, Run | None]:
    """Return the full analysis, and the run to show: the same, or an update of it."""
    from . import updates  # imports this module

    if key:
        finished = Run.objects.filter(study=study, state=RunState.DONE).select_related("study", "created_by")
        run = finished.get(key=key, kind__in=(KIND, UPDATE))
        return run_tables.full_analysis_of(run) or run, run
    full = done.newest_first().first()
    updated = updates.latest(full) if full and live and not full.stale_at else None
    return full, updated or full
