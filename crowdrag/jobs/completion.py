"""The end of a run: done, failed or rejected. Registered listeners are called once.

Apps above register listeners, so that this app need not know them. They are called in the transaction that ends the
run, with its row locked: they write to the database and must be quick. What they write is kept if, and only if, the run
has ended. A run that is resumed ends again.
"""

import logging
from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models.functions import Coalesce
from django.utils import timezone

from crowdrag.log_formatter import first_line

from . import kinds, leases
from .enums import RunState, UnitState
from .leases import DATABASE_AWAY
from .models import Run, Unit

# Gets the run in its final state, and the time when it ended.
Listener = Callable[[Run, datetime], object]

_listeners: list[Listener] = []


def register_listener(listener: Listener) -> Listener:
    """Add a listener that is called for each run that has ended; called once from an app's `ready`."""
    if listener not in _listeners:
        _listeners.append(listener)
    return listener


def notify_listeners(run: Run, at: datetime) -> None:
    """Call all listeners."""
    for listener in _listeners:
        listener(run, at)


MAX_PROBLEMS = 100
log = logging.getLogger(__name__)


def lock_run(pk: int) -> Run:
    """Return a run with its row locked. Rows that refer to it may still be written meanwhile."""
    return Run.objects.select_for_update(no_key=True, of=("self",)).get(pk=pk)


def conclude(pk: int, *, now: datetime | None = None) -> None:
    """End a run if it has no open units; `finish` runs in the same transaction, so exactly once."""
    if Unit.objects.filter(run=pk).going_on().exists():
        return
    try:
        with transaction.atomic():
            _conclude(pk, now)
    except DATABASE_AWAY:
        raise  # the sweep tries again
    except Exception as error:
        log.exception("Run %s could not be finished", pk)
        with transaction.atomic():
            run = lock_run(pk)
            if run.is_active:
                end(
                    run,
                    state=RunState.FAILED,
                    error=f"Its results could not be finished: {describe_error(error)}",
                    now=now,
                )


def _conclude(pk: int, now: datetime | None) -> None:
    run = lock_run(pk)
    if not run.is_active or Unit.objects.filter(run=run).going_on().exists():
        return
    failed = run.units.filter(state=UnitState.FAILED)
    if first := failed.order_by("position").first():
        n = failed.count()
        more = f" ({n} units failed; this is the first.)" if n > 1 else ""
        leases.cancel_open(run, now=now)  # later stages
        end(run, state=RunState.FAILED, error=first.error + more, now=now)
        return
    if (finish := kinds.get(run.kind).finish) is not None:
        finish(run)
    end(run, state=RunState.DONE, error="", now=now)


def end(run: Run, *, state: RunState, error: str = "", now: datetime | None = None, **fields: Any) -> None:
    """Record how a run ended, and call the listeners; the caller has locked its row."""
    moment = leases.time_expression(now)
    started_at = Coalesce("started_at", moment) if state != RunState.CANCELLED else run.started_at
    Run.objects.filter(pk=run.pk).update(state=state, error=error, finished_at=moment, started_at=started_at, **fields)
    run.state = state
    notify_listeners(run, now or timezone.now())


@transaction.atomic
def reject(unit: Unit, *, rejected: kinds.InputRejectedError, now: datetime | None = None) -> None:
    """End a run whose input is invalid, unless this claim no longer holds the unit."""
    problems = rejected.problems
    run = lock_run(unit.run_id)
    count = f"{len(problems)} problems" if len(problems) != 1 else "1 problem"
    error = f"{count} found. Nothing was changed."
    if len(problems) > MAX_PROBLEMS:
        error += f" The first {MAX_PROBLEMS} are listed."
    ended = leases.held_unit(unit).update(
        state=UnitState.FAILED,
        attempts=unit.attempts + 1,
        error=error,
        lease_until=None,
        finished_at=leases.time_expression(now),
    )
    if ended and run.is_active:
        leases.cancel_open(run, now=now)
        kept = {"problems": problems[:MAX_PROBLEMS], "is_rejected": rejected.is_final}
        end(run, state=RunState.FAILED, error=error, now=now, **kept)


def describe_error(error: BaseException) -> str:
    """Return an error in words: its message, and its type if that says more."""
    text = first_line(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
