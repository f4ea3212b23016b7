"""Pages about whole analyses: the report of one, all there are, two beside each other."""

from dataclasses import dataclass
from typing import Any

from django.core.paginator import Paginator

from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study

from ...models import Snapshot
from .. import freshness
from ..analysing import KIND
from ..reports import building, citing, packing
from ..results.settings import Settings

ANALYSES_PER_PAGE = 25
MOST_CHOICES = 200
DEFAULTS = Settings().write()


@dataclass(frozen=True)
class Listed:
    """A finished analysis in the list.

    Attributes
    ----------
    judgments, surplus : int
        How many counted, and how many were put aside.
    parameters : list of (str, object)
        Those that differ from the defaults.
    is_current : bool
        Whether the judgments that count are still those that it used.
    """

    run: Run
    snapshot: Snapshot
    judgments: int
    surplus: int
    parameters: list[tuple[str, Any]]
    is_current: bool


def report(run: Run) -> dict[str, Any]:
    """Return what the page of a report shows."""
    made = building.report(run)
    references = made.methods.references
    return {
        "report": made,
        "methods": [citing.in_words(each, references) for each in made.methods.paragraphs],
        "references": [citing.listed(each) for each in references],
        "bibtex": citing.bibtex(references),
        "packed": packing.packed(run),
        "packing": packing.at_work(run),
    }


def analyses(study: Study, *, page: str | None) -> dict[str, Any]:
    """Return the finished analyses of a study, the latest first."""
    shown = Paginator(_finished(study), ANALYSES_PER_PAGE).get_page(page)
    snapshots = {each.run_id: each for each in Snapshot.objects.defer("payload").filter(run__in=list(shown))}
    now = freshness.mark(study)
    rows = [
        Listed(
            run=run,
            snapshot=snapshots[run.pk],
            judgments=(counted := run.summary.get("judgments", snapshots[run.pk].judgments)),
            surplus=max(snapshots[run.pk].judgments - counted, 0),
            parameters=departures(run),
            is_current=not run.stale_at and snapshots[run.pk].mark == now,
        )
        for run in shown
    ]
    return {"page": shown, "rows": rows}


def departures(run: Run) -> list[tuple[str, Any]]:
    """Return the parameters of a run that differ from the defaults."""
    return [(name, value) for name, value in run.parameters.items() if name in DEFAULTS and DEFAULTS[name] != value]


def choices(study: Study) -> list[Run]:
    """Return the analyses that can be compared, the latest first."""
    return list(_finished(study)[:MOST_CHOICES])


def _finished(study: Study) -> Any:
    runs = Run.objects.filter(study=study, kind=KIND, state=RunState.DONE)
    return runs.select_related("study", "created_by").newest_first()
