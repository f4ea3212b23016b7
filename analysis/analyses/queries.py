"""A study's analyses: the latest at a glance, the report of one, all there are, two beside each other."""

from dataclasses import dataclass
from typing import Any

from django.core.paginator import Paginator

from analysis.enums import Coders, Split
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study

from ..inputs import snapshots as inputs_snapshots
from ..inputs.models import Snapshot
from ..methods.settings import AnalysisSettings
from ..reports import bibliography, builder, services
from ..tables import run_tables
from .services import KIND


def study_card(study: Study) -> dict[str, Any]:
    """Return what the card shows: mean agreement of all judges and of the trusted ones, and how much it is of."""
    runs = Run.objects.filter(study=study, kind=KIND)
    run = runs.filter(state=RunState.DONE).newest_first().first()
    active = runs.active().newest_first().first()
    if run is None:
        return {"run": None, "active": active}
    means = run_tables.read(run, "agreement_means")["agreement_means"]
    complete = [
        row for row in means if row["split"] == Split.COMPLETE and not row["coders"].startswith(Coders.POINTWISE)
    ]
    named = [row | {"coders_label": Coders(row["coders"]).label} for row in complete]
    return {"run": run, "active": active, "means": named, "summary": run.summary}


ANALYSES_PER_PAGE = 25
MOST_CHOICES = 200
DEFAULTS = AnalysisSettings().write()


@dataclass(frozen=True)
class ListedAnalysis:
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
    document = builder.report(run)
    references = document.methods.references
    return {
        "report": document,
        "methods": [bibliography.in_words(paragraph, references) for paragraph in document.methods.paragraphs],
        "references": [bibliography.listed(reference) for reference in references],
        "bibtex": bibliography.bibtex(references),
        "packed": services.packed(run),
        "packing": services.at_work(run),
    }


def analyses(study: Study, *, page: str | None) -> dict[str, Any]:
    """Return the finished analyses of a study, the latest first."""
    shown = Paginator(_finished(study), ANALYSES_PER_PAGE).get_page(page)
    snapshots = {
        snapshot.run_id: snapshot for snapshot in Snapshot.objects.defer("payload").filter(run__in=list(shown))
    }
    now = inputs_snapshots.inputs_fingerprint(study)
    rows = [
        ListedAnalysis(
            run=run,
            snapshot=snapshots[run.pk],
            judgments=(counted := run.summary.get("judgments", snapshots[run.pk].judgments)),
            surplus=max(snapshots[run.pk].judgments - counted, 0),
            parameters=changed_parameters(run),
            is_current=not run.stale_at and snapshots[run.pk].mark == now,
        )
        for run in shown
    ]
    return {"page": shown, "rows": rows}


def changed_parameters(run: Run) -> list[tuple[str, Any]]:
    """Return the parameters of a run that differ from the defaults."""
    return [(name, value) for name, value in run.parameters.items() if name in DEFAULTS and DEFAULTS[name] != value]


def choices(study: Study) -> list[Run]:
    """Return the analyses that can be compared, the latest first."""
    return list(_finished(study)[:MOST_CHOICES])


def _finished(study: Study) -> Any:
    runs = Run.objects.filter(study=study, kind=KIND, state=RunState.DONE)
    return runs.select_related("study", "created_by").newest_first()
