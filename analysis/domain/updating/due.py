"""Which studies are to be updated now: those whose latest analysis is no longer of the judgments that count."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from annotation.enums import AssignmentState
from annotation.models import Assignment
from annotation.progress.services import changed_since
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run

from ...models import Snapshot, Table
from .. import freshness
from ..analysing import KIND
from ..results.earlier import FITS
from ..tables import UPDATE
from . import working

#: Of one study at most one update in so much time; of one whose updates take long, so many times as long as one took.
EVERY: Final = timedelta(minutes=1)
REST: Final = 10
# A judgment's transaction may have been open while the last update read: look so much further back.
OVERLAP: Final = timedelta(minutes=5)
COUNTED: Final = (AssignmentState.ACCEPTED,)


def update_due(*, now: datetime) -> list[Run]:
    """Start an update of each study that is due; return the runs. Workers do them."""
    return [working.start(base, now=now) for base in due(now=now)]


def due(*, now: datetime) -> Iterator[Run]:
    """The latest full analyses of studies that are to be updated.

    Where a full analysis or an update is at work, nothing is due; nor where the judgments that count are those of the
    last attempt, so that one that fails is not tried again before anything changed.
    """
    done = Run.objects.filter(kind=KIND, state=RunState.DONE, stale_at__isnull=True)
    latest = done.order_by("study_id", "-created_at", "-id").distinct("study_id").values("pk")
    for base in Run.objects.filter(pk__in=latest, tables__name=FITS).select_related("study").order_by("pk"):
        if Run.objects.filter(study=base.study_id, kind__in=(KIND, UPDATE)).active().exists():
            continue
        last = Run.objects.filter(working.of(base), kind=UPDATE, study=base.study_id).newest_first().first()
        if last is not None and now < last.created_at + max(EVERY, REST * (last.duration or EVERY)):
            continue
        snapshot = Snapshot.objects.only("mark", "created_at").get(run=base)
        known, since = (
            (last.parameters[working.MARK], last.created_at) if last else (snapshot.mark, snapshot.created_at)
        )
        given = Assignment.objects.filter(questionnaire__campaign__study=base.study_id)
        # Cheap first: most of the time nothing happened at all.
        if changed_since(given, since - OVERLAP, COUNTED) and freshness.mark(base.study) != known:
            yield base


def has_fits(run: Run) -> bool:
    """Whether an update can begin with a run."""
    return Table.objects.filter(run=run, name=FITS).exists()
