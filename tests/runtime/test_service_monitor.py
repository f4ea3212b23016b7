"""The monitor's rules, on a service that behaves as told."""

import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from crowdrag.runtime import processes, worker_heartbeat
from crowdrag.runtime import service_monitor as module
from crowdrag.runtime.data_folder import DataFolder
from crowdrag.runtime.processes import Reaper
from crowdrag.runtime.service_monitor import Launch, Service, ServiceMonitor
from tests.runtime.conftest import eventually


class Told(Service):
    """A program that sleeps, or ends at once; a probe that answers, or does not."""

    name = title = "told"
    silent_for = 0.5
    start_within = 0.5

    def __init__(self, folder: DataFolder, program: str) -> None:
        super().__init__(folder)
        self.program = program
        self.answers = True
        self.reaped: list[int] = []

    def launch(self) -> Launch:
        return Launch([sys.executable, "-c", self.program])

    def probe(self) -> str:
        if not self.answers:
            raise ConnectionError
        return "1.0"

    def reap(self, failures: int) -> None:
        self.reaped.append(failures)


def test_a_worker_that_fetches_nothing_is_deaf(monkeypatch) -> None:
    queue = {"waiting": 1}
    monkeypatch.setattr(worker_heartbeat, "waiting", lambda _: queue["waiting"])
    ear = worker_heartbeat.StalledConsumer()
    assert not ear.is_deaf("llm", now=100.0)
    assert not ear.is_deaf("llm", now=115.0)
    assert ear.is_deaf("llm", now=121.0)
    # Busy: what waits must wait.
    monkeypatch.setattr(worker_heartbeat.state, "active_requests", {"a task"})
    assert not ear.is_deaf("llm", now=122.0)
    monkeypatch.setattr(worker_heartbeat.state, "active_requests", set())
    assert not ear.is_deaf("llm", now=128.0)
    # An empty queue in between: it does fetch.
    queue["waiting"] = 0
    assert not ear.is_deaf("llm", now=134.0)
    queue["waiting"] = 1
    assert not ear.is_deaf("llm", now=150.0)
    assert not ear.is_deaf("llm", now=165.0)
    assert ear.is_deaf("llm", now=171.0)


def test_a_worker_without_tasks_ends_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_heartbeat.state, "should_stop", None)
    idle = worker_heartbeat.IdleEnd()
    began = time.monotonic()
    monkeypatch.setattr(worker_heartbeat.state, "active_requests", {"a task"})
    idle.look(30, now=began + 100)
    monkeypatch.setattr(worker_heartbeat.state, "active_requests", set())
    idle.look(30, now=began + 129)
    assert worker_heartbeat.state.should_stop is None
    idle.look(30, now=began + 131)
    assert worker_heartbeat.state.should_stop == 0


def test_a_heartbeat_needs_all_that_the_process_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, well = tmp_path / "beat", [True, False]
    monkeypatch.setenv("CROWDRAG_HEARTBEAT", str(path))
    monkeypatch.delenv("CROWDRAG_QUEUE", raising=False)
    monkeypatch.setattr(worker_heartbeat, "conditions", [lambda: well[0], lambda: well[1]])
    worker_heartbeat.beat()
    assert not path.exists()
    well[1] = True
    worker_heartbeat.beat()
    assert path.exists()


SLEEP = "import time; time.sleep(60)"


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    found = DataFolder(tmp_path)
    found.create()
    return found


@pytest.fixture
def reaper() -> Iterator[Reaper]:
    found = Reaper()
    yield found
    found.close()


def keep(monitor: ServiceMonitor, until, within: float = 10.0) -> None:
    deadline = time.monotonic() + within
    while not until():
        monitor.step()
        time.sleep(0.01)
        assert time.monotonic() < deadline


def test_a_service_that_falls_silent_is_started_again(folder: DataFolder, reaper: Reaper, monkeypatch) -> None:
    monkeypatch.setattr(module, "INTERVAL", 0.05)
    service, said = Told(folder, SLEEP), []
    monitor = ServiceMonitor(service, reaper, said.append)
    monitor.start()
    keep(monitor, lambda: monitor.is_ready)
    first = monitor.process
    # Stopped, not dead: only the missing sign of life tells.
    first.send_signal(signal.SIGSTOP)
    service.answers = False
    keep(monitor, lambda: monitor.restarts == 1)
    service.answers = True
    keep(monitor, lambda: monitor.is_ready)
    assert first.returncode == -signal.SIGKILL
    assert monitor.process.pid != first.pid
    assert len(said) == 2
    monitor.remove()


