"""Leases of units: claim, renew, complete, give back, fail, recover lost units.

Two rules make it safe (docs/adr/0009-runs.md). Every write to a claimed unit is fenced: it names the claim's fence and
changes nothing if another claim was made since. And locks are taken in one order: a transaction that has locked a
unit's row never waits for a run's row. The duration of a lease, and its clock, are defined here too.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import DateTimeField, Exists, ExpressionWrapper, F, OuterRef, Value
from django.db.models.functions import Now

from crowdrag.clocks import CLOCK_DIFFERENCE

from .delivery_queue import Backoff
from .enums import OPEN, RunState, UnitState
from .models import Run, Unit, UnitQuerySet

# The database is away, or the query must be repeated (a deadlock): not the unit's fault.
DATABASE_AWAY = (OperationalError, InterfaceError)
# The beginnings of the states with which PostgreSQL ends a connection, or takes none. Other lost connections have none.
LOST_CONNECTION = ("08", "57P")
MAX_ATTEMPTS = 3
# A unit that lost this many workers probably kills them (by its memory use, say).
MAX_LOST = 10
BACKOFF = Backoff.exponential(timedelta(seconds=2), timedelta(minutes=5), tries=MAX_LOST + 1, factor=4)


def lease_duration() -> timedelta:
    """Return how long a claim lasts without a heartbeat; the setting `RUNS_LEASE_SECONDS` changes it."""
    return timedelta(seconds=getattr(settings, "RUNS_LEASE_SECONDS", 20))


def heartbeat_seconds() -> float:
    """Return the seconds between two heartbeats: several fit into a lease."""
    return lease_duration().total_seconds() / 5


def time_expression(now: datetime | None) -> Any:
    """Return the time as an expression: the given one, or the database's clock, which all machines share."""
    return Now() if now is None else Value(now, output_field=DateTimeField())


def time_after(now: datetime | None, by: timedelta) -> Any:
    """Return the time that much later, as an expression."""
    return ExpressionWrapper(time_expression(now) + Value(by), output_field=DateTimeField())


class LeaseLostError(Exception):
    """Another worker holds the unit now, or the run was cancelled: no result of this claim is kept."""


def claim(*, worker: str, queue: str | None = None, run: Run | None = None, now: datetime | None = None) -> Unit | None:
    """Claim one due unit of a queue or of a run, under a lease; None if none is due.

    A run is chosen at random, so that a long run does not delay short ones; within it the oldest unit comes first.
    Background runs wait until no other run of their queue has anything to do.
    """
    moment = time_expression(now)
    due = Unit.objects.due(moment)
    runs = Run.objects.active().filter(Exists(due.filter(run=OuterRef("pk"))))
    runs = runs.filter(pk=run.pk) if run else runs.filter(queue=queue)
    # Other workers may hold the last due unit of the chosen run: then the next run is tried.
    for pk, is_background in runs.order_by("is_background", "?").values_list("pk", "is_background"):
        if is_background and run is None and Run.objects.before_background(moment).filter(queue=queue).exists():
            break
        with transaction.atomic():
            locked = due.filter(run=pk).select_for_update(of=("self",), skip_locked=True)
            if (unit := locked.order_by("due_at", "position").first()) is None:
                continue
            Unit.objects.filter(pk=unit.pk).update(
                state=UnitState.CLAIMED,
                fence=F("fence") + 1,
                lease_until=time_after(now, lease_duration()),
                worker=worker,
                claimed_at=moment,
                done=0,
                total=0,
                message="",
            )
            # Read while the row is locked: a process that is paused right after this must not continue with another
            # claim's fence.
            unit = Unit.objects.select_related("run__study").get(pk=unit.pk)
        if unit.run.state == RunState.PLANNED:
            Run.objects.filter(pk=pk, state=RunState.PLANNED).update(state=RunState.RUNNING, started_at=moment)
        return unit
    return None


def makes_way(run: Run, *, now: datetime | None = None) -> bool:
    """Return whether a background run must stop, because another run of its queue has something to do."""
    others = Run.objects.before_background(time_expression(now)).filter(queue=run.queue)
    return run.is_background and others.exists()


def held_unit(unit: Unit) -> UnitQuerySet:
    """Return the unit's row as a queryset, if this claim still holds it; every write goes through here."""
    return Unit.objects.filter(pk=unit.pk, fence=unit.fence, state=UnitState.CLAIMED)


def renew(unit: Unit, *, done: int, total: int, message: str, now: datetime | None = None) -> bool:
    """Renew the lease and write the progress; return whether the claim still holds the unit.

    Does not wait for a lock: if the row is locked, this claim is about to be ended or is completing.
    """
    with transaction.atomic():
        held = held_unit(unit).select_for_update(skip_locked=True).values("pk")
        renewed = Unit.objects.filter(pk__in=held).update(
            lease_until=time_after(now, lease_duration()), done=done, total=total, message=message
        )
    # An invisible row was created in a transaction that is still open, as in tests.
    return bool(renewed) or held_unit(unit).exists() or not Unit.objects.filter(pk=unit.pk).exists()


