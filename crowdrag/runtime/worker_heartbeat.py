"""Loaded by Celery workers: heartbeats for the supervisor, shared memory, and no child outlives its parent.

Celery sends heartbeats from the loop that also fetches tasks, so a hanging worker sends none. There is one exception:
after trouble with the broker, workers have been seen that send heartbeats and fetch nothing (celery #10205). So a
worker that has been idle for a while although its queue was not empty sends no heartbeat.
"""

import gc
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from celery import current_app
from celery.signals import heartbeat_sent, worker_before_create_process, worker_process_init, worker_ready
from celery.worker import state
from kombu.exceptions import KombuError
from redis.exceptions import RedisError

from crowdrag.runtime.launcher import die_with_parent

# Seconds of idling with a non-empty queue after which a worker counts as stalled.
STALLED_AFTER = 20.0
# How often to check the queue's length.
LOOK_EVERY = 5.0
NO_PATIENCE = {"socket_connect_timeout": 1, "socket_timeout": 1, "max_retries": 0}


#: What must also be true for this process to be healthy, besides Celery.
conditions: list[Callable[[], bool]] = []


class StalledConsumer:
    """Notices when this worker does not fetch waiting messages."""

    def __init__(self) -> None:
        self._idle_since: float | None = None
        self._looked = 0.0

    def is_deaf(self, queue: str, now: float) -> bool:
        """Return whether the worker has been idle for long while messages waited in its queues (`a,b`)."""
        if state.reserved_requests or state.active_requests:
            self._idle_since = None
        elif now - self._looked >= LOOK_EVERY:
            self._looked = now
            self._idle_since = (self._idle_since or now) if any(map(waiting, queue.split(","))) else None
        return self._idle_since is not None and now - self._idle_since > STALLED_AFTER


def waiting(queue: str) -> int:
    """Return how many messages wait in a queue; none if the broker does not respond."""
    try:
        with current_app.connection_for_read(transport_options=NO_PATIENCE) as connection:
            channel: Any = connection.default_channel
            return int(channel.client.llen(queue))
    except (KombuError, RedisError, OSError):
        return 0


stalled_consumer = StalledConsumer()


@worker_ready.connect
@heartbeat_sent.connect
def beat(**_: Any) -> None:
    """Touch the file that the supervisor checks."""
    path, queue = os.environ.get("CROWDRAG_HEARTBEAT"), os.environ.get("CROWDRAG_QUEUE")
    is_deaf = queue and stalled_consumer.is_deaf(queue, time.monotonic())
    if path and not is_deaf and all(condition() for condition in conditions):
        Path(path).touch()


class IdleEnd:
    """Ends a worker that has had no task for a while, where it is started again for the next message."""

    def __init__(self) -> None:
        self._busy_at = time.monotonic()

    def look(self, seconds: float, now: float) -> None:
        """End the worker, as if it were asked to, if it has been idle for so long."""
        if state.reserved_requests or state.active_requests:
            self._busy_at = now
        elif now - self._busy_at > seconds:
            celery_state: Any = state  # the stubs do not know that it may be an exit status
            celery_state.should_stop = os.EX_OK


idle_end = IdleEnd()


@heartbeat_sent.connect
def end_when_idle(**_: Any) -> None:
    """End if nothing is to be done: the supervisor starts the worker again."""
    if seconds := os.environ.get("CROWDRAG_END_WHEN_IDLE"):
        idle_end.look(float(seconds), time.monotonic())


@worker_before_create_process.connect
def share_memory(**_: Any) -> None:
    """Leave what is loaded to be shared with the pool process: the collector would touch it, and so copy it."""
    gc.collect()
    gc.freeze()


@worker_process_init.connect
def follow(**_: Any) -> None:
    """Have the kernel end a pool process when its worker is killed, even if it is busy and nobody else is left."""
    die_with_parent(os.getppid(), signal.SIGKILL)
