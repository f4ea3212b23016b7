"""Heartbeats: a thread that renews the leases of a process during long work, and heartbeats of workers."""

import logging
import threading
import time
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
    the error. All claims of a process share the thread.
    """

    def __init__(self, unit: Unit, *, beat_as: str | None = None, listener: Listener | None = None):
        self._unit = unit
        self._beat_as = beat_as
        self._listener = listener
        self.done, self.total, self.message = 0, 0, ""
        self._lost = self._makes_way = False
        self._written, self._renewed_at = (0, 0, ""), time.monotonic()

    def __enter__(self) -> Self:
        _pulse.add(self)
        return self

    def __exit__(self, *error: object) -> None:
        _pulse.remove(self)

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

    def beat(self, *, write_every: float) -> None:
        """Renew the lease if it is time, or if there is new progress and it was not written for so many seconds."""
        progress = (self.done, self.total, self.message)
        age = time.monotonic() - self._renewed_at
        if age < (leases.heartbeat_seconds() if progress == self._written else write_every):
            return
        if self._renew(progress):
            self._written, self._renewed_at = progress, time.monotonic()

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


# The progress of so many units is written every second; that of more, less often.
UNITS_A_SECOND = 4


class _Pulse:
    """The thread that renews all leases of this process; it runs while there are any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._hearts: set[LeaseHeartbeat] = set()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, heart: LeaseHeartbeat) -> None:
        with self._lock:
            self._hearts.add(heart)
            if self._thread is None:
                self._stop = threading.Event()
                self._thread = threading.Thread(
                    target=self._run, args=(self._stop,), name="unit heartbeat", daemon=True
                )
                self._thread.start()

    def remove(self, heart: LeaseHeartbeat) -> None:
        with self._lock:
            self._hearts.discard(heart)
            if self._hearts or self._thread is None:
                return
            thread, self._thread = self._thread, None
            self._stop.set()
        thread.join()

    def _run(self, stop: threading.Event) -> None:
        try:
            longest = leases.heartbeat_seconds()
            while not stop.wait(min(1.0, longest)):
                with self._lock:
                    hearts = list(self._hearts)
                write_every = min(len(hearts) // UNITS_A_SECOND, longest)
                for heart in hearts:
                    try:
                        heart.beat(write_every=write_every)
                    except Exception:
                        log.exception("A heartbeat failed")
        finally:
            connection.close()


_pulse = _Pulse()
