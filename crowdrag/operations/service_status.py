"""Status of services and queues: workers, waiting work, stores, stalled units.

A unit is stalled if its worker disappeared, if it takes far longer than others of its kind, if it waits for long, or if
it failed.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.db import connection
from django.db.models import Count

from crowdrag.jobs import kinds
from crowdrag.jobs.enums import Queue, UnitState
from crowdrag.jobs.models import BEAT_IS_FRESH_FOR, Run, ScheduledTask, Unit, WorkerHeartbeat, may_start
from crowdrag.jobs.tasks import BROKER_ERRORS, impatient_connection
from crowdrag.runtime import data_folder
from crowdrag.runtime.data_folder import DataFolder

_DATABASE = """
    SELECT current_setting('server_version') AS version,
           now() - pg_postmaster_start_time() AS up,
           pg_database_size(current_database()) AS size,
           current_setting('max_connections')::int AS most,
           (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections,
           (SELECT max(now() - xact_start) FROM pg_stat_activity
             WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()) AS longest,
           (SELECT count(*) FROM pg_locks WHERE NOT granted) AS waiting,
           (SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()) AS deadlocks,
           (SELECT count(*) FROM pg_stat_replication) AS replicas
"""


@dataclass(frozen=True)
class QueueState:
    """One queue: its kind of work, units due now, later and in progress, when the oldest was due, and its workers."""

    name: str
    work: str
    due: int
    later: int
    claimed: int
    oldest: datetime | None
    workers: int
    # Whether a worker starts for what is due.
    may_start: bool = False

    @property
    def is_deserted(self) -> bool:
        """Whether a unit is due and there is no worker, nor one that starts."""
        return bool(self.due) and not self.workers and not self.may_start


@dataclass(frozen=True)
class Broker:
    """Valkey: whether it responds, and how many messages are in each queue."""

    answers: bool
    version: str = ""
    memory: int = 0
    messages: dict[str, int] = field(default_factory=dict)


def queues(*, now: datetime) -> list[QueueState]:
    """Return the state of each queue; two queries, however many units wait."""
    counted = Unit.objects.by_queue(now)
    alive = dict(WorkerHeartbeat.objects.fresh(now).order_by().values_list("queue").annotate(n=Count("name")))
    states = []
    for queue in Queue:
        row: Any = counted.get(queue, {})
        counts = {field: int(row.get(field) or 0) for field in ("due", "later", "claimed")}
        workers = alive.get(queue, 0)
        oldest = row.get("oldest")
        starts = may_start(queue, oldest, now)
        states.append(QueueState(queue.value, queue.work, oldest=oldest, workers=workers, may_start=starts, **counts))
    return states


def workers(*, now: datetime) -> list[dict[str, Any]]:
    """Return the workers and sweeps with a heartbeat in the last day, and whether each is still alive."""
    beats = WorkerHeartbeat.objects.order_by("queue", "name", "id")
    known: list[dict[str, Any]] = [{"beat": beat, "is_alive": now - beat.at <= BEAT_IS_FRESH_FOR} for beat in beats]
    # A worker that has ended for want of work is not missing.
    return [row for row in known if row["is_alive"] or row["beat"].queue not in settings.ON_DEMAND_QUEUES]


def sweeps_alive(*, now: datetime) -> int:
    """Return the number of sweeps with a recent heartbeat; without one, lost work is not recovered."""
    return WorkerHeartbeat.objects.fresh(now).filter(queue="sweep").count()


def scheduled_tasks() -> list[ScheduledTask]:
    """Return the scheduled tasks, with the time of their last run."""
    return list(ScheduledTask.objects.order_by("name"))


def database() -> dict[str, Any]:
    """Return the state of PostgreSQL; one query."""
    with connection.cursor() as cursor:
        cursor.execute(_DATABASE)
        row = cursor.fetchone()
        return dict(zip([column.name for column in cursor.description or ()], row or (), strict=True))


def broker() -> Broker:
    """Return the state of Valkey; an unreachable one costs at most two seconds."""
    try:
        with impatient_connection() as connection:
            client: Any = connection.default_channel.client  # type: ignore[attr-defined]
            server_info = client.info()
            messages = {name: int(client.llen(name)) for name in Queue.values}
    except BROKER_ERRORS:
        return Broker(answers=False)
    version = server_info.get("valkey_version") or server_info.get("redis_version", "")
    return Broker(True, str(version), int(server_info.get("used_memory", 0)), messages)


def supervised() -> list[dict[str, Any]]:
    """Return the services of this machine's supervisor; none if there is no supervisor here."""
    folder = DataFolder(settings.DATA_DIR)
    if not data_folder.is_running(folder):
        return []
    return [{"name": name, **entry} for name, entry in data_folder.read_status(folder).get("services", {}).items()]


UNITS_SHOWN: Final = 50
# The period over which durations of units are measured.
USUAL_WITHIN: Final = timedelta(days=7)
# Slow: this factor times the 95th percentile of its kind, but never less than this minimum.
SLOW_FACTOR: Final = 3
SLOW_AT_LEAST: Final = timedelta(minutes=2)
# Slow, if nothing is known of the kind.
SLOW_WHEN_UNKNOWN: Final = timedelta(hours=1)
WAITS_LONG: Final = timedelta(minutes=5)
FAILED_WITHIN: Final = timedelta(days=1)
_USUAL = """
    SELECT run.kind, count(*),
           percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM unit.finished_at - unit.claimed_at)),
           percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM unit.finished_at - unit.claimed_at))
    FROM jobs_unit unit JOIN jobs_run run ON run.id = unit.run_id
    WHERE unit.state = 'DONE' AND unit.claimed_at IS NOT NULL AND unit.finished_at >= %s
    GROUP BY run.kind ORDER BY run.kind
"""


@dataclass(frozen=True)
class UsualDuration:
    """The usual duration of units of a kind, in seconds, over this many recent units."""

    kind: str
    units: int
    median: float
    p95: float

    @property
    def title(self) -> str:
        """The title of the kind."""
        return kinds.title(self.kind)


def usual_durations(*, now: datetime) -> dict[str, UsualDuration]:
    """Return the recent durations of units of each kind."""
    with connection.cursor() as cursor:
        cursor.execute(_USUAL, [now - USUAL_WITHIN])
        return {kind: UsualDuration(kind, n, float(median), float(p95)) for kind, n, median, p95 in cursor.fetchall()}


def slow_after(known: UsualDuration | None) -> timedelta:
    """Return the duration after which a unit counts as slow."""
    return max(SLOW_AT_LEAST, timedelta(seconds=known.p95) * SLOW_FACTOR) if known else SLOW_WHEN_UNKNOWN


def hanging_units(*, now: datetime) -> dict[str, Any]:
    """Return the stalled units by reason, the worst first; at most `SHOWN` of each."""
    known = usual_durations(now=now)
    units = Unit.objects.select_related("run__study")
    claimed = units.filter(state=UnitState.CLAIMED).order_by("claimed_at", "id")
    slow = [
        _unit_row(unit, now - unit.claimed_at)
        for unit in claimed.filter(claimed_at__lte=now - SLOW_AT_LEAST)[: UNITS_SHOWN * 20]
        if unit.claimed_at and now - unit.claimed_at > slow_after(known.get(unit.run.kind))
    ]
    waiting = units.due(now).filter(due_at__lte=now - WAITS_LONG).order_by("due_at", "id")
    failed = units.filter(state=UnitState.FAILED, finished_at__gte=now - FAILED_WITHIN).order_by("-finished_at", "id")
    return {
        "stale": [_unit_row(unit, None) for unit in units.stale(now).order_by("lease_until", "id")[:UNITS_SHOWN]],
        "slow": slow[:UNITS_SHOWN],
        "waiting": [_unit_row(unit, now - unit.due_at) for unit in waiting[:UNITS_SHOWN]],
        "failed": [_unit_row(unit, None) for unit in failed[:UNITS_SHOWN]],
        "usual": list(known.values()),
        "active": [
            {"run": run, "title": kinds.title(run.kind)}
            for run in Run.objects.active().select_related("study").order_by("created_at", "id")[:UNITS_SHOWN]
        ],
        "most": UNITS_SHOWN,
    }


def hanging_counts(*, now: datetime) -> dict[str, int]:
    """Return the number of stalled units for the first page, without slow ones, which must be examined one by one."""
    units = Unit.objects.order_by()
    return {
        "stale": units.stale(now).count(),
        "waiting": units.due(now).filter(due_at__lte=now - WAITS_LONG).count(),
        "failed": units.filter(state=UnitState.FAILED, finished_at__gte=now - FAILED_WITHIN).count(),
    }


def _unit_row(unit: Unit, age: timedelta | None) -> dict[str, Any]:
    return {"unit": unit, "run": unit.run, "title": kinds.title(unit.run.kind), "age": age}
