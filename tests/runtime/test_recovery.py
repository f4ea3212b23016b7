"""kill -9 of anything is healed, kill -9 of the supervisor leaves nothing behind."""

import os
import signal
import sys
from collections.abc import Iterator

import psutil
import pytest
from celery import Celery

from crowdrag.runtime import data_folder, valkey
from tests.runtime.conftest import System, eventually, living

pytestmark = pytest.mark.extended

SERVICES = ("postgres", "valkey", "llm", "web", "worker-default", "worker-llm", "worker-gpu", "sweep")


@pytest.fixture(autouse=True)
def _still_well(running: System) -> Iterator[None]:
    yield
    eventually(lambda: all(map(running.ready, SERVICES)) and running.get() == 200)


@pytest.mark.parametrize("service", SERVICES)
def test_a_killed_service_comes_back(running: System, service: str) -> None:
    before = running.pid(service)
    group = [process for process in psutil.process_iter() if _group(process) == before]
    kill(before)
    eventually(lambda: running.pid(service) not in (0, before) and running.ready(service))
    assert not living(group, within=1), "the dead one's children live on"


@pytest.mark.parametrize("harm", ["killed", "emptied"])
def test_workers_take_messages_after_their_broker_was_harmed(running: System, harm: str) -> None:
    with valkey.client(running.folder) as broker:
        if harm == "killed":
            before = running.pid("valkey")
            kill(before)
            eventually(lambda: running.pid("valkey") not in (0, before) and running.ready("valkey"))
        else:
            broker.flushall()
        for queue in ("default", "llm", "gpu"):
            eventually(lambda queue=queue: send(running, queue))
        eventually(lambda: not any(map(broker.llen, ("default", "llm", "gpu"))))


def kill(pid: int) -> None:
    """Kill a process; 0, of a service that is not running, would be this process with its group."""
    assert pid > 1
    os.kill(pid, signal.SIGKILL)


def send(system: System, queue: str) -> bool:
    """Tell a queue's worker that something may be due, as the sweep does."""
    with Celery(broker=system.folder.broker_url) as sender:
        sender.send_task("crowdrag.runs.work", kwargs={"queue": queue}, queue=queue, retry=False)
    return True


def _group(process: psutil.Process) -> int:
    try:
        return os.getpgid(process.pid)
    except ProcessLookupError:
        return 0


def test_requests_wait_while_the_web_restarts(running: System) -> None:
    before = running.pid("web")
    kill(before)
    # The supervisor holds the listening socket: nobody is refused.
    assert running.get() == 200
    eventually(lambda: running.pid("web") not in (0, before))


@pytest.mark.parametrize("service", ["web", "worker-default"])
def test_a_killed_child_of_a_service_comes_back(running: System, service: str) -> None:
    service_itself = psutil.Process(running.pid(service))
    children = eventually(lambda: len(service_itself.children()) == 2 and service_itself.children())
    children[0].kill()
    eventually(lambda: len(service_itself.children()) == 2 and children[0] not in service_itself.children())


def test_a_killed_session_of_the_database_is_healed(running: System) -> None:
    """PostgreSQL then ends all sessions and recovers; ours are checked before use."""
    sessions = [p for p in psutil.Process(running.pid("postgres")).children() if "idle" in " ".join(p.cmdline())]
    for session in sessions[:1]:
        session.kill()
    eventually(lambda: running.get() == 200 and running.query("SELECT 1"))


def test_the_reaper_is_replaced(running: System) -> None:
    before = running.status["reaper"]
    kill(before)
    eventually(lambda: running.status["reaper"] != before)


def test_services_outlive_the_process_they_were_forked_from(running: System) -> None:
    before, services = running.status["preloader"], [running.pid(name) for name in ("web", "worker-llm", "sweep")]
    kill(before)
    eventually(lambda: running.status["preloader"] != before)
    # One that ends before another is loaded is started without it.
    kill(services[0])
    eventually(lambda: running.pid("web") not in (0, services[0]) and running.ready("web"))
    assert [running.pid(name) for name in ("worker-llm", "sweep")] == services[1:]


@pytest.mark.parametrize("with_reaper", [False, True])
def test_a_killed_supervisor_leaves_nobody_and_loses_nothing(running: System, with_reaper: bool) -> None:
    running.query("CREATE TABLE IF NOT EXISTS kept (n int)")
    running.query("INSERT INTO kept VALUES (1)")
    count = running.query("SELECT count(*) FROM kept")
    everybody = running.processes()
    assert len(everybody) > 15
    if with_reaper:
        if not sys.platform.startswith("linux"):
            pytest.skip("without the kernel's death signal only the reaper ends the others")
        kill(running.status["reaper"])
    kill(running.status["pid"])
    assert not living(everybody, within=20)
    assert not data_folder.is_running(running.folder)
    running.up()
    assert running.query("SELECT count(*) FROM kept") == count
