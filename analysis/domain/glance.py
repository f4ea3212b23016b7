"""A study's results at a glance, for its home."""

from typing import Any

from analysis.enums import Coders, Split
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study

from . import tables
from .analysing import KIND


def card(study: Study) -> dict[str, Any]:
    """Return what the card shows: mean agreement of all judges and of the trusted ones, and how much it is of."""
    runs = Run.objects.filter(study=study, kind=KIND)
    run = runs.filter(state=RunState.DONE).newest_first().first()
    active = runs.active().newest_first().first()
    if run is None:
        return {"run": None, "active": active}
    means = tables.read(run, "agreement_means")["agreement_means"]
    complete = [
        row for row in means if row["split"] == Split.COMPLETE and not row["coders"].startswith(Coders.POINTWISE)
    ]
    named = [row | {"coders_label": Coders(row["coders"]).label} for row in complete]
    return {"run": run, "active": active, "means": named, "summary": run.summary}
