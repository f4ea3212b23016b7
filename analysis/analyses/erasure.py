"""Erasure of a participant from results: runs become stale, and the pseudonym is removed."""

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any

import pgtrigger
from django.core.files.storage import default_storage
from django.db import transaction

from crowdrag.jobs import lifecycle
from crowdrag.jobs.models import Artifact, Run
from crowdrag.studies.models import Participant

from ..archive import services as archive_services
from ..experiments import erasure
from ..inputs import arrays, judgment_columns
from ..inputs.models import Snapshot
from ..methods.reference_metrics import encodings
from ..methods.reusable_fits import FITS
from ..releases.personal_data.models import PersonalDataFinding
from ..reports import services as reports_services
from ..tables.models import ResultTable
from ..tables.run_tables import UPDATE
from ..tables.table import Holds, get
from .services import KIND as ANALYSIS

REASON = "Somebody had their texts or judgments erased. Rows with their pseudonym were removed."


def erase(participant: Participant, now: datetime) -> None:
    """Remove a participant from results.

    Runs that used their data become stale, and their rows are removed from the tables. Their judgments are removed from
    the columns that runs share. Old exports, and output of encoders and language models for their texts, are deleted.

    Votes and word counts stay in a run's snapshot under an anonymous name. Survey answers, measures of writing and
    payments are removed from it, as from the rest of the system. A running analysis may have read all of this already,
    so it starts over.
    """
    _begin_anew(participant, now)
    judgment_columns.forget(participant)
    for snapshot in Snapshot.objects.filter(run__study=participant.study_id).select_related("run").order_by("pk"):
        used = arrays.unpack(bytes(snapshot.payload))
        if _names(used, participant.external_id):
            lifecycle.mark_stale(run=snapshot.run, reason=REASON, now=now)
            _forget(snapshot.run, participant.external_id, used.written_by(participant.external_id))
            _strip(snapshot, used, participant.external_id)
    # An export in progress may have read the texts already.
    for run in (*archive_services.at_work(participant.study), *reports_services.all_at_work(participant.study)):
        with suppress(lifecycle.NotActiveError):  # it has just ended
            lifecycle.cancel(run=run, now=now)
    _remove(archive_services.finished(participant.study))
    _remove(reports_services.all_packed(participant.study))
    encodings.forget(participant.study)
    erasure.erase(participant, reason=REASON, now=now)
    PersonalDataFinding.objects.filter(participant=participant).delete()


def _begin_anew(participant: Participant, now: datetime) -> None:
    """Keep running analyses from storing inputs that they read before the erasure.

    Updates are cancelled, because their analysis is stale.
    """
    for run in Run.objects.filter(study=participant.study_id, kind__in=(ANALYSIS, UPDATE)).active().order_by("pk"):
        with suppress(lifecycle.NotActiveError):
            lifecycle.cancel(run=run, now=now)
            if run.kind == ANALYSIS:
                lifecycle.resume(run=run, now=now)


def _names(used: arrays.Inputs, pseudonym: str) -> bool:
    wrote = any(response.participant == pseudonym for response in used.responses)
    return wrote or any(pseudonym in pool.participants for pool in used.pools.values())


def _strip(snapshot: Snapshot, used: arrays.Inputs, pseudonym: str) -> None:
    """Remove a participant's name, answers and writing from a snapshot; the run keeps the earlier digest."""
    left = used.without_writing_of(pseudonym).without_name_of(pseudonym)
    if left.digest != used.digest:
        with pgtrigger.ignore("analysis.Snapshot:never_updated"):
            Snapshot.objects.filter(pk=snapshot.pk).update(payload=left.pack(), digest=left.digest)


def _forget(run: Run, pseudonym: str, responses: frozenset[str]) -> None:
    # Its arrays name nobody, but have a place for each participant.
    ResultTable.objects.filter(run=run, name=FITS).delete()
    with pgtrigger.ignore("analysis.ResultTable:never_updated"):
        for table in ResultTable.objects.filter(run=run).order_by("pk"):
            kept = [row for row in table.rows if not _holds(row, pseudonym)]
            if get(table.name).holds is Holds.WRITING:
                kept = [row for row in kept if row["response"] not in responses]
            if len(kept) < len(table.rows):
                ResultTable.objects.filter(pk=table.pk).update(rows=kept)
    _remove([file for file in Artifact.objects.filter(run=run).order_by("pk") if _file_holds(file, pseudonym)])


def _holds(row: dict[str, Any], pseudonym: str) -> bool:
    return pseudonym in row.values()


def _file_holds(artifact: Artifact, pseudonym: str) -> bool:
    try:
        with artifact.file.open("rb") as file:
            return pseudonym.encode() in file.read()
    except FileNotFoundError:
        return False


def _remove(artifacts: Iterable[Artifact]) -> None:
    for artifact in artifacts:
        transaction.on_commit(partial(default_storage.delete, str(artifact.file.name)))
        artifact.delete()
