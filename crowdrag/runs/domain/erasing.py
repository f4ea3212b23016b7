"""What runs keep of people's words when somebody has what they gave erased: nothing.

Why a run failed is told in words that may quote what it read, and a file that was handed in for an import holds all
that was in it. Whose words they are nobody can tell from them, so those of the whole study go.
"""

from collections.abc import Collection
from contextlib import suppress
from datetime import datetime

from crowdrag.studies.models import Participant, Study

from ..models import Run, Unit, Upload
from . import running, uploads

REMOVED = "Words removed when somebody had what they gave erased."


def erase(participant: Participant, now: datetime) -> None:
    """Remove from a study's runs what they said of their input; that they failed stays."""
    runs = Run.objects.filter(study=participant.study_id)
    runs.exclude(problems=[]).update(problems=[])
    runs.exclude(error="").update(error=REMOVED)
    units = Unit.objects.filter(run__study=participant.study_id)
    units.exclude(error="").update(error=REMOVED)
    units.exclude(message="").update(message="")


def erase_uploads(*, study: Study, kinds: Collection[str], now: datetime) -> None:
    """Remove the files that were handed in for runs of these kinds; one that is at work has read them, and ends."""
    runs = Run.objects.filter(study=study, kind__in=kinds)
    for run in runs.active().order_by("pk"):
        with suppress(running.NotActiveError):  # it ended in this moment
            running.cancel(run=run, now=now)
    given = {
        one["upload"]
        for parameters in runs.values_list("parameters", flat=True)
        for one in parameters.get("inputs", [])
        if "upload" in one
    }
    for upload in Upload.objects.filter(study=study, pk__in=given).order_by("pk"):
        uploads.discard(upload)
