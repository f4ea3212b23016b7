"""Heartbeats: a thread that renews leases during long work, and heartbeats of workers."""

import logging
import threading
from collections.abc import Callable
from datetime import datetime
from typing import Self

from django.db import close_old_connections, connection

from . import kinds, leases
from .leases import DATABASE_AWAY
from .models import Unit, WorkerHeartbeat

Listener = Callable[[int, int, str], None]
log = logging.getLogger(__name__)


def record_beat(*, name: str, queue: str, now: datetime | None = None) -> None:
    """Record a worker's heartbeat."""
    sign = WorkerHeartbeat(name=name, queue=queue, at=leases.time_expression(now))
    WorkerHeartbeat.objects.bulk_create(
        [sign], update_conflicts=True, unique_fields=["name", "queue"], update_fields=["at"]
    )


def check_connection() -> None:
    """Close this thread's database connection if it no longer responds; the next query opens another."""
    # Django takes a connection in a transaction for an abandoned one, and closes it; tests run in one.
    if not connection.in_atomic_block:
        close_old_connections()


class LeaseHeartbeat:
    """Keeps a claim alive from a thread with its own database connection; a context manager.

    The thread also writes the progress, so that reporting costs the work nothing, and shows progress even while the
    effect's transaction is open. It notices when the run is cancelled or the unit taken over; the next `report` raises
    the error.
    """

    def __init__(self, unit: Unit, *, beat_as: str | None = None, listener: Listener | None = None):
        self._unit = unit
        self._beat_as = beat_as
        self._listener = listener
        self.done, self.total, self.message = 0, 0, ""
        self._lost = self._makes_way = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"heart of unit {unit.pk}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join()

    def report(self, done: int, total: int, message: str = "") -> None:
        """Note the progress; raise RunCancelledError if the claim no longer holds the unit."""
        self.check()
        self.total = max(int(total), 0)
        self.done = max(min(int(done), self.total), 0) if self.total else max(int(done), 0)
        self.message = message
        if self._listener is not None:
            self._listener(self.done, self.total, self.message)

    def check(self) -> None:
        """Raise RunCancelledError if the claim is known to no longer hold the unit, or the run must make way."""
        if self._lost:
            raise kinds.RunCancelledError
        if self._makes_way:
            raise kinds.MakesWayError

    def _run(self) -> None:
        try:
            written = (0, 0, "")
            since_renewal = 0.0
            # New progress is written every second; the lease is renewed every heartbeat anyway.
            step = min(1.0, leases.heartbeat_seconds())
            while not self._stop.wait(step):
                since_renewal += step
                progress = (self.done, self.total, self.message)
                if progress == written and since_renewal < leases.heartbeat_seconds():
                    continue
                if self._renew(progress):
                    written, since_renewal = progress, 0.0
        finally:
            connection.close()

    def _renew(self, progress: tuple[int, int, str]) -> bool:
        done, total, message = progress
        try:
            check_connection()
            if not leases.renew(self._unit, done=done, total=total, message=message):
                self._lost = True
            self._makes_way = leases.makes_way(self._unit.run)
            if self._beat_as:
                record_beat(name=self._beat_as, queue=self._unit.run.queue)
        except DATABASE_AWAY as error:
            # The lease may expire before the database is back; then another worker does the unit.
            log.warning("Heartbeat of unit %s failed: %s", self._unit.pk, error)
            connection.close()
            return False
        return True
