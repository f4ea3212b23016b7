"""Erasure of a participant from experiments on the study's own texts."""

from contextlib import suppress
from datetime import datetime
from functools import partial

import pgtrigger
from django.core.files.storage import default_storage
from django.db import transaction

from crowdrag.jobs import lifecycle
from crowdrag.jobs.models import Artifact, Run
from crowdrag.studies.models import Participant
from writing.models import Response

from ..tables.models import ResultTable
from ..tables.run_tables import used_texts_of_study
from ..tables.table import Holds, get
from . import cached_generator
from .experiment import PREFIX
from .models import UnitResult


def erase(participant: Participant, *, reason: str, now: datetime) -> None:
    """Mark experiments on the study's own texts as stale and delete their results per question.

    Unit results contain answers to the texts, which may paraphrase what was erased. Tables stay, but without rows that
    name the participant or one of their responses; tables of texts and answers are emptied. A run in progress is
    cancelled and cannot be resumed. Runs on uploaded files contain no participants' texts.
    """
    cached_generator.forget(participant.study)
    wrote = set(Response.objects.filter(participant=participant).values_list("external_id", flat=True))
    if not wrote:
        return
    for run in Run.objects.filter(study=participant.study_id, kind__startswith=PREFIX).order_by("pk"):
        if used_texts_of_study(run):
            with suppress(lifecycle.NotActiveError):  # it ended before
                lifecycle.cancel(run=run, now=now)
            lifecycle.mark_stale(run=run, reason=reason, now=now)
            UnitResult.objects.filter(run=run).delete()
            _remove_files(run)
            _take_out(run, wrote | {participant.external_id})


def _remove_files(run: Run) -> None:
    """Delete the run's files made from the texts: lists of its results and fitted models."""
    for artifact in Artifact.objects.filter(run=run).order_by("pk"):
        transaction.on_commit(partial(default_storage.delete, str(artifact.file.name)))
        artifact.delete()


def _take_out(run: Run, named: set[str]) -> None:
    with pgtrigger.ignore("analysis.ResultTable:never_updated"):
        for table in ResultTable.objects.filter(run=run).order_by("pk"):
            rows = () if get(table.name).holds is Holds.TEXTS else table.rows
            kept = [row for row in rows if not any(isinstance(v, str) and v in named for v in row.values())]
            if len(kept) < len(table.rows):
                ResultTable.objects.filter(pk=table.pk).update(rows=kept)
