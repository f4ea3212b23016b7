"""Units change hands here: claim, renew, complete, give back, fail, return what was lost.

Two rules make it safe (docs/adr/0009-runs.md). Every write to a claimed unit is fenced: it names the claim's fence
and changes nothing if another claim was made since. And locks are taken in one order: whoever holds a unit's row never
waits for a run's row.
"""

from collections.abc import Callable
from datetime import datetime

from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef

from ..enums import OPEN, RunState, UnitState
from ..models import Run, Unit
from ..models.unit import UnitQuerySet
from . import timing


class LeaseLost(Exception):  # noqa: N818 -- it says what became of the lease
    """Another worker holds the unit now, or the run was cancelled: nothing of this claim is kept."""


def claim(*, worker: str, queue: str | None = None, run: Run | None = None, now: datetime | None = None) -> Unit | None:
    """Claim one due unit of a queue or of a run, under a lease; None if none is due.

    Of several runs one is drawn, so that a long run does not keep short ones waiting; within it the oldest unit comes
    first.
    """
    moment = timing.moment(now)
    due = Unit.objects.due(moment)
    runs = Run.objects.active().filter(Exists(due.filter(run=OuterRef("pk"))))
    runs = runs.filter(pk=run.pk) if run else runs.filter(queue=queue)
    # Other workers may hold the last due unit of the run that was drawn: then the next run has its turn.
    for pk in runs.order_by("?").values_list("pk", flat=True):
        with transaction.atomic():
            locked = due.filter(run=pk).select_for_update(of=("self",), skip_locked=True)
            if (unit := locked.order_by("due_at", "position").first()) is None:
                continue
            Unit.objects.filter(pk=unit.pk).update(
                state=UnitState.CLAIMED,
                fence=F("fence") + 1,
                lease_until=timing.later(now, timing.lease()),
                worker=worker,
                claimed_at=moment,
                done=0,
                total=0,
                message="",
            )
            # Read while the row is locked: a process that is stopped right after this must not wake up with another
            # claim's fence.
            unit = Unit.objects.select_related("run__study").get(pk=unit.pk)
        Run.objects.filter(pk=pk, state=RunState.PLANNED).update(state=RunState.RUNNING, started_at=moment)
        return unit
    return None


def held(unit: Unit) -> UnitQuerySet:
    """Return the unit's row as a queryset, if this claim still holds it; every write goes through here."""
    return Unit.objects.filter(pk=unit.pk, fence=unit.fence, state=UnitState.CLAIMED)


def renew(unit: Unit, *, done: int, total: int, message: str, now: datetime | None = None) -> bool:
    """Prolong the lease and write down the progress; say whether the claim still holds the unit.

    Does not wait for a lock: whoever has the row locked is about to end this claim or is this claim's own completion.
    """
    with transaction.atomic():
        mine = held(unit).select_for_update(skip_locked=True).values("pk")
        renewed = Unit.objects.filter(pk__in=mine).update(
            lease_until=timing.later(now, timing.lease()), done=done, total=total, message=message
        )
    # A row that cannot be seen from here was made in a transaction that is still open, as in tests.
    return bool(renewed) or held(unit).exists() or not Unit.objects.filter(pk=unit.pk).exists()


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
    LeaseLost
        if the unit was taken over or cancelled meanwhile; the effect is rolled back.
    """
    with transaction.atomic():
        _limit_idling(idle_limit)
        if effect is not None:
            effect()
        completed = held(unit).update(
            state=UnitState.DONE,
            finished_at=timing.moment(now),
            lease_until=None,
            done=total,
            total=total,
            message=message,
            error="",
        )
        if not completed:
            raise LeaseLost


def keep(unit: Unit, effect: Callable[[], None], *, idle_limit: int = 300) -> None:
    """Apply a part of a unit's effect ahead of its completion, if this claim holds the unit still.

    Raises
    ------
    LeaseLost
        if the unit was taken over or cancelled meanwhile; the part is rolled back.
    """
    with transaction.atomic():
        _limit_idling(idle_limit)
        effect()
        # Locked until the commit: whoever cancels or takes over waits, and nothing comes after them.
        if held(unit).select_for_update(no_key=True).values_list("pk").first() is None:
            raise LeaseLost


def give_back(unit: Unit, *, now: datetime | None = None) -> None:
    """Let a unit go unfinished, for any worker to claim at once."""
    held(unit).update(state=UnitState.PENDING, lease_until=None, due_at=timing.moment(now))


def fail(unit: Unit, *, error: str, final: bool = False, now: datetime | None = None) -> None:
    """Count a failed attempt: the unit is due again after a while, or fails when it was the last one."""
    attempts = unit.attempts + 1
    if final or attempts >= timing.MAX_ATTEMPTS:
        end = {"state": UnitState.FAILED, "finished_at": timing.moment(now)}
    else:
        end = {"state": UnitState.PENDING, "due_at": timing.later(now, timing.backoff(attempts))}
    held(unit).update(attempts=attempts, error=error, lease_until=None, **end)


def return_lost(*, run: Run | None = None, now: datetime | None = None) -> int:
    """Return units whose lease ran out to the queue, or fail those that made worker after worker vanish; count them."""
    with transaction.atomic():
        stale = Unit.objects.stale(timing.moment(now)).select_for_update(skip_locked=True)
        units = list((stale.filter(run=run) if run else stale).order_by("pk"))
        for unit in units:
            lost = unit.lost + 1
            if lost >= timing.MAX_LOST:
                end = {
                    "state": UnitState.FAILED,
                    "finished_at": timing.moment(now),
                    "error": f"{lost} workers vanished while at this unit. Does it need more memory than they have?",
                }
            else:
                # The first loss is bad luck and costs no time.
                end = {"state": UnitState.PENDING, "due_at": timing.later(now, timing.backoff(lost) - timing.BACKOFF)}
            held(unit).update(lost=lost, lease_until=None, **end)
    return len(units)


def close_open(run: Run, *, now: datetime | None = None) -> int:
    """Cancel what is open of a run, claimed units included: their workers will find that they hold nothing.

    The caller holds the run's row.
    """
    return run.units.filter(state__in=OPEN).update(
        state=UnitState.CANCELLED, finished_at=timing.moment(now), lease_until=None
    )


def _limit_idling(seconds: int) -> None:
    """Keep a worker that is stopped in its transaction from holding its locks for ever against its successor."""
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL idle_in_transaction_session_timeout = '{seconds:d}s'")
