"""Which processes run the code on one machine."""

import pytest

from crowdrag.runtime import data_folder, layouts, local_system, valkey
from crowdrag.runtime.workers import QUEUES
from tests.runtime.conftest import System, eventually, living
from tests.runtime.test_recovery import kill, send

ON_DEMAND = [f"worker-{queue.name}" for queue in QUEUES]


def test_the_whole_demo_is_small_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BROKER_URL", raising=False)
    assert local_system.StartOptions(demo=True).layout is layouts.SMALL
    assert local_system.StartOptions().layout is layouts.SEPARATE
    assert local_system.StartOptions(demo=True, only=("web", "sweep")).layout is layouts.SEPARATE
    # The supervisor looks for messages in its own broker alone.
    monkeypatch.setenv("BROKER_URL", "redis://localhost/0")
    assert local_system.StartOptions(demo=True).layout is layouts.SEPARATE


def test_what_the_operator_sets_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEB_WORKERS", "3")
    for name in layouts.SMALL.variables.keys() - {"WEB_WORKERS"}:
        monkeypatch.setenv(name, "")
    layouts.SMALL.set_defaults()
    monkeypatch.setenv("WORKERS_DEFAULT", "1")
    (processes,) = [queue.processes() for queue in QUEUES if queue.name == "llm"]
    assert (layouts.os.environ["WEB_WORKERS"], processes) == ("3", "1")
    assert set(layouts.os.environ["CROWDRAG_ON_DEMAND"].split(",")) == {queue.name for queue in QUEUES}


@pytest.mark.extended
def test_workers_of_the_demo_start_for_work_and_end_without_it(system: System) -> None:
    """And each process comes back that is killed, the sweep with the deliveries."""
    system.crowdrag("demo", "--detach", "--port", str(system.port))
    assert system.get() == 200
    assert "sweep" not in system.status["services"]
    eventually(lambda: _state(system, "worker-default") == _state(system, "worker-gpu") == "idle", within=180)
    assert system.query("SELECT count(*) FROM jobs_run WHERE kind = 'demo.judge' AND state = 'DONE'") == [(1,)]
    send(system, "default")
    eventually(lambda: system.ready("worker-default"))
    with valkey.client(system.folder) as broker:
        eventually(lambda: not broker.llen("default"))
    before = system.pid("worker-default")
    kill(before)
    eventually(lambda: system.pid("worker-default") not in (0, before) and system.ready("worker-default"))
    eventually(lambda: _state(system, "worker-default") == "idle", within=90)
    before = system.pid("deliveries")
    kill(before)
    eventually(lambda: system.pid("deliveries") not in (0, before) and system.ready("deliveries"))
    now = system.query("SELECT now()")[0][0]
    beats = "SELECT max(at) FROM jobs_workerheartbeat WHERE queue = 'sweep'"
    eventually(lambda: system.query(beats)[0][0] > now)
    everybody = system.processes()
    system.crowdrag("down")
    assert not living(everybody, within=1)
    assert not data_folder.is_running(system.folder)


def _state(system: System, service: str) -> str:
    return str(system.status["services"][service]["state"])
