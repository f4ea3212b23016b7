"""The latest runs, on a study's home."""

from typing import Any

from crowdrag.studies.models import Study

from .. import kinds
from ..models import Run


def latest_runs(study: Study) -> dict[str, Any]:
    """Return what the card shows."""
    runs = list(Run.objects.filter(study=study).newest_first()[:5])
    return {"runs": [{"run": run, "title": kinds.title(run.kind)} for run in runs]}
