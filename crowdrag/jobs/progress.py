"""Progress of a run, and an estimate of the time left."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from django.db.models import Count, Q
from django.utils import timezone

from .enums import Queue, RunState, UnitState
from .models import Run, Unit, WorkerHeartbeat, may_start

#: The rate is measured on this many most recent units.
LAST_UNITS = 50
#: Maximum number of active units shown.
SHOWN_RUNS = 5
#: A longer gap between two units means that no worker was active: it does not count towards the rate.
GAP = timedelta(seconds=30)

Span = tuple[datetime, datetime]


@dataclass(frozen=True)
class Stage:
    """The current stage of a run with several stages: its number, from 1, and how many of its units are done."""

    number: int
    of: int
    done: int
    total: int


@dataclass(frozen=True)
class Progress:
    """The progress of a run.

    Attributes
    ----------
    done, total
        units of a run with several units; for a run with one, the counts reported by its work. `total` is 0 while
        unknown.
    message
        what it is doing.
    rate
        recent rate per second; None if it cannot be measured.
    left
        the time left in the current stage at that rate; None if unknown. The duration of later stages is unknown, since
        their work differs.
    stage
        the stage of a run with several; None for other runs, and when all stages have ended.
    begun
        the sum of finished parts of active units: 0.5 is half a unit.
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
        """The share done, including parts of active units, rounded down; None while the total is unknown."""
        return int(100 * (self.done + self.begun) / self.total) if self.total else None


def measure(run: Run, *, now: datetime | None = None) -> Progress:
    """Return the progress of a run. A cancelled run does nothing, so it has no message."""
    progress = _measure(run, now or timezone.now())
    return replace(progress, message="") if run.state == RunState.CANCELLED else progress


def _measure(run: Run, now: datetime) -> Progress:
    total = run.units.count()
    if total == 1:
        return measure_unit(run.units.get(), now=now)
    at_work = list(run.units.filter(state=UnitState.CLAIMED).order_by("-claimed_at", "-id"))
    message = next((unit.message for unit in at_work if unit.message), "")
    return _measure_units(run, total, message, at_work, now)


def units_at_work(run: Run) -> list[Unit]:
    """Return the first active units of a run."""
    claimed = run.units.filter(state=UnitState.CLAIMED).order_by("position")
    return list(claimed[:SHOWN_RUNS]) if run.is_active else []


class Obstacle(StrEnum):
    """What a run without active units waits for."""

    RETRY = "RETRY"  # the time of the next try, after a failure
    NO_WORKER = "NO_WORKER"  # a worker of its queue: there is none
    OTHERS = "OTHERS"  # a free worker: all work on other runs
    SHARED = "SHARED"  # the first answer of a model that other runs ask too
    WORKER = "WORKER"  # a worker that starts it


@dataclass(frozen=True)
class Wait:
    """Why an active run makes no progress; `runs` are the others being worked on, the longest-running first."""

    obstacle: Obstacle
    runs: tuple[Run, ...] = ()
    until: datetime | None = None


def find_wait(run: Run, *, now: datetime | None = None) -> Wait | None:
    """Return what an active run waits for that has no active units, or no answer of a model; None for all others."""
    now = now or timezone.now()
    if not run.is_active:
        return None
    others = _at_work(run, now)
    if run.units.filter(state=UnitState.CLAIMED).exists():
        answered = run.units.filter(Q(done__gt=0) | Q(state=UnitState.DONE)).exists()
        return Wait(Obstacle.SHARED, others) if run.queue == Queue.LLM and others and not answered else None
    if not run.units.due(now).exists():
        later = run.units.going_on().filter(state=UnitState.PENDING, due_at__gt=now)
        until = later.order_by("due_at").values_list("due_at", flat=True).first()
        return Wait(Obstacle.RETRY, until=until) if until else None
    if not WorkerHeartbeat.objects.filter(queue=run.queue).fresh(now).exists():
        oldest = run.units.due(now).order_by("due_at").values_list("due_at", flat=True).first()
        return Wait(Obstacle.WORKER if may_start(run.queue, oldest, now) else Obstacle.NO_WORKER)
    return Wait(Obstacle.OTHERS, others) if others else Wait(Obstacle.WORKER)


def _at_work(run: Run, now: datetime) -> tuple[Run, ...]:
    """Return the other runs of a run's queue that are being worked on."""
    at_work = Unit.objects.filter(run__queue=run.queue, state=UnitState.CLAIMED, lease_until__gt=now).exclude(run=run)
    return tuple(Run.objects.filter(pk__in=at_work.values("run")).select_related("study").order_by("started_at", "pk"))


@dataclass(frozen=True)
class RunsBefore:
    """The runs of a queue that come before a new one, the longest-waiting first, and their known time left."""

    runs: tuple[Run, ...]
    left: timedelta | None


def find_before(queue: str, *, now: datetime | None = None) -> RunsBefore:
    """Return what a new run of a queue waits for. Background runs make way, so they do not count."""
    now = now or timezone.now()
    runs = Run.objects.before_background(now).filter(queue=queue).select_related("study")
    before = tuple(runs.order_by("created_at", "pk"))
    times = [left for run in before if (left := measure(run, now=now).left) is not None]
    return RunsBefore(before, sum(times, timedelta()) if len(times) == len(before) > 0 else None)


def measure_unit(unit: Unit, *, now: datetime) -> Progress:
    """Return the progress of the only unit of a run."""
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
    # If half of a one-hour unit is done, half an hour less is left.
    begun = sum(_part(unit) for unit in of_it)
    ahead = all_of_it - done_of_it - begun
    left = timedelta(seconds=round(max(ahead, 0) / rate)) if rate else None
    stage = Stage(n + 1, len(stages), done_of_it, all_of_it) if len(stages) > 1 else None
    return Progress(done, total, message, rate, left, stage, begun)


def _rate(run: Run, stage: int, at_work: Iterable[Unit], now: datetime) -> float | None:
    """Return the rate in units per second of a stage, from its latest units and the active ones."""
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
    """Return the total duration of overlapping spans, including short gaps between them.

    A span that ends before it begins, as when a clock was set back, is ignored.
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
