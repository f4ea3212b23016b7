"""Analyses that start by themselves: the first of a study, and updates of an analysis as judgments come in.

The first starts when judging is complete: a model judge is done, or all questionnaires of a campaign are accepted. A
study that was analysed once, even in vain, is not analysed again by itself; its analysis is updated.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation.enums import AssignmentState
from annotation.llm_judges import judge_run
from annotation.models import Assignment, Campaign, Slot
from annotation.progress.services import changed_since
from crowdrag.jobs import kinds, lifecycle
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study, User

from ..inputs import queries, snapshots
from ..inputs.arrays import Inputs
from ..inputs.models import Snapshot
from ..methods.registry import Results, compute
from ..methods.reusable_fits import FITS, ReusableFits, are_readable
from ..methods.settings import AnalysisSettings
from ..tables import run_tables
from ..tables.models import ResultTable
from ..tables.run_tables import UPDATE, UPDATE_OF
from . import services
from .services import KIND

#: Parameter of a run that holds the fingerprint of the inputs when it was requested.
MARK = "mark"
#: Number of older updates kept, because open pages may still load their charts.
KEPT = 2

SUPERSEDED = "There is a newer full analysis. This update belongs to an older one."
NOT_KEPT = "The full analysis cannot be updated: it has no judgments, or it is from an earlier version. Analyse again."
NO_JUDGMENTS = "There are no included judgments to update with. Analyse again."


def start(base: Run, *, by: User | None = None, now: datetime | None = None) -> Run:
    """Update a finished full analysis with the present valid judgments."""
    parameters = base.parameters | {UPDATE_OF: str(base.key), MARK: snapshots.inputs_fingerprint(base.study)}
    return lifecycle.start(study=base.study, kind=UPDATE, parameters=parameters, by=by, seed=base.seed, now=now)


def work(work: kinds.Work) -> Callable[[], None]:
    """Read the valid judgments and compute the live tables; the effect stores them together."""
    run = work.run
    base = run_tables.full_analysis_of(run)
    if base is None:
        raise kinds.InputRejectedError([{"message": str(SUPERSEDED)}])
    settings = AnalysisSettings.read(base.parameters)
    # Averaged labels are in the fits; otherwise they are compared with those of the tables.
    names = (FITS,) if settings.averages else (FITS, "gold", "grades")
    kept = {name: list(stored[0]) for name in names if (stored := _rows(base, name))}
    if not are_readable(kept.get(FITS, ())):
        raise kinds.InputRejectedError([{"message": str(NOT_KEPT)}])
    work.report(0, 0, "Reading the judgments")
    taken_at = timezone.now()
    mark = snapshots.inputs_fingerprint(run.study)
    before = snapshots.inputs(base)
    try:
        inputs = queries.load(run.study, pool=settings.pool)
    except queries.NothingToAnalyseError as error:
        raise kinds.InputRejectedError([{"message": str(error)}]) from error
    if not len(inputs.main.unit):
        raise kinds.InputRejectedError([{"message": str(NO_JUDGMENTS)}])
    inputs = replace(inputs, similarity_scores=before.similarity_scores)
    earlier = ReusableFits(before, kept.pop(FITS), kept)
    results = compute(inputs, settings=settings, seed=run.seed, report=work.report, earlier=earlier)
    since = results.summary["judgments"] - base.summary["judgments"]
    return partial(_store, run, base, inputs, results, mark, taken_at, since)


def _rows(run: Run, name: str) -> list[list[dict[str, Any]]]:
    return list(ResultTable.objects.filter(run=run, name=name).values_list("rows", flat=True))


def _store(
    run: Run, base: Run, inputs: Inputs, results: Results, mark: dict[str, int], taken_at: datetime, since: int
) -> None:
    snapshots.keep(run=run, inputs=inputs, mark=mark, taken_at=taken_at)
    run_tables.store(run, results.tables)
    lifecycle.note(
        run=run, summary=results.summary | {UPDATE_OF: str(base.key), "since": since}, inputs_digest=inputs.digest
    )
    _forget_older(run)


def _forget_older(run: Run) -> None:
    """Delete the updates that this one replaces, except the last: they need not be kept as a record."""
    over = Run.objects.filter(study=run.study_id, kind=UPDATE).exclude(pk=run.pk)
    over = over.exclude(state__in=(RunState.PLANNED, RunState.RUNNING)).newest_first()
    Run.objects.filter(pk__in=list(over.values_list("pk", flat=True)[KEPT:])).delete()


def latest(base: Run) -> Run | None:
    """Return the latest finished update of a full analysis, or None."""
    updates = Run.objects.filter(kind=UPDATE, study=base.study_id, state=RunState.DONE, stale_at__isnull=True)
    return updates.filter(updates_of(base)).select_related("study", "created_by").newest_first().first()


def updates_of(base: Run) -> Q:
    """Return the condition for updates of this full analysis."""
    return Q(**{f"parameters__{UPDATE_OF}": str(base.key)})


def register(result_url: Callable[[Run], str | None], describe: Callable[[Run], dict[str, Any]]) -> None:
    """Register the run kind when the app is ready."""
    title = "Update of an analysis"
    kinds.register(
        kinds.Kind(
            name=UPDATE,
            title=title,
            work=work,
            result_url=result_url,
            describe=describe,
            is_automatic=True,
            internal=(UPDATE_OF, "since"),
            summary_labels=services.SUMMARY_LABELS,
        )
    )


#: Minimum interval between updates of a study: a fixed time, and a multiple of the duration of the last update.
EVERY: Final = timedelta(minutes=1)
REST: Final = 10
# A transaction may have been open while the last update read its inputs, so look back further by this time.
OVERLAP: Final = timedelta(minutes=5)
COUNTED: Final = (AssignmentState.ACCEPTED,)


def update_due(*, now: datetime) -> list[Run]:
    """Start an update of each study that is due; return the runs."""
    return [start(base, now=now) for base in due(now=now)]


def due(*, now: datetime) -> Iterator[Run]:
    """Yield the latest full analyses of studies that are due for an update.

    A study is not due while a full analysis or an update is running, nor if its valid judgments are those of the last
    attempt. A failing update is thus not repeated before something changes.
    """
    done = Run.objects.filter(kind=KIND, state=RunState.DONE, stale_at__isnull=True)
    latest = done.order_by("study_id", "-created_at", "-id").distinct("study_id").values("pk")
    for base in Run.objects.filter(pk__in=latest, tables__name=FITS).select_related("study").order_by("pk"):
        if Run.objects.filter(study=base.study_id, kind__in=(KIND, UPDATE)).active().exists():
            continue
        last = Run.objects.filter(updates_of(base), kind=UPDATE, study=base.study_id).newest_first().first()
        if last is not None and now < last.created_at + max(EVERY, REST * (last.duration or EVERY)):
            continue
        snapshot = Snapshot.objects.only("mark", "created_at").get(run=base)
        known, since = (last.parameters[MARK], last.created_at) if last else (snapshot.mark, snapshot.created_at)
        assignments = Assignment.objects.filter(questionnaire__campaign__study=base.study_id)
        # The cheap check comes first: usually nothing has changed.
        if changed_since(assignments, since - OVERLAP, COUNTED) and snapshots.inputs_fingerprint(base.study) != known:
            yield base


def start_first_due(*, now: datetime) -> list[Run]:
    """Start the first analysis of each study with a campaign whose questionnaires are all accepted; return the runs."""
    of_campaign = Slot.objects.filter(campaign=OuterRef("pk"))
    # The second condition is part of the third, and answered by an index.
    complete = Campaign.objects.filter(
        Exists(of_campaign),
        ~Exists(of_campaign.open()),
        ~Exists(of_campaign.exclude(holder__state=AssignmentState.ACCEPTED)),
        study=OuterRef("pk"),
    )
    studies = _never_analysed().filter(Exists(complete)).order_by("pk")
    return [run for study in studies if (run := _start_first(study, now)) is not None]


def start_first_after(run: Run, now: datetime) -> None:
    """Start the first analysis of a study when a run of a model judge is done; call it at the end of each run."""
    if run.kind == judge_run.KIND and run.state == RunState.DONE:
        _start_first(run.study, now)


def _never_analysed() -> QuerySet[Study]:
    analyses = Run.objects.filter(study=OuterRef("pk"), kind=KIND)
    return Study.objects.filter(~Exists(analyses), archived_at__isnull=True, deletion_requested_at__isnull=True)


@transaction.atomic
def _start_first(study: Study, now: datetime) -> Run | None:
    # The study's row is the lock: two judges that are done at once start one analysis.
    Study.objects.select_for_update(no_key=True).filter(pk=study.pk).first()
    if not _never_analysed().filter(pk=study.pk).exists():
        return None
    with suppress(queries.NothingToAnalyseError):
        return services.start(study=study, now=now)
    return None


def has_fits(run: Run) -> bool:
    """Return whether an update can start from a run."""
    return ResultTable.objects.filter(run=run, name=FITS).exists()
