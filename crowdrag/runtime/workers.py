"""Celery's workers, one for each queue, and the sweep that wakes them for work that is due."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import redis

from crowdrag.runtime import environment, valkey
from crowdrag.runtime.data_folder import REPOSITORY, DataFolder
from crowdrag.runtime.service_monitor import Launch, Service

# A worker sends a heartbeat every two seconds; after this long without one, it counts as hanging.
HEARTBEAT_WITHIN = 30.0
# SIGTERM must end a worker within its time limit, not whenever its task is done. Celery reads it when it is loaded.
STOP_AT_SIGTERM = {"REMAP_SIGTERM": "SIGQUIT"}


# Short tasks that must not wait for long runs: emails, webhooks, recruitment platforms (crowdrag.jobs.tasks).
DELIVERIES = "deliveries"
# Seconds without a task after which a worker that was started for its messages ends.
IDLE_WITHIN = 30
# Seconds between two looks for messages of workers that do not run.
LOOK_EVERY = 0.2


@dataclass(frozen=True)
class Queue:
    """A queue and its worker's options."""

    name: str
    title: str
    processes: Callable[[], str]
    # Queues of Celery beside the one of this name whose messages the worker takes.
    more: tuple[str, ...] = ()
    # Megabytes after which a pool process ends at the end of its task, and a small one takes its place.
    memory: int | None = None


QUEUES = (
    Queue("default", "Worker", lambda: os.environ.get("WORKERS_DEFAULT", "2"), more=(DELIVERIES,), memory=250),
    # Many calls are in flight within one task, so two tasks keep a model server busy.
    Queue("llm", "Worker (language models)", lambda: os.environ.get("WORKERS_LLM", "2"), memory=250),
    # One job per device. It keeps the models that it has loaded.
    Queue("gpu", "Worker (neural models)", lambda: os.environ.get("WORKERS_GPU", "1")),
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


class WaitingMessages(threading.Thread):
    """Looks how many messages wait in queues of the embedded broker, on its own thread, as the broker may hang."""

    def __init__(self, folder: DataFolder) -> None:
        super().__init__(daemon=True, name="waiting-messages")
        self._folder = folder
        self._counts: dict[str, int] = {}
        self.start()

    def any_in(self, queue: str) -> bool:
        """Return whether the queue had a message at the last look."""
        return self._counts.get(queue, 0) > 0

    def run(self) -> None:
        """Look, wait, for ever (the thread ends with its process)."""
        while True:
            try:
                with valkey.client(self._folder) as broker:
                    while True:
                        self._counts = {queue.name: int(str(broker.llen(queue.name))) for queue in QUEUES}
                        time.sleep(LOOK_EVERY)
            except (redis.RedisError, OSError):
                self._counts = {}
                time.sleep(LOOK_EVERY)


class CeleryWorker(HeartbeatService):
    """A Celery worker."""

    stop_within = 25.0  # Celery gives running tasks ten seconds, then puts them back
    tier = 5

    def _launch(self, queues: tuple[str, ...], pool: list[str], modules: tuple[str, ...] = (), **env: str) -> Launch:
        command = [sys.executable, "-m", "celery", "-A", "crowdrag.celery", "worker", "--queues", ",".join(queues)]
        # A separate name for each folder: two systems may share a broker, and one machine may run both.
        options = ["--hostname", f"{queues[0]}-{self.folder.mark}@%h", "--loglevel", "INFO"]
        options += ["--without-gossip", "--without-mingle"]
        options += ["--include", ",".join(("crowdrag.runtime.worker_heartbeat", *modules))]
        env = {**self._environment(), **STOP_AT_SIGTERM, "CROWDRAG_QUEUE": ",".join(queues), **env}
        return Launch([*command, *options, *pool], env=env, cwd=REPOSITORY, is_preloaded=True)


class Worker(CeleryWorker):
    """A Celery worker on one queue of runs.

    With `messages` it runs only while there is work: it is started for a message, and ends when it has been idle.
    """

    def __init__(
        self, folder: DataFolder, queue: Queue, llm_url: str, *, messages: WaitingMessages | None = None
    ) -> None:
        super().__init__(folder, llm_url)
        self.queue = queue
        self.name = f"worker-{queue.name}"
        self.title = queue.title
        self._messages = messages
        self.is_on_demand = messages is not None

    def is_wanted(self) -> bool:
        """Return whether a message waits."""
        return self._messages is None or self._messages.any_in(self.queue.name)

    def launch(self) -> Launch:
        """Return the worker's command."""
        pool = ["--concurrency", self.queue.processes(), "--pool", "prefork"]
        if self.queue.memory:
            pool += ["--max-memory-per-child", str(self.queue.memory * 1000)]
        if self.is_on_demand:
            return self._launch((self.queue.name,), pool, CROWDRAG_END_WHEN_IDLE=str(IDLE_WITHIN))
        return self._launch((self.queue.name, *self.queue.more), pool)


class Deliveries(CeleryWorker):
    """A Celery worker with threads for short tasks; it also sweeps. For one small machine."""

    name = "deliveries"
    title = "Deliveries and sweep"

    def __init__(self, folder: DataFolder, llm_url: str, variables: dict[str, str]) -> None:
        super().__init__(folder, llm_url)
        self._variables = variables

    def launch(self) -> Launch:
        """Return the worker's command."""
        pool = ["--concurrency", "2", "--pool", "threads"]
        return self._launch((DELIVERIES,), pool, ("crowdrag.jobs.sweep_thread",), **self._variables)


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
