"""Services and queues: who serves, what waits, how the stores are, what the supervisor of this machine says."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Count

from crowdrag.runs.enums import Queue
from crowdrag.runs.models import Duty, Unit, WorkerBeat
from crowdrag.runs.models.beat import FRESH
from crowdrag.runs.tasks import BROKER_ERRORS, impatient_connection
from crowdrag.runtime import status
from crowdrag.runtime.folder import Folder

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
    """One queue: units that are due, due later and at work, since when the oldest waits, and who serves it."""

    name: str
    label: str
    due: int
    later: int
    claimed: int
    oldest: datetime | None
    workers: int

    @property
    def is_deserted(self) -> bool:
        """Whether something is due and nobody is there."""
        return bool(self.due) and not self.workers


@dataclass(frozen=True)
class Broker:
    """Valkey: whether it answers, and how many messages lie in each queue."""

    answers: bool
    version: str = ""
    memory: int = 0
    messages: dict[str, int] = field(default_factory=dict)


def queues(*, now: datetime) -> list[QueueState]:
    """Return how each queue stands; two queries, however much waits."""
    counted = Unit.objects.by_queue(now)
    alive = dict(WorkerBeat.objects.fresh(now).order_by().values_list("queue").annotate(n=Count("name")))
    found = []
    for name, label in Queue.choices:
        row: Any = counted.get(name, {})
        counts = {each: int(row.get(each) or 0) for each in ("due", "later", "claimed")}
        found.append(QueueState(name, str(label), oldest=row.get("oldest"), workers=alive.get(name, 0), **counts))
    return found


def workers(*, now: datetime) -> list[dict[str, Any]]:
    """Return every worker and sweep that was heard of in a day, and whether it still is."""
    beats = WorkerBeat.objects.order_by("queue", "name", "id")
    return [{"beat": beat, "is_alive": now - beat.at <= FRESH} for beat in beats]


def sweeps_alive(*, now: datetime) -> int:
    """Return how many sweeps were heard of lately; without one, what is lost stays lost."""
    return WorkerBeat.objects.fresh(now).filter(queue="sweep").count()


def duties() -> list[Duty]:
    """Return what is done from time to time, with when it was done last."""
    return list(Duty.objects.order_by("name"))


def database() -> dict[str, Any]:
    """Return how PostgreSQL is; one query."""
    with connection.cursor() as cursor:
        cursor.execute(_DATABASE)
        row = cursor.fetchone()
        return dict(zip([column.name for column in cursor.description or ()], row or (), strict=True))


def broker() -> Broker:
    """Return how Valkey is; one that is away costs two seconds at most."""
    try:
        with impatient_connection() as found:
            client: Any = found.default_channel.client  # type: ignore[attr-defined]
            said = client.info()
            messages = {name: int(client.llen(name)) for name in Queue.values}
    except BROKER_ERRORS:
        return Broker(answers=False)
    version = said.get("valkey_version") or said.get("redis_version", "")
    return Broker(True, str(version), int(said.get("used_memory", 0)), messages)


def supervised() -> list[dict[str, Any]]:
    """Return the services that this machine's supervisor keeps; none where there is no supervisor here."""
    folder = Folder(settings.DATA_DIR)
    if not status.is_running(folder):
        return []
    return [{"name": name, **entry} for name, entry in status.read(folder).get("services", {}).items()]
