"""A run ends here, once: done, failed, or rejected."""

import logging
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models.functions import Coalesce
from django.utils import timezone

from crowdrag.log_formatter import first_line

from .. import kinds, listening
from ..enums import RunState, UnitState
from ..models import Run, Unit
from . import claiming, timing
from .timing import AWAY

MAX_PROBLEMS = 100
log = logging.getLogger(__name__)


def locked(pk: int) -> Run:
    """Return a run with its row locked. Rows that refer to it may still be written meanwhile."""
    return Run.objects.select_for_update(no_key=True, of=("self",)).get(pk=pk)


def conclude(pk: int, *, now: datetime | None = None) -> None:
    """End a run if nothing of it is open any more; `finish` runs in the same transaction, so exactly once."""
    if Unit.objects.filter(run=pk).going_on().exists():
        return
    try:
        with transaction.atomic():
            _conclude(pk, now)
    except AWAY:
        raise  # the sweep tries again
    except Exception as error:
        log.exception("Run %s could not be finished", pk)
        with transaction.atomic():
            run = locked(pk)
            if run.is_active:
                end(run, state=RunState.FAILED, error=f"Its results could not be finished: {describe(error)}", now=now)


def _conclude(pk: int, now: datetime | None) -> None:
    run = locked(pk)
    if not run.is_active or Unit.objects.filter(run=run).going_on().exists():
        return
    failed = run.units.filter(state=UnitState.FAILED)
    if first := failed.order_by("position").first():
        n = failed.count()
        more = f" ({n} units failed; this is the first.)" if n > 1 else ""
        claiming.close_open(run, now=now)  # later stages
        end(run, state=RunState.FAILED, error=first.error + more, now=now)
        return
    if (finish := kinds.get(run.kind).finish) is not None:
        finish(run)
    end(run, state=RunState.DONE, error="", now=now)


def end(run: Run, *, state: RunState, error: str = "", now: datetime | None = None, **fields: Any) -> None:
    """Write down how a run ended, and tell who listens; the caller holds its row."""
    moment = timing.moment(now)
    started_at = Coalesce("started_at", moment) if state != RunState.CANCELLED else run.started_at
    Run.objects.filter(pk=run.pk).update(state=state, error=error, finished_at=moment, started_at=started_at, **fields)
    run.state = state
    listening.ended(run, now or timezone.now())


@transaction.atomic
def reject(unit: Unit, *, rejected: kinds.Rejected, now: datetime | None = None) -> None:
    """End a run whose input is bad, unless this claim no longer holds the unit."""
    problems = rejected.problems
    run = locked(unit.run_id)
    count = f"{len(problems)} problems" if len(problems) != 1 else "1 problem"
    error = f"The input has {count}; nothing was changed."
    if len(problems) > MAX_PROBLEMS:
        error += f" The first {MAX_PROBLEMS} are listed."
    ended = claiming.held(unit).update(
        state=UnitState.FAILED,
        attempts=unit.attempts + 1,
        error=error,
        lease_until=None,
        finished_at=timing.moment(now),
    )
    if ended and run.is_active:
        claiming.close_open(run, now=now)
        kept = {"problems": problems[:MAX_PROBLEMS], "is_rejected": rejected.is_final}
        end(run, state=RunState.FAILED, error=error, now=now, **kept)


def describe(error: BaseException) -> str:
    """Return an error in words: its message, and its type where that says more."""
    text = first_line(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