def complete(
    unit: Unit,
    *,
    effect: Callable[[], None] | None,
    total: int = 0,
    message: str = "",
    idle_limit: int = 300,
    now: datetime | None = None,
) -> None:
    """Apply the effect and mark the unit done: both or neither.

    Raises
    ------
    LeaseLostError
        if the unit was taken over or cancelled meanwhile; the effect is rolled back.
    """
    with transaction.atomic():
        _limit_idling(idle_limit)
        if effect is not None:
            effect()
        completed = held_unit(unit).update(
            state=UnitState.DONE,
            finished_at=time_expression(now),
            lease_until=None,
            done=total,
            total=total,
            message=message,
            error="",
        )
        if not completed:
            raise LeaseLostError


def apply_part(unit: Unit, effect: Callable[[], None], *, idle_limit: int = 300) -> None:
    """Apply a part of a unit's effect before its completion, if this claim still holds the unit.

    Raises
    ------
    LeaseLostError
        if the unit was taken over or cancelled meanwhile; the part is rolled back.
    """
    with transaction.atomic():
        _limit_idling(idle_limit)
        effect()
        # Locked until the commit: a cancellation or another claim waits, and this part never comes after it.
        if held_unit(unit).select_for_update(no_key=True).values_list("pk").first() is None:
            raise LeaseLostError


def give_back(unit: Unit, *, now: datetime | None = None) -> None:
    """Release an unfinished unit, so that any worker can claim it at once."""
    held_unit(unit).update(state=UnitState.PENDING, lease_until=None, due_at=time_expression(now))


def is_disconnected(error: BaseException) -> bool:
    """Return whether an error says that the connection to the database was lost."""
    state = getattr(error.__cause__, "sqlstate", None)
    return isinstance(error, DATABASE_AWAY) and (state is None or state.startswith(LOST_CONNECTION))


def fail(unit: Unit, *, error: str, final: bool = False, now: datetime | None = None) -> None:
    """Count a failed attempt: the unit is due again after a backoff, or fails if it was the last attempt."""
    attempts = unit.attempts + 1
    if final or attempts >= MAX_ATTEMPTS:
        end = {"state": UnitState.FAILED, "finished_at": time_expression(now)}
    else:
        end = {"state": UnitState.PENDING, "due_at": time_after(now, BACKOFF.waits[attempts - 1])}
    held_unit(unit).update(attempts=attempts, error=error, lease_until=None, **end)


@transaction.atomic
def correct_due_times(*, now: datetime | None = None) -> int:
    """Make units due whose time is further ahead than any wait, as the clock was set back; count them."""
    ahead = Unit.objects.filter(
        state=UnitState.PENDING, due_at__gt=time_after(now, BACKOFF.waits[-1] + CLOCK_DIFFERENCE)
    )
    locked = ahead.select_for_update(skip_locked=True).values("pk")
    return Unit.objects.filter(pk__in=locked).update(due_at=time_expression(now))


def return_expired(*, run: Run | None = None, now: datetime | None = None) -> int:
    """Return units with an expired lease to the queue, or fail those that lost too many workers; count them.

    A lease that ends later than a new one would was given before the clock was set back, and has expired too.
    """
    with transaction.atomic():
        latest = time_after(now, lease_duration() + CLOCK_DIFFERENCE)
        stale = Unit.objects.stale(time_expression(now), latest=latest).select_for_update(skip_locked=True)
        units = list((stale.filter(run=run) if run else stale).order_by("pk"))
        for unit in units:
            lose(unit, now=now)
    return len(units)


def lose(unit: Unit, *, now: datetime | None = None) -> None:
    """Count a lost worker: the unit is due again after a backoff, or fails if it lost too many."""
    lost = unit.lost + 1
    if lost >= MAX_LOST:
        end = {
            "state": UnitState.FAILED,
            "finished_at": time_expression(now),
            "error": f"{lost} workers vanished or lost the database at this unit. Does it need too much memory?",
        }
    else:
        # The first loss is bad luck and adds no delay.
        wait = BACKOFF.waits[lost - 1] - BACKOFF.waits[0]
        end = {"state": UnitState.PENDING, "due_at": time_after(now, wait)}
    held_unit(unit).update(lost=lost, lease_until=None, **end)


def cancel_open(run: Run, *, now: datetime | None = None) -> int:
    """Cancel the open units of a run, including claimed ones: their workers will find that they hold nothing.

    The caller has locked the run's row.
    """
    return run.units.filter(state__in=OPEN).update(
        state=UnitState.CANCELLED, finished_at=time_expression(now), lease_until=None
    )


def _limit_idling(seconds: int) -> None:
    """Keep a worker that is paused in its transaction from blocking its successor for ever."""
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL idle_in_transaction_session_timeout = '{seconds:d}s'")
