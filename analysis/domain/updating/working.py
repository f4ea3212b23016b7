"""An update as a run: it begins with a full analysis, and computes what follows from the judgments that count now."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy

from crowdrag.jobs import kinds, lifecycle
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.models import User

from ...models import Table
from .. import freshness, loading, snapshots, tables
from ..inputs import Inputs
from ..results import Results, compute
from ..results.earlier import FITS, Earlier
from ..results.settings import Settings
from ..tables import OF, UPDATE

#: Where a run keeps what counted when it was asked for.
MARK = "mark"
#: Updates that stay beside the latest: somebody's page may be drawing its charts still.
KEPT = 2

SUPERSEDED = gettext_lazy("A newer full analysis is there: this update is of an older one.")
NOT_KEPT = gettext_lazy(
    "The full analysis kept nothing that an update could begin with: it had no judgments, or an earlier version "
    "made it. Analyse again."
)
NO_JUDGMENTS = gettext_lazy("No judgment counts any more: an update has nothing to begin with. Analyse again.")


def start(base: Run, *, by: User | None = None, now: datetime | None = None) -> Run:
    """Update a finished full analysis with the judgments that count now."""
    parameters = base.parameters | {OF: str(base.key), MARK: freshness.mark(base.study)}
    return lifecycle.start(study=base.study, kind=UPDATE, parameters=parameters, by=by, seed=base.seed, now=now)


def work(work: kinds.Work) -> Callable[[], None]:
    """Read what counts now, compute the live tables; the effect stores them all at once."""
    run = work.run
    base = tables.base_of(run)
    if base is None:
        raise kinds.InputRejectedError([{"message": str(SUPERSEDED)}])
    kept = {name: list(found[0]) for name in (FITS, "gold", "grades") if (found := _rows(base, name))}
    if FITS not in kept:
        raise kinds.InputRejectedError([{"message": str(NOT_KEPT)}])
    settings = Settings.read(base.parameters)
    work.report(0, 0, "Reading the judgments")
    taken_at = timezone.now()
    mark = freshness.mark(run.study)
    before = snapshots.inputs(base)
    try:
        inputs = loading.load(run.study, pool=settings.pool)
    except loading.NothingToAnalyseError as error:
        raise kinds.InputRejectedError([{"message": str(error)}]) from error
    if not len(inputs.main.unit):
        raise kinds.InputRejectedError([{"message": str(NO_JUDGMENTS)}])
    inputs = replace(inputs, likenesses=before.likenesses)
    earlier = Earlier(before, kept.pop(FITS), kept)
    results = compute(inputs, settings=settings, seed=run.seed, report=work.report, earlier=earlier)
    since = mark["judgments"] - base.snapshot.mark.get("judgments", 0)
    return partial(_store, run, base, inputs, results, mark, taken_at, since)


def _rows(run: Run, name: str) -> list[list[dict[str, Any]]]:
    return list(Table.objects.filter(run=run, name=name).values_list("rows", flat=True))


def _store(
    run: Run, base: Run, inputs: Inputs, results: Results, mark: dict[str, int], taken_at: datetime, since: int
) -> None:
    snapshots.keep(run=run, inputs=inputs, mark=mark, taken_at=taken_at)
    Table.objects.bulk_create(Table(run=run, name=name, rows=rows) for name, rows in results.tables.items())
    lifecycle.note(run=run, summary=results.summary | {OF: str(base.key), "since": since}, inputs_digest=inputs.digest)
    _forget_older(run)


def _forget_older(run: Run) -> None:
    """Remove the updates that this one replaces, but for the last: they are no record of anything."""
    over = Run.objects.filter(study=run.study_id, kind=UPDATE).exclude(pk=run.pk)
    over = over.exclude(state__in=(RunState.PLANNED, RunState.RUNNING)).newest_first()
    Run.objects.filter(pk__in=list(over.values_list("pk", flat=True)[KEPT:])).delete()


def latest(base: Run) -> Run | None:
    """The latest finished update of a full analysis, if there is one."""
    found = Run.objects.filter(kind=UPDATE, study=base.study_id, state=RunState.DONE, stale_at__isnull=True)
    return found.filter(of(base)).select_related("study", "created_by").newest_first().first()


def of(base: Run) -> Q:
    """Which updates are of this full analysis."""
    return Q(**{f"parameters__{OF}": str(base.key)})


def register(result_url: Callable[[Run], str | None], told: Callable[[Run], dict[str, Any]]) -> None:
    """Make updates known to the runs; called once when the app is ready."""
    title = gettext_lazy("Update of an analysis")
    kinds.register(kinds.Kind(name=UPDATE, title=title, work=work, result_url=result_url, told=told))
