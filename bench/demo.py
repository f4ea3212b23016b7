"""The demo on one machine: its processes and their memory, and the time until its first page.

The idle system is measured after its workers have ended for want of work. The demo's work for the model takes many
minutes, so it is cancelled. The times of a start count from the command until a browser has the page. They hold for two
cores that nothing else uses: the processor seconds in the detail do not depend on that.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import psutil

from crowdrag.runtime import data_folder
from crowdrag.runtime.data_folder import REPOSITORY, DataFolder

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Limits: megabytes (proportional set size) and processes when idle, seconds to the first page.
MEGABYTES: Final = 1000
PROCESSES: Final = 15
FROM_NOTHING: Final = 12.0
FROM_STOPPED: Final = 5.0
CROWDRAG: Final = (sys.executable, "-m", "crowdrag.runtime.cli")
CANCEL: Final = """
from crowdrag.jobs import lifecycle
from crowdrag.jobs.models import Run
for run in Run.objects.active().filter(queue="llm"):
    lifecycle.cancel(run=run)
"""
IDLE_WITHIN: Final = 180.0
#: Variables of the caller that would change what is measured.
OTHERS: Final = (
    "DATABASE_URL", "BROKER_URL", "CROWDRAG_LLM_URL", "PORT", "WEB_WORKERS", "WORKERS_DEFAULT", "WORKERS_LLM",
    "WORKERS_GPU", "STATICFILES_STORAGE", "CROWDRAG_COMPRESS_STATIC", "CROWDRAG_ON_DEMAND", "DJANGO_SETTINGS_MODULE",
)  # fmt: skip


class Demo:
    """A demo in a folder of its own, started as `make demo` does."""

    def __init__(self, root: Path) -> None:
        self.folder = DataFolder(root)
        self.port = _free_port()
        self.began = time.monotonic()
        env = {name: value for name, value in os.environ.items() if name not in OTHERS}
        self.env = {**env, "CROWDRAG_DATA_DIR": str(root), "PYTHONPATH": str(REPOSITORY)}
        command = [*CROWDRAG, "demo", "--port", str(self.port)]
        self.process = subprocess.Popen(command, env=self.env, stdout=subprocess.DEVNULL, cwd=REPOSITORY)

    def await_page(self) -> float:
        """Return the seconds from the start until the first page has been read."""
        while self.process.poll() is None:
            with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", timeout=60) as page:
                page.read()
                return time.monotonic() - self.began
            time.sleep(0.02)
        raise RuntimeError(f"The demo ended with status {self.process.returncode}.")

    def await_running(self) -> None:
        """Wait until the demo study is there."""
        while data_folder.read_status(self.folder).get("phase") != "running":
            if self.process.poll() is not None:
                raise RuntimeError(f"The demo ended with status {self.process.returncode}.")
            time.sleep(0.1)

    def await_idle(self, seconds: float) -> list[str]:
        """Cancel the model's work, and wait until every worker has ended for want of work; return the others."""
        subprocess.run([*CROWDRAG, "shell", "-v0", "-c", CANCEL], env=self.env, cwd=REPOSITORY, check=True)
        deadline = time.monotonic() + seconds
        while busy := self._busy():
            if time.monotonic() > deadline:
                break
            time.sleep(1)
        return busy

    def _busy(self) -> list[str]:
        services = data_folder.read_status(self.folder)["services"]
        return [name for name, entry in services.items() if name.startswith("worker-") and entry["state"] != "idle"]

    def processes(self) -> list[psutil.Process]:
        """Return all processes of the system."""
        supervisor = psutil.Process(self.process.pid)
        return [supervisor, *supervisor.children(recursive=True)]

    def processor_seconds(self) -> float:
        """Return the processor time of all processes, also of those that have ended."""
        total = 0.0
        for process in self.processes():
            with suppress(psutil.Error):
                times = process.cpu_times()
                total += times.user + times.system + times.children_user + times.children_system
        return total

    def stop(self) -> None:
        """Stop it as Ctrl-C does."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(120)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def megabytes(processes: list[psutil.Process]) -> dict[str, float]:
    """Return the proportional set size of processes by name: shared memory counts once, divided among its users."""
    sizes: dict[str, float] = {}
    for process in processes:
        with suppress(psutil.Error, OSError):
            name = process.name()
            if name == "python":
                name = next(
                    (word.split(".")[-1] for word in process.cmdline() if "." in word and "/" not in word), name
                )
            rollup = Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()
            size = next(int(line.split()[1]) for line in rollup if line.startswith("Pss:"))
            sizes[name] = sizes.get(name, 0.0) + size / 1024
    return sizes


@contextmanager
def _started(root: Path) -> Iterator[Demo]:
    demo = Demo(root)
    try:
        yield demo
    finally:
        demo.stop()


def run() -> list[dict[str, Any]]:
    """Start a demo from nothing, measure it when idle, stop it, and start it again."""
    if not sys.platform.startswith("linux"):
        return []  # memory that processes share cannot be attributed elsewhere
    with tempfile.TemporaryDirectory(prefix="crowdrag-bench-") as data:
        root = Path(data).resolve() / "var"
        with _started(root) as demo:
            rows = [_first_page("from nothing", demo, FROM_NOTHING)]
            demo.await_running()
            busy = demo.await_idle(IDLE_WITHIN)
            processes = demo.processes()
            rows += _idle(megabytes(processes), len(processes), busy)
        with _started(root) as demo:
            rows.append(_first_page("from a stopped state", demo, FROM_STOPPED))
            demo.await_running()
    return rows


def _first_page(state: str, demo: Demo, limit: float) -> dict[str, Any]:
    seconds = demo.await_page()
    detail = f"{seconds:.1f} s, {demo.processor_seconds():.1f} s of processor time; limit {limit:g} s"
    return {"name": f"first page {state}", "ratio": limit / seconds, "target": 1.0, "detail": detail}


def _idle(sizes: dict[str, float], count: int, busy: list[str]) -> list[dict[str, Any]]:
    state = f"still at work: {', '.join(busy)}" if busy else "idle"
    largest = ", ".join(f"{name} {size:.0f}" for name, size in sorted(sizes.items(), key=lambda pair: -pair[1])[:6])
    total = sum(sizes.values())
    return [
        {
            "name": "memory of all processes",
            "ratio": MEGABYTES / total,
            "target": 1.0,
            "detail": f"{total:.0f} MB ({largest}), {state}; limit {MEGABYTES} MB",
        },
        {
            "name": "processes",
            "ratio": PROCESSES / count,
            "target": 1.0,
            "detail": f"{count}, {state}; limit {PROCESSES}",
        },
    ]
