"""Units that overlap: they work in turns, wait together, and each ends as if it were alone."""

import threading
import time
from dataclasses import replace
from functools import partial

import pytest
from django.db import connection

from crowdrag.jobs import heartbeat, kinds, leases, lifecycle, overlap, worker
from crowdrag.jobs.enums import RunState, UnitState
from crowdrag.jobs.models import Run, Upload
from crowdrag.studies.models import Study
from tests.jobs.conftest import until
from tests.jobs.kinds_app.kinds import mark

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("no_broker")]
UNITS = 12


@pytest.fixture
def no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowdrag.jobs.tasks.wake", lambda **_: None)


class Waiting:
    """Work that waits for something, as for a server, and notes how many do so at once."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.in_turn = self.waiting = self.most_waiting = 0
        self.gate = threading.Event()
        self.gate.set()
        self.fails: set[int] = set()

    def __call__(self, work: kinds.Work):
        for _step in range(2):
            self.take_turn()
            with overlap.let_others_work():
                with self.lock:
                    self.waiting += 1
                    self.most_waiting = max(self.most_waiting, self.waiting)
                self.gate.wait(20)
                time.sleep(0.1)
                with self.lock:
                    self.waiting -= 1
            work.check()
        if work.unit.position in self.fails and not work.unit.attempts:
            raise OSError("not yet")
        return partial(mark, work)

    def take_turn(self) -> None:
        with self.lock:
            self.in_turn += 1
            assert self.in_turn == 1
        time.sleep(0.002)
        with self.lock:
            self.in_turn -= 1


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> Waiting:
    work = Waiting()
    kind = replace(kinds.get("test.tiny"), work=work, wants_more=lambda unit: unit.position != UNITS - 1)
    monkeypatch.setitem(kinds._kinds, "test.tiny", kind)
    return work


def start(study: Study, **parameters: object) -> Run:
    return lifecycle.start(study=study, kind="test.tiny", parameters={"units": UNITS} | parameters)


def test_units_wait_together_and_each_is_done_once(study: Study, waiting: Waiting) -> None:
    run = start(study)
    waiting.gate.clear()

    def look() -> None:
        if waiting.waiting >= 6:
            waiting.gate.set()

    assert worker.work_next(run, look=look) == UNITS
    run.refresh_from_db()
    assert (run.state, run.error) == (RunState.DONE, "")
    assert waiting.most_waiting >= 6
    assert sorted(Upload.objects.values_list("name", flat=True)) == sorted(f"unit {n}" for n in range(UNITS))
    assert set(run.units.values_list("fence", "attempts", "state")) == {(1, 0, UnitState.DONE)}
    assert heartbeat._pulse._thread is None


@pytest.mark.extended
def test_other_runs_of_the_queue_get_their_turn_too(study: Study, waiting: Waiting) -> None:
    runs = [start(study), lifecycle.start(study=study, kind="test.slow", parameters={"units": 2, "seconds": 0.1})]
    assert worker.work_due(queue="default") == UNITS + 2
    assert {run.state for run in Run.objects.filter(pk__in=[run.pk for run in runs])} == {RunState.DONE}


def test_a_unit_that_fails_does_not_end_the_others(study: Study, waiting: Waiting) -> None:
    waiting.fails = {3}
    run = start(study)
    worker.work_next(run)
    failed = run.units.get(attempts=1)
    assert (failed.position, failed.state, bool(failed.error)) == (3, UnitState.PENDING, True)
    assert run.units.filter(state=UnitState.DONE).count() == UNITS - 1


def test_a_cancelled_run_stops_all_of_its_units(study: Study, waiting: Waiting, settings) -> None:
    settings.RUNS_LEASE_SECONDS = 2
    run = start(study)
    waiting.gate.clear()

    def cancel() -> None:
        until(lambda: waiting.waiting >= 4)
        lifecycle.cancel(run=run)
        time.sleep(1)  # for a heartbeat
        waiting.gate.set()
        connection.close()

    thread = threading.Thread(target=cancel)
    thread.start()
    began = worker.work_next(run)
    thread.join()
    assert 4 <= began < UNITS
    assert not Upload.objects.exists()
    assert set(run.units.values_list("state", flat=True)) == {UnitState.CANCELLED}


def test_an_interruption_gives_all_units_back_at_once(study: Study, waiting: Waiting) -> None:
    run = start(study)
    waiting.gate.clear()

    def look() -> None:
        if waiting.waiting >= 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        worker.work_next(run, look=look)
    assert set(run.units.values_list("state", flat=True)) == {UnitState.PENDING}
    assert leases.claim(worker="another", run=run) is not None
    waiting.gate.set()
    # The threads find that they hold nothing any more.
    until(lambda: heartbeat._pulse._thread is None)
    assert not Upload.objects.exists()
    until(lambda: not [thread for thread in threading.enumerate() if thread.name == "llm-exchange"])
