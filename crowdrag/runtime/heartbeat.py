"""Loaded by Celery's workers: a sign of life for the supervisor, and no children without a parent."""

import os
import signal
from pathlib import Path
from typing import Any

from celery.signals import heartbeat_sent, worker_process_init, worker_ready

from crowdrag.runtime.guard import die_with_parent


@worker_ready.connect
@heartbeat_sent.connect
def beat(**_: Any) -> None:
    """Touch the file that the supervisor looks at; Celery sends heartbeats from the loop that fetches tasks."""
    if path := os.environ.get("CROWDRAG_HEARTBEAT"):
        Path(path).touch()


@worker_process_init.connect
def follow(**_: Any) -> None:
    """Let the kernel end a pool process when its worker is killed, even when it is busy and nobody else is left."""
    die_with_parent(os.getppid(), signal.SIGKILL)