def test_a_service_that_never_comes_up_is_hopeless_with_its_last_words(
    folder: DataFolder, reaper: Reaper, monkeypatch
) -> None:
    monkeypatch.setattr(module, "BACKOFF", (0.0,))
    service = Told(folder, "import sys; sys.exit('no such file')")
    service.answers = False
    monitor = ServiceMonitor(service, reaper, lambda _: None)
    monitor.start()
    keep(monitor, lambda: monitor.is_hopeless)
    assert service.reaped == [1, 2, 3, 4, 5]
    assert "no such file" in monitor.last_words()
    monitor.remove()


class Wanted(Told):
    """It runs only while it is wanted."""

    is_on_demand = True
    wanted = False

    def is_wanted(self) -> bool:
        return self.wanted


def test_a_service_on_demand_starts_when_it_is_wanted_and_may_end(folder: DataFolder, reaper: Reaper) -> None:
    service = Wanted(folder, "import pathlib, time\nwhile not pathlib.Path('end').exists(): time.sleep(0.01)")
    service.launch = lambda: Launch([sys.executable, "-c", service.program], cwd=folder.root)  # type: ignore[method-assign]
    service.start_within = 60.0
    monitor = ServiceMonitor(service, reaper, lambda _: None)
    monitor.begin()
    monitor.step()
    assert (monitor.is_ready, monitor.is_idle, monitor.status()["pid"]) == (True, True, None)
    service.wanted = True
    monitor.step()
    assert monitor.process is not None
    eventually(lambda: monitor.step() or monitor.state == "ready")
    # Killed: it is started again, wanted or not.
    service.wanted = False
    monitor.process.send_signal(signal.SIGKILL)
    eventually(lambda: monitor.step() or (monitor.restarts and monitor.state == "ready"))
    # Ended by itself, for want of work: it is not.
    (folder.root / "end").touch()
    eventually(lambda: monitor.step() or monitor.is_idle)
    assert (monitor.restarts, monitor.process) == (1, None)


def test_the_wait_between_starts_grows(folder: DataFolder, reaper: Reaper) -> None:
    service = Told(folder, "")
    service.answers = False
    monitor = ServiceMonitor(service, reaper, lambda _: None)
    monitor.start()
    began = time.monotonic()
    keep(monitor, lambda: monitor.restarts == 3)
    assert time.monotonic() - began > sum(module.BACKOFF[:3]) - 1.0
    assert list(module.BACKOFF) == sorted(module.BACKOFF)
    monitor.remove()


def test_the_reaper_ends_what_its_owner_leaves(folder: DataFolder) -> None:
    reaper = Reaper()
    stubborn = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(60)"
    )
    process = processes.spawn(
        [sys.executable, "-c", stubborn], log=folder.logs / "told.log", env={}, death_signal=signal.SIGTERM
    )
    reaper.add(process.pid, signal.SIGKILL)
    # Buried at once, as init does with orphans.
    threading.Thread(target=process.wait).start()
    reaper.close()
    assert process.wait(5) == -signal.SIGKILL


def test_a_long_log_starts_anew_under_its_writer(folder: DataFolder, monkeypatch) -> None:
    monkeypatch.setattr(processes, "LOG_LIMIT", 100)
    log = folder.logs / "told.log"
    with log.open("ab") as writer:
        for number in range(4):
            writer.write(f"{number}".encode() * 200)
            writer.flush()
            processes.rotate(log)
        assert log.stat().st_size == 0
        writer.write(b"new")
        writer.flush()
    assert log.read_bytes() == b"new"
    assert [folder.logs.joinpath(f"told.log.{n}").read_bytes()[:1] for n in (1, 2, 3)] == [b"3", b"2", b"1"]
    assert not folder.logs.joinpath("told.log.4").exists()
