"""The run that erases a participant's data, and the removal of their texts from data of runs.

The request returns at once, and the erasure always completes: failing or cancelling such a run only delays it, since
requested erasures that are not done are restarted every minute. Afterwards the tables are vacuumed, so that the erased
rows are physically removed.

Error messages of runs may quote their input, and a file uploaded for an import contains all of its input. Nobody can
tell whose texts they contain, so those of the whole study are removed.
"""

import time
from collections.abc import Collection
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from django.apps import apps
from django.db import connection
from django.utils import timezone

from crowdrag.studies.models import Participant, Study
from crowdrag.studies.participants import withdrawal

from . import kinds, lifecycle, run_files
from .enums import RunState
from .models import Run, Unit, Upload

REMOVED_WORDS = "Words removed when somebody had what they gave erased."


def on_erase(participant: Participant, now: datetime) -> None:
    """Remove quotes of the input from a study's runs; that they failed stays."""
    runs = Run.objects.filter(study=participant.study_id)
    runs.exclude(problems=[]).update(problems=[])
    runs.exclude(error="").update(error=REMOVED_WORDS)
    units = Unit.objects.filter(run__study=participant.study_id)
    units.exclude(error="").update(error=REMOVED_WORDS)
    units.exclude(message="").update(message="")


def erase_uploads(*, study: Study, kinds: Collection[str], now: datetime) -> None:
    """Remove the files uploaded for runs of these kinds; an active run that has read them is cancelled."""
    runs = Run.objects.filter(study=study, kind__in=kinds)
    for run in runs.active().order_by("pk"):
        with suppress(lifecycle.NotActiveError):  # it has just ended
            lifecycle.cancel(run=run, now=now)
    upload_keys = {
        one["upload"]
        for parameters in runs.values_list("parameters", flat=True)
        for one in parameters.get("inputs", [])
        if "upload" in one
    }
    for upload in Upload.objects.filter(study=study, pk__in=upload_keys).order_by("pk"):
        run_files.discard_upload(upload)


ERASURE: Final = "studies.erasure"
VACUUM: Final = "studies.vacuum"
# Seconds that a vacuum waits for transactions that may still read erased rows before the unit is retried.
WAIT: Final = 120
_HOLDING: Final = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
    AND (age(backend_xmin) > age(%(horizon)s::xid) OR age(backend_xid) > age(%(horizon)s::xid))
"""


def start_erasure(participant: Participant, _now: datetime) -> None:
    """Start the erasure of a participant's data."""
    lifecycle.start(study=participant.study, kind=ERASURE, parameters={"participant": participant.pk})


def start_vacuum(participant: Participant, _now: datetime) -> None:
    """Start the vacuum that follows an erasure, unless one is pending: it will wait for this transaction."""
    if not Run.objects.filter(study=participant.study_id, kind=VACUUM, state=RunState.PLANNED).exists():
        lifecycle.start(study=participant.study, kind=VACUUM)


def restart_erasures(_now: datetime) -> None:
    """Resume every requested erasure that is neither done nor running."""
    for participant in Participant.objects.awaiting_erasure().select_related("study").order_by("pk"):
        runs = Run.objects.filter(study=participant.study_id, kind=ERASURE, parameters__participant=participant.pk)
        run = runs.order_by("-pk").first()
        if run is None or run.state == RunState.DONE:
            start_erasure(participant, _now)
        elif not run.is_active:
            with suppress(lifecycle.NotResumableError):  # somebody else has just resumed it
                lifecycle.resume(run=run)


def run_erasure(work: kinds.Work) -> kinds.Effect:
    """Erase the data of a run's participant; all of it happens in the effect, in one transaction."""
    # Only of the run's own study, and only if an erasure was requested, whatever the run's parameters say.
    erasures = Participant.objects.filter(study=work.run.study_id, erasure_requested_at__isnull=False)

    def effect() -> None:
        withdrawal.erase(participant=erasures.get(pk=work.run.parameters["participant"]), now=timezone.now())

    return effect


def run_vacuum(work: kinds.Work) -> None:
    """Vacuum all tables, once no transaction can read erased rows any more."""
    tables = sorted({model._meta.db_table for model in apps.get_models(include_auto_created=True) if _is_table(model)})
    maintenance = connection.copy()
    try:
        with maintenance.cursor() as cursor:
            cursor.execute("SET lock_timeout = '10s'")
            cursor.execute("SELECT pg_current_xact_id()::xid::text")
            _wait_for_readers(cursor, horizon=cursor.fetchone()[0], work=work, total=len(tables))
            for done, table in enumerate(tables):
                work.report(done, len(tables), table)
                cursor.execute(f"VACUUM {maintenance.ops.quote_name(table)}")
    finally:
        maintenance.close()


def _wait_for_readers(cursor: Any, *, horizon: str, work: kinds.Work, total: int) -> None:
    for _second in range(WAIT):
        cursor.execute(_HOLDING, {"horizon": horizon})
        if not cursor.fetchone()[0]:
            return
        work.report(0, total, "waiting for transactions that began before the erasure")
        time.sleep(1)
    raise TimeoutError("Transactions that began before the erasure are still open, so that erased rows stay.")


def _is_table(model: Any) -> bool:
    return bool(model._meta.managed and not model._meta.proxy)


def _parameters_text(run: Run) -> dict[str, Any]:
    person = Participant.objects.filter(pk=run.parameters.get("participant")).first()
    return {"Participant": person.external_id} if person else {}


KINDS: Final = (
    kinds.Kind(name=ERASURE, title="Erasure of a participant's data", work=run_erasure, describe=_parameters_text),
    kinds.Kind(name=VACUUM, title="Cleanup after an erasure", work=run_vacuum),
)
