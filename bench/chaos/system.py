"""The system under test: `crowdrag up` on a small disk of its own, with a clock that can be moved."""

from __future__ import annotations

import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

from crowdrag.runtime import data_folder
from crowdrag.runtime.data_folder import REPOSITORY
from tests.runtime.conftest import System, eventually, free_port

#: How often a start is tried, and for how many seconds it is awaited.
TRIES, PATIENCE = 20, 180.0
# The supervisor itself goes by the machine's clock, as the times of files do; whatever it starts goes by the other.
SOURCE = Path(__file__).with_name("clock.c")
UP = """
import json, os, sys
os.environ.update(json.loads(sys.argv.pop(1)))
from crowdrag.runtime.cli import main
main()
"""


class Clock:
    """The wall clock of all parts of the system, which can be moved while they run: clock.c, if there is a compiler."""

    def __init__(self) -> None:
        # PostgreSQL may run under an account of its own, which must be able to read both.
        self._folder = Path(tempfile.mkdtemp(prefix="crowdrag-clock-"))
        self._folder.chmod(0o755)
        self._file, library = self._folder / "moved", self._folder / "clock.so"
        self._file.write_bytes(bytes(8))
        compiler = shutil.which("cc")
        command = [compiler or "", "-O2", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-ldl"]
        self.is_movable = (
            compiler is not None and not subprocess.run(command, check=False, capture_output=True).returncode
        )
        self._library = library

    def move(self, seconds: int) -> None:
        """Set the distance from the machine's clock; all processes see it at once."""
        with self._file.open("r+b", buffering=0) as file:
            file.write(struct.pack("q", seconds))

    def environment(self) -> dict[str, str]:
        """Return the variables that let a process go by this clock."""
        return {"LD_PRELOAD": str(self._library), "MOVED_CLOCK": str(self._file)} if self.is_movable else {}

    def close(self) -> None:
        """Remove it, when nothing goes by it any more."""
        shutil.rmtree(self._folder, ignore_errors=True)


class ChaosSystem(System):
    """A system in a folder, whose processes go by a clock that may be moved."""

    def __init__(self, root: Path, clock: Clock | None = None) -> None:
        super().__init__(root)
        self.clock = clock

    def environment(self, **more: str) -> dict[str, str]:
        """Return the environment of its commands."""
        plain = "django.contrib.staticfiles.storage.StaticFilesStorage"
        return super().environment(STATICFILES_STORAGE=plain, **more)

    def start(self) -> None:
        """Start all parts, as often as it takes: a start may fall into a harm."""
        variables = json.dumps(self.clock.environment() if self.clock else {})
        log = self.folder.root.parent / "up.log"
        for _ in range(TRIES):
            with log.open("ab") as output:
                process = subprocess.Popen(
                    [sys.executable, "-c", UP, variables, "up", "--port", str(self.port)],
                    env=self.environment(), cwd=REPOSITORY, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                    start_new_session=True,
                )  # fmt: skip
            deadline = time.monotonic() + PATIENCE
            while process.poll() is None and time.monotonic() < deadline:
                status = self.status
                if status.get("pid") == process.pid and status.get("phase") == "running":
                    return
                time.sleep(0.1)
            process.kill()
            time.sleep(2)
        raise RuntimeError(f"The system does not start: {log.read_text()[-2000:]}")

    def services(self) -> dict[str, Any]:
        """Return the parts and their states; nothing while it does not run."""
        services: dict[str, Any] = self.status.get("services", {})
        return services

    def kill_supervisor(self) -> None:
        """Kill the process that keeps all others alive; they end with it."""
        pid = self.status.get("pid")
        if pid and data_folder.is_running(self.folder):
            os.kill(pid, signal.SIGKILL)
        eventually(lambda: not data_folder.is_running(self.folder))


class ModelServer:
    """The model server and its bill."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.port, self.bill, self._seed = free_port(), folder / "bill.jsonl", seed
        self._log = folder / "model-server.log"
        self._process: subprocess.Popen[bytes] | None = None
        self.starts = 0
        self.start()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        """Start it, unless it runs."""
        if self._process is not None and self._process.poll() is None:
            return
        self.starts += 1
        command = [sys.executable, "-m", "bench.chaos.model_server", str(self.port), str(self.bill)]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [*command, str(self._seed + self.starts)], cwd=REPOSITORY, stdout=log, stderr=log,
                env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
            )  # fmt: skip

    def kill(self) -> None:
        """Kill it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def children(pid: int) -> list[psutil.Process]:
    """Return the children of a process; none if it is gone."""
    try:
        return psutil.Process(pid).children()
    except psutil.Error:
        return []
