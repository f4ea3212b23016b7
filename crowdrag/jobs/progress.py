"""Progress of a run, and an estimate of the time left."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from django.db.models import Count, Q
from django.utils import timezone

from .enums import UnitState
from .models import Run, Unit, WorkerHeartbeat

#: The pace is that of so many units that were done last.
LAST_UNITS = 50
#: So many units at work are shown.
SHOWN_RUNS = 5
#: Between two units workers were away, if it was longer than this: that is no part of the pace.
GAP = timedelta(seconds=30)

Span = tuple[datetime, datetime]


@dataclass(frozen=True)
class Stage:
    """Where a run is that has several stages: the how manieth, from 1, and how many of its units are done."""

    number: int
    of: int
    done: int
    total: int


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
        the time left at that rate, of the stage that it is in; None where it is not known. What later stages take is
        not known: theirs is other work.
    stage
        of a run that has several; None for others, and where all are over.
    begun
        what is done of the units at work, together: 0.5 is half a unit.
    """

    done: int
    total: int
    message: str = ""
    rate: float | None = None
    left: timedelta | None = None
    stage: Stage | None = None
    begun: float = 0.0

    @property
    def percent(self) -> int | None:
        """The share that is done, with what is done of units at work, rounded down; None while the total is unknown."""
        return int(100 * (self.done + self.begun) / self.total) if self.total else None


def measure(run: Run, *, now: datetime | None = None) -> Progress:
    """Return how far a run is."""
    now = now or timezone.now()
    total = run.units.count()
    if total == 1:
        return measure_unit(run.units.get(), now=now)
    at_work = list(run.units.filter(state=UnitState.CLAIMED).order_by("-claimed_at", "-id"))
    message = next((unit.message for unit in at_work if unit.message), "")
    return _measure_units(run, total, message, at_work, now)


def units_at_work(run: Run) -> list[Unit]:
    """Return the first units of a run that workers are at."""
    claimed = run.units.filter(state=UnitState.CLAIMED).order_by("position")
    return list(claimed[:SHOWN_RUNS]) if run.is_active else []


class Obstacle(StrEnum):
    """What a run waits for that is at work on nothing."""

    RETRY = "RETRY"  # the time of the next try, after a failure
    NO_WORKER = "NO_WORKER"  # a worker of its queue: none is there
    OTHERS = "OTHERS"  # a free worker: all are at other runs
    WORKER = "WORKER"  # a worker that takes it up


@dataclass(frozen=True)
class Wait:
    """Why a run that is not over stands still; `runs` are the others that workers are at, the longest at work first."""

    obstacle: Obstacle
    runs: tuple[Run, ...] = ()
    until: datetime | None = None


def find_wait(run: Run, *, now: datetime | None = None) -> Wait | None:
    """Say what a run waits for: it is not over, and nobody is at it; None for all others."""
    now = now or timezone.now()
    if not run.is_active or run.units.filter(state=UnitState.CLAIMED).exists():
        return None
    if not run.units.due(now).exists():
        later = run.units.going_on().filter(state=UnitState.PENDING, due_at__gt=now)
        until = later.order_by("due_at").values_list("due_at", flat=True).first()
        return Wait(Obstacle.RETRY, until=until) if until else None
    if not WorkerHeartbeat.objects.filter(queue=run.queue).fresh(now).exists():
        return Wait(Obstacle.NO_WORKER)
    at_work = Unit.objects.filter(run__queue=run.queue, state=UnitState.CLAIMED, lease_until__gt=now).exclude(run=run)
    others = Run.objects.filter(pk__in=at_work.values("run")).select_related("study").order_by("started_at", "pk")
    return Wait(Obstacle.OTHERS, tuple(others)) if others else Wait(Obstacle.WORKER)


def measure_unit(unit: Unit, *, now: datetime) -> Progress:
    """Return how far the only unit of a run is."""
    if unit.state == UnitState.DONE and not unit.total:
        return Progress(1, 1, unit.message)
    elapsed = (now - unit.claimed_at).total_seconds() if unit.claimed_at and unit.state == UnitState.CLAIMED else 0
    return with_rate(unit.done, unit.total, unit.message, unit.done / elapsed if elapsed > 0 else None)


def _measure_units(run: Run, total: int, message: str, at_work: list[Unit], now: datetime) -> Progress:
    is_done = Q(state=UnitState.DONE)
    rows = run.units.order_by("stage").values_list("stage").annotate(done=Count("pk", filter=is_done), all=Count("pk"))
    stages = list(rows)
    done = sum(row[1] for row in stages)
    open_ones = [n for n, row in enumerate(stages) if row[1] < row[2]]
    if not run.is_active or not open_ones:
        return Progress(done, total, message)
    n = open_ones[0]
    number, done_of_it, all_of_it = stages[n]
    of_it = [unit for unit in at_work if unit.stage == number]
    rate = _rate(run, number, of_it, now)
    # Half of a unit that takes an hour is half an hour less.
    begun = sum(_part(unit) for unit in of_it)
    ahead = all_of_it - done_of_it - begun
    left = timedelta(seconds=round(max(ahead, 0) / rate)) if rate else None
    stage = Stage(n + 1, len(stages), done_of_it, all_of_it) if len(stages) > 1 else None
    return Progress(done, total, message, rate, left, stage, begun)


def _rate(run: Run, stage: int, at_work: Iterable[Unit], now: datetime) -> float | None:
    """Return how many units of a stage are done in a second: of those that were last, and of what is at work."""
    over = run.units.filter(stage=stage, state=UnitState.DONE, claimed_at__isnull=False).order_by("-finished_at")
    rows = over.values_list("claimed_at", "finished_at")[:LAST_UNITS]
    spans = [(began, ended) for began, ended in rows if began and ended]
    done = float(len(spans))
    for unit in at_work:
        if unit.claimed_at and (spans or unit.done):
            spans.append((unit.claimed_at, now))
            done += _part(unit)
    seconds = busy_time(spans).total_seconds()
    return done / seconds if done and seconds > 0 else None


def _part(unit: Unit) -> float:
    return unit.done / unit.total if unit.total else 0.0


def busy_time(spans: Iterable[Span], *, gap: timedelta = GAP) -> timedelta:
    """Return how long somebody was at work: spans laid over each other, with the gaps between them that are short.

    A span that ends before it begins, as a clock may be set back, is none.
    """
    total, end = timedelta(), None
    for begin, finish in sorted(span for span in spans if span[1] > span[0]):
        if end is None or begin - end > gap:
            total += finish - begin
        elif finish > end:
            total += finish - end
        end = finish if end is None else max(end, finish)
    return total


def with_rate(done: int, total: int, message: str, rate: float | None) -> Progress:
    """Return a progress with the time left at a rate per second."""
    left = timedelta(seconds=round((total - done) / rate)) if rate and total > done else None
    return Progress(done, total, message, rate or None, left)


def measure_listed(runs: Sequence[Run]) -> dict[int, Progress]:
    """Return the progress of runs that came with their unit counts, without further queries and without rates."""
    measured = {}
    for run in runs:
        total, done = run.units_total or 0, run.units_done or 0  # type: ignore[attr-defined]
        if total == 1 and run.inner_total and not done:  # type: ignore[attr-defined]
            done, total = run.inner_done, run.inner_total  # type: ignore[attr-defined]
        measured[run.pk] = Progress(done, total)
    return measured
