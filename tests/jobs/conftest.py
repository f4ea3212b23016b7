"""Kinds, a study, and for the hard tests a broker and workers of their own, to be killed."""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psutil
import pytest
import redis
from django.conf import settings
from django.db import connection

from crowdrag.jobs.models import Run
from crowdrag.runtime import valkey
from crowdrag.studies.models import Study
from tests.factories import StudyFactory
from tests.jobs.kinds_app import kinds as test_kinds


@pytest.fixture(autouse=True)
def _kinds() -> None:
    test_kinds.register_all()


@pytest.fixture
def study(db: None) -> Study:
    return StudyFactory(slug="mine")


@pytest.fixture
def files(tmp_path: Path, settings) -> Path:
    """Storage of this test alone."""
    settings.MEDIA_ROOT = tmp_path / "files"
    return tmp_path / "files"


def until(condition: Callable[[], object], within: float = 40, every: float = 0.05) -> None:
    """Wait until a condition holds; fail when it does not."""
    ends_at = time.monotonic() + within
    while not condition():
        assert time.monotonic() < ends_at, "waited in vain"
        time.sleep(every)


def is_over(run: Run) -> bool:
    run.refresh_from_db()
    return not run.is_active


class Broker:
    """A Valkey that can be killed and comes back empty."""

    def __init__(self) -> None:
        # Not in pytest's folder: a socket's path must be short.
        self.folder = Path(tempfile.mkdtemp(prefix="crowdrag-"))
        self.socket = self.folder / "v.sock"
        self.url = f"redis+socket://{self.socket}"
        self.start()

    def start(self) -> None:
        command = [valkey.server(), "--port", "0", "--unixsocket", self.socket, "--save", "", "--dir", self.folder]
        self.process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL)
        until(self.answers, within=10)

    def answers(self) -> bool:
        with suppress(redis.RedisError):
            return bool(self.client().ping())
        return False

    def client(self) -> redis.Redis:
        return redis.Redis(unix_socket_path=str(self.socket))

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        self.kill()
        shutil.rmtree(self.folder)


class Crew:
    """Workers and a sweep in processes of their own, to be killed and stopped."""

    def __init__(self, broker: Broker, folder: Path) -> None:
        self.broker = broker
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        self.kills = 0

    def start(self, *command: str, **env: object) -> subprocess.Popen[bytes]:
        url = urlsplit(os.environ["DATABASE_URL"])
        environment = os.environ | {
            "DJANGO_SETTINGS_MODULE": "tests.jobs.worker_settings",
            "DATABASE_URL": urlunsplit(url._replace(path="/" + str(connection.settings_dict["NAME"]))),
            "BROKER_URL": self.broker.url,
            "CELERY_BROKER_URL": self.broker.url,
            **{name: str(value) for name, value in env.items()},
        }
        with (self.folder / f"{len(self.processes)}.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", *command],
                cwd=settings.BASE_DIR,
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.processes.append(process)
        return process

    def worker(self, concurrency: int = 2, **env: object) -> subprocess.Popen[bytes]:
        name = f"w{len(self.processes)}@test"
        options = f"-Q default -c {concurrency} -n {name} --without-gossip --without-mingle -l INFO"
        return self.start("celery", "-A", "crowdrag.celery", "worker", *options.split(), **env)

    def sweep(self, **env: object) -> subprocess.Popen[bytes]:
        return self.start("django", "sweep", "--every", "0.5", **env)

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """SIGKILL a process with all its children, and forget it."""
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.processes.remove(process)
        self.kills += 1

    def kill_a_child(self, worker: subprocess.Popen[bytes], rng: random.Random) -> None:
        """SIGKILL one of a worker's pool processes; the worker starts another."""
        with suppress(psutil.Error, IndexError):
            rng.choice(psutil.Process(worker.pid).children()).kill()
            self.kills += 1

    def logs(self) -> str:
        return "\n".join(path.read_text(errors="replace")[-20000:] for path in sorted(self.folder.glob("*.log")))

    def close(self) -> None:
        for process in list(self.processes):
            self.kill(process)


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Broker]:
    made = Broker()
    monkeypatch.setenv("CELERY_BROKER_URL", made.url)
    yield made
    made.close()


@pytest.fixture
def crew(transactional_db: None, broker: Broker, tmp_path: Path) -> Iterator[Crew]:
    made = Crew(broker, tmp_path)
    yield made
    made.close()
