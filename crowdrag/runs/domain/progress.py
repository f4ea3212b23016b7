"""How far a run is, and how long it will take."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from ..enums import UnitState
from ..models import Run, Unit

WINDOW = timedelta(minutes=1)


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Attributes
    ----------
    done, total
        units of a run that has several; of a run that has one, whatever its work counts. `total` is 0 while it is
        not known.
    message
        what it is at.
    rate
        per second, lately; None where there is nothing to tell it from.
    left
        the time left at that rate; None where it is not known.
    """

    done: int
    total: int
    message: str = ""
    rate: float | None = None
    left: timedelta | None = None

    @property
    def percent(self) -> int | None:
        """The share that is done, rounded down; None while the total is not known."""
        return 100 * self.done // self.total if self.total else None


def of(run: Run, *, now: datetime | None = None) -> Progress:
    """Return how far a run is."""
    now = now or timezone.now()
    total = run.units.count()
    if total == 1:
        return of_unit(run.units.get(), now=now)
    done = run.units.filter(state=UnitState.DONE).count()
    at_work = run.units.filter(state=UnitState.CLAIMED).exclude(message="").order_by("-claimed_at", "-id").first()
    return _of_units(run, done, total, at_work.message if at_work else "", now)


def of_unit(unit: Unit, *, now: datetime) -> Progress:
    """Return how far the only unit of a run is."""
    if unit.state == UnitState.DONE and not unit.total:
        return Progress(1, 1, unit.message)
    elapsed = (now - unit.claimed_at).total_seconds() if unit.claimed_at and unit.state == UnitState.CLAIMED else 0
    return at_rate(unit.done, unit.total, unit.message, unit.done / elapsed if elapsed > 0 else None)


def _of_units(run: Run, done: int, total: int, message: str, now: datetime) -> Progress:
    rate = None
    if run.is_active and run.started_at:
        since = max(now - WINDOW, run.started_at)
        lately = run.units.filter(state=UnitState.DONE, finished_at__gte=since).count()
        elapsed = (now - since).total_seconds()
        rate = lately / elapsed if elapsed > 0 else None
    return at_rate(done, total, message, rate)


def at_rate(done: int, total: int, message: str, rate: float | None) -> Progress:
    """Return a progress with the time left at a rate per second."""
    left = timedelta(seconds=round((total - done) / rate)) if rate and total > done else None
    return Progress(done, total, message, rate or None, left)


def of_listed(runs: Sequence[Run]) -> dict[int, Progress]:
    """Return the progress of runs that came with their unit counts, without further queries and without rates."""
    found = {}
    for run in runs:
        total, done = run.units_total or 0, run.units_done or 0  # type: ignore[attr-defined]
        if total == 1 and run.inner_total and not done:  # type: ignore[attr-defined]
            done, total = run.inner_done, run.inner_total  # type: ignore[attr-defined]
        found[run.pk] = Progress(done, total)
    return found
