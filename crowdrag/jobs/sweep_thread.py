"""The sweep as a thread of a Celery worker, for one small machine (crowdrag/runtime/layouts.py). Loaded by `--include`.

The worker must have a pool of threads: processes forked from it would get the sweep's connection to the database.
"""

import threading
import time
from typing import Any

from celery.signals import worker_ready, worker_shutting_down

from crowdrag.runtime import worker_heartbeat

from . import sweep

# Seconds between two passes, and after which one that is not followed by another counts as hanging.
EVERY = 3.0
PASS_WITHIN = 30.0


class SweepThread:
    """Sweeps until the worker ends; the worker has no heartbeat without it."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._last = time.monotonic()

    def start(self, **_: Any) -> None:
        """Begin."""
        threading.Thread(target=self._run, name="sweep", daemon=True).start()

    def stop(self, **_: Any) -> None:
        """End after this pass."""
        self._stop.set()

    def is_healthy(self) -> bool:
        """Return whether a pass has begun lately."""
        return time.monotonic() - self._last < PASS_WITHIN

    def _alive(self) -> None:
        self._last = time.monotonic()

    def _run(self) -> None:
        sweep.sweep_repeatedly(every=EVERY, stop=self._stop, alive=self._alive)


thread = SweepThread()
worker_heartbeat.conditions.append(thread.is_healthy)
worker_ready.connect(thread.start)
worker_shutting_down.connect(thread.stop)
