"""Units that hang: whose worker vanished, that take far longer than their kind does, that wait, that failed."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection

from crowdrag.runs import kinds
from crowdrag.runs.enums import UnitState
from crowdrag.runs.models import Run, Unit

SHOWN: Final = 50
# How far back it is looked what a kind's units take.
KNOWN_FOR: Final = timedelta(days=7)
# Slow: three times as long as nineteen of twenty of its kind, but nothing is slow before this.
TIMES: Final = 3
NEVER_BEFORE: Final = timedelta(minutes=2)
# Slow where nothing is known of the kind.
UNKNOWN: Final = timedelta(hours=1)
WAITS_LONG: Final = timedelta(minutes=5)
FAILED_WITHIN: Final = timedelta(days=1)
_USUAL = """
    SELECT run.kind, count(*),
           percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM unit.finished_at - unit.claimed_at)),
           percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM unit.finished_at - unit.claimed_at))
    FROM runs_unit unit JOIN runs_run run ON run.id = unit.run_id
    WHERE unit.state = 'DONE' AND unit.claimed_at IS NOT NULL AND unit.finished_at >= %s
    GROUP BY run.kind ORDER BY run.kind
"""


@dataclass(frozen=True)
class Usual:
    """What units of a kind take, in seconds: over so many that were done lately."""

    kind: str
    units: int
    median: float
    p95: float

    @property
    def title(self) -> str:
        """The kind as people read it."""
        return kinds.title(self.kind)


def usual(*, now: datetime) -> dict[str, Usual]:
    """Return what units of each kind took lately."""
    with connection.cursor() as cursor:
        cursor.execute(_USUAL, [now - KNOWN_FOR])
        return {kind: Usual(kind, n, float(median), float(p95)) for kind, n, median, p95 in cursor.fetchall()}


def limit(known: Usual | None) -> timedelta:
    """Return after how long a unit counts as slow."""
    return max(NEVER_BEFORE, timedelta(seconds=known.p95) * TIMES) if known else UNKNOWN


def hanging(*, now: datetime) -> dict[str, Any]:
    """Return the units that hang in one way or another, the worst first; at most `SHOWN` of each."""
    known = usual(now=now)
    units = Unit.objects.select_related("run__study")
    claimed = units.filter(state=UnitState.CLAIMED).order_by("claimed_at", "id")
    slow = [
        _row(unit, now - unit.claimed_at)
        for unit in claimed.filter(claimed_at__lte=now - NEVER_BEFORE)[: SHOWN * 20]
        if unit.claimed_at and now - unit.claimed_at > limit(known.get(unit.run.kind))
    ]
    waiting = units.due(now).filter(due_at__lte=now - WAITS_LONG).order_by("due_at", "id")
    failed = units.filter(state=UnitState.FAILED, finished_at__gte=now - FAILED_WITHIN).order_by("-finished_at", "id")
    return {
        "stale": [_row(unit, None) for unit in units.stale(now).order_by("lease_until", "id")[:SHOWN]],
        "slow": slow[:SHOWN],
        "waiting": [_row(unit, now - unit.due_at) for unit in waiting[:SHOWN]],
        "failed": [_row(unit, None) for unit in failed[:SHOWN]],
        "usual": list(known.values()),
        "active": [
            {"run": run, "title": kinds.title(run.kind)}
            for run in Run.objects.active().select_related("study").order_by("created_at", "id")[:SHOWN]
        ],
        "most": SHOWN,
    }


def counts(*, now: datetime) -> dict[str, int]:
    """Return how many units hang, for the first page: without those that are slow, which takes looking at each."""
    units = Unit.objects.order_by()
    return {
        "stale": units.stale(now).count(),
        "waiting": units.due(now).filter(due_at__lte=now - WAITS_LONG).count(),
        "failed": units.filter(state=UnitState.FAILED, finished_at__gte=now - FAILED_WITHIN).count(),
    }


def _row(unit: Unit, age: timedelta | None) -> dict[str, Any]:
    return {"unit": unit, "run": unit.run, "title": kinds.title(unit.run.kind), "age": age}
