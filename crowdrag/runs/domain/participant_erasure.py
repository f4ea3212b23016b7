"""Erasing what a participant gave, as a run: the request that asks for it answers at once, and the erasure always ends.

Whoever fails or cancels such a run delays it: what was asked for and is not done is begun again every minute. After an
erasure the tables are vacuumed, so that the erased rows leave them.
"""

import time
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from django.apps import apps
from django.db import connection
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from crowdrag.studies.models import Participant
from crowdrag.studies.participants import withdrawal

from .. import kinds
from ..enums import RunState
from ..models import Run
from . import running

ERASURE: Final = "studies.erasure"
VACUUM: Final = "studies.vacuum"
# How long a vacuum waits for transactions that may still read erased rows before the unit is tried again.
WAIT: Final = 120
_HOLDING: Final = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
    AND (age(backend_xmin) > age(%(horizon)s::xid) OR age(backend_xid) > age(%(horizon)s::xid))
"""


def start(participant: Participant, _now: datetime) -> None:
    """Start the erasure of what a participant gave."""
    running.start(study=participant.study, kind=ERASURE, parameters={"participant": participant.pk})


def start_vacuum(participant: Participant, _now: datetime) -> None:
    """Start the vacuum that follows an erasure, unless one has yet to begin: it will wait for this transaction."""
    if not Run.objects.filter(study=participant.study_id, kind=VACUUM, state=RunState.PLANNED).exists():
        running.start(study=participant.study, kind=VACUUM)


def restart(_now: datetime) -> None:
    """Go on with every erasure that was asked for, is not done, and is not at work."""
    for participant in Participant.objects.awaiting_erasure().select_related("study").order_by("pk"):
        runs = Run.objects.filter(study=participant.study_id, kind=ERASURE, parameters__participant=participant.pk)
        run = runs.order_by("-pk").first()
        if run is None or run.state == RunState.DONE:
            start(participant, _now)
        elif not run.is_active:
            with suppress(running.NotResumableError):  # somebody else resumed it in this moment
                running.resume(run=run)


def erase(work: kinds.Work) -> kinds.Effect:
    """Erase what the participant of a run gave; all of it happens in the effect, in one transaction."""
    # Only of the run's own study, and only where somebody asked for it, whatever the run's parameters say.
    asked = Participant.objects.filter(study=work.run.study_id, erasure_requested_at__isnull=False)

    def effect() -> None:
        withdrawal.erase(participant=asked.get(pk=work.run.parameters["participant"]), now=timezone.now())

    return effect


def vacuum(work: kinds.Work) -> None:
    """Remove dead rows from all tables, once no transaction can read what was erased any more."""
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
        work.report(0, total, str(_("waiting for transactions that began before the erasure")))
        time.sleep(1)
    raise TimeoutError("Transactions that began before the erasure are still open, so that erased rows stay.")


def _is_table(model: Any) -> bool:
    return bool(model._meta.managed and not model._meta.proxy)


def _told(run: Run) -> dict[str, Any]:
    person = Participant.objects.filter(pk=run.parameters.get("participant")).first()
    return {str(_("Participant")): person.external_id} if person else {}


KINDS: Final = (
    kinds.Kind(name=ERASURE, title=_("Erasure of a participant's data"), work=erase, told=_told),
    kinds.Kind(name=VACUUM, title=_("Cleaning up after an erasure"), work=vacuum),
)
