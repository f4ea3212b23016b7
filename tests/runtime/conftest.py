"""Whole systems in folders of their own, driven from outside as an operator does."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest

from crowdrag.runtime import data_folder
from crowdrag.runtime.data_folder import REPOSITORY, DataFolder

# What the test session itself was given: a system under test starts its own.
SESSION_ONLY = (
    "DATABASE_URL", "BROKER_URL", "CROWDRAG_LLM_URL", "CROWDRAG_DATA_DIR", "SECRET_KEY", "CROWDRAG_PSEUDONYM_KEY",
    "CROWDRAG_IDENTITY_KEY", "SESSION_COOKIE_NAME", "CSRF_COOKIE_NAME", "FILE_UPLOAD_TEMP_DIR", "STATICFILES_STORAGE",
    "PORT", "HTTPS", "DJANGO_SETTINGS_MODULE",
)  # fmt: skip


def living(processes: list[psutil.Process], within: float = 0.0) -> list[psutil.Process]:
    """Return who is alive after some seconds; a zombie is not, whenever its new parent buries it."""
    deadline = time.monotonic() + within
    while (found := [process for process in processes if _lives(process)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def _lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def eventually(check: Callable[[], Any], within: float = 60.0) -> Any:
    """Return the first true answer of `check`; no connection is none. Fail when there is none in time."""
    deadline = time.monotonic() + within
    while True:
        with suppress(OSError, psycopg.Error, psutil.Error):
            if found := check():
                return found
        assert time.monotonic() < deadline, f"not within {within} s"
        time.sleep(0.05)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class System:
    """CrowdRAG in one data folder."""

    def __init__(self, root: Path) -> None:
        self.folder = DataFolder(root.resolve())
        self.port = free_port()

    def environment(self, **more: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name not in SESSION_ONLY}
        return kept | {"CROWDRAG_DATA_DIR": str(self.folder.root), "CROWDRAG_MIN_FREE_MB": "100"} | more

    def popen(self, *arguments: str, **more: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "crowdrag.runtime.cli", *arguments],
            env=self.environment(**more),
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def crowdrag(self, *arguments: str, fails: bool = False, **more: str) -> str:
        """Run a command to its end; return what it said."""
        process = self.popen(*arguments, **more)
        out, err = process.communicate(timeout=180)
        assert (process.returncode != 0) is fails, out + err
        return out + err

    def up(self, *arguments: str, **more: str) -> str:
        return self.crowdrag("up", "--detach", "--port", str(self.port), *arguments, **more)

    @property
    def status(self) -> dict[str, Any]:
        return data_folder.read_status(self.folder)

    def pid(self, service: str) -> int:
        found: int | None = self.status["services"][service]["pid"]
        return found or 0

    def ready(self, service: str) -> bool:
        return bool(self.status["services"][service]["state"] == "ready")

    def get(self, path: str = "healthz") -> int:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/{path}", timeout=30) as answer:
            return int(answer.status)

    def query(self, query: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.folder.database_url()) as connection:
            found = connection.execute(query)  # type: ignore[call-overload]
            return list(found.fetchall()) if found.description else []

    def processes(self) -> list[psutil.Process]:
        """The supervisor and all that descends from it."""
        supervisor = psutil.Process(self.status["pid"])
        return [supervisor, *supervisor.children(recursive=True)]

    def end(self) -> None:
        if data_folder.is_running(self.folder):
            os.kill(self.status["pid"], signal.SIGTERM)
            eventually(lambda: not data_folder.is_running(self.folder), within=60)


@pytest.fixture
def system(tmp_path: Path) -> Iterator[System]:
    """A system that is not started."""
    found = System(tmp_path / "var")
    yield found
    found.end()


@pytest.fixture(scope="package")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """A system that runs, one for all tests here, as a start takes seconds; each leaves it well.

    Its static files are not compressed, which takes longer than all the rest.
    """
    found = System(tmp_path_factory.mktemp("running") / "var")
    found.up(STATICFILES_STORAGE="django.contrib.staticfiles.storage.StaticFilesStorage")
    yield found
    found.end()


# What a running system writes of itself: its workers' heartbeats, when each duty was done, and the address of its
# language model.
OF_THE_MOMENT = (
    "jobs_workerheartbeat",
    "jobs_scheduledtask",
    "llm_endpoint",
    "operations_machine",
    "operations_backup",
)


def rows_of(url: str) -> dict[str, str]:
    """Return a checksum of each table's rows, whatever their order, and where each sequence stands."""
    query = "SELECT md5(coalesce(string_agg(row::text, E'\\n' ORDER BY row::text), '')) FROM public.{} AS row"
    with psycopg.connect(url) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        found = {name: str(connection.execute(query.format(f'"{name}"')).fetchone()) for (name,) in tables}
        sequences = connection.execute("SELECT sequencename, last_value FROM pg_sequences").fetchall()
    found |= {name: str(value) for name, value in sequences}
    return {name: value for name, value in found.items() if not name.startswith(OF_THE_MOMENT)}
