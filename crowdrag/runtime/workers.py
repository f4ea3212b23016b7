"""Celery's workers, one for each queue, and the sweep that wakes them for work that is due."""

import os
import signal
import sys
import time
from dataclasses import dataclass

from crowdrag.runtime import environment
from crowdrag.runtime.data_folder import REPOSITORY, DataFolder
from crowdrag.runtime.service_monitor import Launch, Service

# A worker sends a heartbeat every two seconds; after this long without one, it counts as hanging.
HEARTBEAT_WITHIN = 30.0
# SIGTERM must end a worker within its time limit, not whenever its task is done. Celery reads it when it is loaded.
STOP_AT_SIGTERM = {"REMAP_SIGTERM": "SIGQUIT"}


@dataclass(frozen=True)
class Queue:
    """A queue and its worker's options."""

    name: str
    title: str
    processes: str
    # Megabytes after which a pool process ends at the end of its task, and a small one takes its place.
    memory: int | None = None


QUEUES = (
    Queue("default", "Worker", os.environ.get("WORKERS_DEFAULT", "2"), memory=250),
    # Many calls are in flight within one task, so two tasks keep a model server busy.
    Queue("llm", "Worker (language models)", os.environ.get("WORKERS_LLM", "2"), memory=250),
    # One job per device. It keeps the models that it has loaded.
    Queue("gpu", "Worker (neural models)", os.environ.get("WORKERS_GPU", "1")),
)


class HeartbeatService(Service):
    """A program that touches a file while it is healthy (CROWDRAG_HEARTBEAT)."""

    start_within = 120.0
    silent_for = 30.0

    def __init__(self, folder: DataFolder, llm_url: str) -> None:
        super().__init__(folder)
        self.llm_url = llm_url

    def _environment(self) -> dict[str, str]:
        beat = self.folder.run / f"{self.name}.beat"
        beat.unlink(missing_ok=True)
        return {**environment.missing_variables(self.folder, llm_url=self.llm_url), "CROWDRAG_HEARTBEAT": str(beat)}

    def probe(self) -> str:
        """Check the heartbeat's age."""
        age = time.time() - (self.folder.run / f"{self.name}.beat").stat().st_mtime
        if age > HEARTBEAT_WITHIN:
            raise ConnectionError(f"no heartbeat for {age:.0f} s")
        return ""


class Worker(HeartbeatService):
    """A Celery worker on one queue."""

    stop_within = 25.0  # Celery gives running tasks ten seconds, then puts them back
    tier = 5

    def __init__(self, folder: DataFolder, queue: Queue, llm_url: str) -> None:
        super().__init__(folder, llm_url)
        self.queue = queue
        self.name = f"worker-{queue.name}"
        self.title = queue.title

    def launch(self) -> Launch:
        """Return the worker's command."""
        command = [sys.executable, "-m", "celery", "-A", "crowdrag.celery", "worker"]
        options = ["--queues", self.queue.name, "--concurrency", self.queue.processes, "--pool", "prefork"]
        # A separate name for each folder: two systems may share a broker, and one machine may run both.
        options += ["--hostname", f"{self.queue.name}-{self.folder.mark}@%h", "--loglevel", "INFO"]
        options += ["--without-gossip", "--without-mingle", "--include", "crowdrag.runtime.worker_heartbeat"]
        if self.queue.memory:
            options += ["--max-memory-per-child", str(self.queue.memory * 1000)]
        more = {**STOP_AT_SIGTERM, "CROWDRAG_QUEUE": self.queue.name}
        return Launch([*command, *options], env={**self._environment(), **more}, cwd=REPOSITORY, is_preloaded=True)


class Sweep(HeartbeatService):
    """Finds work that is due or whose worker has died, and wakes Celery for it."""

    name = "sweep"
    title = "Sweep"
    stop_signal = signal.SIGTERM
    tier = 5

    def launch(self) -> Launch:
        """Return the management command."""
        command = [sys.executable, "-m", "django", "sweep"]
        return Launch(command, env=self._environment(), cwd=REPOSITORY, is_preloaded=True)
