"""The sweep finds what messages should have said and did not."""

import re
import threading
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import OperationalError
from django.utils import timezone

from crowdrag.jobs import leases, lifecycle, sweep, tasks, worker
from crowdrag.jobs.enums import RunState, UnitState
from crowdrag.jobs.models import Run, WorkerHeartbeat
from crowdrag.studies.models import Study
from tests.factories import NOW
from tests.jobs.conftest import Broker

pytestmark = pytest.mark.django_db


def queued(broker: Broker) -> int:
    return int(broker.client().llen("default"))


def test_due_units_wake_as_many_workers_as_are_of_use(study: Study, broker: Broker) -> None:
    lifecycle.start(study=study, kind="test.tiny", parameters={"units": 5})
    assert queued(broker) == 0, "nothing was committed"
    for _ in range(3):
        swept = sweep.sweep()
        assert (swept.due["default"], queued(broker)) == (5, 5)
    lifecycle.start(study=study, kind="test.tiny", parameters={"units": 100})
    sweep.sweep()
    assert queued(broker) == tasks.MOST_MESSAGES
    broker.client().flushall()
    sweep.sweep()
    assert queued(broker) == tasks.MOST_MESSAGES


def test_an_idle_queue_gets_one_message_to_prove_the_way(broker: Broker) -> None:
    sweep.sweep()
    sweep.sweep()
    assert [int(broker.client().llen(queue)) for queue in ("default", "llm", "gpu")] == [1, 1, 1]


def test_a_queue_whose_workers_run_only_for_work_gets_messages_for_work_alone(
    study: Study, broker: Broker, settings: Any
) -> None:
    settings.ON_DEMAND_QUEUES = frozenset({"default", "gpu"})
    sweep.sweep()
    assert [int(broker.client().llen(queue)) for queue in ("default", "llm", "gpu")] == [0, 1, 0]
    lifecycle.start(study=study, kind="test.tiny", parameters={"units": 2})
    sweep.sweep()
    assert queued(broker) == 2


def test_deliveries_do_not_wait_behind_runs(broker: Broker) -> None:
    assert tasks.call_soon("crowdrag.mail.send", "emails")
    assert (queued(broker), int(broker.client().llen("deliveries"))) == (0, 1)


def test_without_a_broker_the_rest_is_swept(study: Study, broker: Broker) -> None:
    run = lifecycle.start(study=study, kind="test.tiny", now=NOW)
    leases.claim(worker="a", run=run, now=NOW)
    broker.kill()
    swept = sweep.sweep()
    assert (swept.broker, swept.returned) == (False, 1)
    assert run.units.get().state == UnitState.PENDING


def test_a_complete_run_that_nobody_concluded_is_concluded(study: Study, broker: Broker) -> None:
    run = lifecycle.start(study=study, kind="test.tiny", parameters={"seconds": 0})
    unit = leases.claim(worker="a", run=run)
    leases.complete(unit, effect=None)  # and there the worker died
    assert sweep.sweep().concluded == 1
    run.refresh_from_db()
    assert (run.state, run.summary) == (RunState.DONE, {"finished": 1})
    assert sweep.sweep().concluded == 0


def test_old_signs_of_life_are_removed(broker: Broker) -> None:
    WorkerHeartbeat.objects.create(name="gone", queue="llm", at=timezone.now() - timedelta(days=2))
    WorkerHeartbeat.objects.create(name="here", queue="llm", at=timezone.now())
    sweep.sweep()
    assert set(WorkerHeartbeat.objects.exclude(queue="sweep").values_list("name", flat=True)) == {"here"}
    assert worker.is_served("llm")
    assert not worker.is_served("gpu")


def test_sweeping_goes_on_when_the_database_is_back(monkeypatch: pytest.MonkeyPatch) -> None:
    stop, passes, lives = threading.Event(), [], []

    def away_twice() -> sweep.SweepResult:
        passes.append(1)
        if len(passes) < 3:
            raise OperationalError("the database is away")
        stop.set()
        return sweep.SweepResult(0, 0, {}, broker=True)

    monkeypatch.setattr(sweep, "sweep", away_twice)
    monkeypatch.setattr(sweep, "close_old_connections", lambda: None)
    sweep.sweep_repeatedly(every=0.01, stop=stop, alive=lambda: lives.append(1))
    assert len(passes) == len(lives) == 3


def test_the_command_makes_one_pass_and_says_what_it_found(study: Study, broker: Broker, capsys) -> None:
    lifecycle.start(study=study, kind="test.tiny", parameters={"units": 2})
    call_command("sweep", "--once")
    swept, *_duties = capsys.readouterr().out.splitlines()
    assert re.findall(r"\d+", swept) == ["0", "0", "2", "0", "0"]
    broker.kill()
    call_command("sweep", "--once")
    assert capsys.readouterr().err


def test_a_worker_gives_its_place_back_after_its_time_and_asks_to_be_woken(study: Study, broker: Broker) -> None:
    run = lifecycle.start(study=study, kind="test.tiny", parameters={"units": 3, "seconds": 0})
    assert worker.work_due(queue="default", beat_as="me", time_slice=timedelta(0)) == 1
    assert queued(broker) == 1
    assert worker.work_due(queue="default", beat_as="me") == 2
    assert Run.objects.get(pk=run.pk).state == RunState.DONE
    assert WorkerHeartbeat.objects.get(name="me").queue == "default"


def test_the_task_works_on_its_queue(study: Study, broker: Broker) -> None:
    run = lifecycle.start(study=study, kind="test.tiny", parameters={"units": 2, "seconds": 0})
    tasks.work.apply(kwargs={"queue": "gpu"})
    assert not run.units.filter(state=UnitState.DONE).exists()
    tasks.work.apply(kwargs={"queue": "default"})
    assert Run.objects.get(pk=run.pk).state == RunState.DONE
