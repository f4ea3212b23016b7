"""The sweep finds work that is due, lost or finished but not concluded, in case a message was lost.

It also runs scheduled tasks (`crowdrag.jobs.schedules`).
"""

import logging
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.conf import settings
from django.db import DatabaseError, close_old_connections

from . import completion, heartbeat, leases, schedules, tasks
from .enums import Queue
from .models import Run, Unit, WorkerHeartbeat

KEEP_BEATS = timedelta(days=1)
LONGEST_PAUSE = 15.0
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SweepResult:
    """The result of one pass."""

    returned: int
    concluded: int
    due: dict[str, int]
    broker: bool
    scheduled: list[str] = field(default_factory=list)


def sweep(*, now: datetime | None = None) -> SweepResult:
    """Make one pass: return lost units, conclude complete runs, wake the workers of queues with due units.

    An empty queue gets one message too: the heartbeat of the worker that takes it shows that the queue is reachable.
    It gets none if its workers run only while there is work.
    """
    returned = leases.return_expired(now=now)
    leases.correct_due_times(now=now)
    complete = list(Run.objects.concludable().order_by("id").values_list("pk", flat=True))
    for pk in complete:
        completion.conclude(pk, now=now)
    scheduled = schedules.run_due(now=now)
    due = {queue: _due(queue, now) for queue in Queue.values}
    broker = True
    for queue, count in due.items():
        broker = broker and tasks.top_up(queue=queue, due=max(count, 0 if queue in settings.ON_DEMAND_QUEUES else 1))
    heartbeat.record_beat(name=f"sweep@{socket.gethostname()}", queue="sweep", now=now)
    WorkerHeartbeat.objects.filter(at__lt=leases.time_after(now, -KEEP_BEATS)).delete()
    return SweepResult(returned, len(complete), due, broker, scheduled)


def sweep_repeatedly(*, every: float, stop: threading.Event, alive: Callable[[], None] = lambda: None) -> None:
    """Sweep until stopped, more slowly while the database or the broker is away; call `alive` before each pass."""
    failures = 0
    while not stop.is_set():
        alive()
        try:
            close_old_connections()
            failures = 0 if sweep().broker else failures + 1
        except DatabaseError as error:
            failures += 1
            log.warning("The sweep waits for the database: %s", error)
        stop.wait(min(every * 2 ** min(failures, 10), max(LONGEST_PAUSE, every)) if failures > 1 else every)


def _due(queue: str, now: datetime | None) -> int:
    due = Unit.objects.due(leases.time_expression(now)).filter(run__queue=queue)
    return due.order_by()[: tasks.MOST_MESSAGES].count()
