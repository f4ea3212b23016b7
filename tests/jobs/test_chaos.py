"""Workers, broker and sweep are killed, stopped and emptied while runs work: nothing is lost, nothing comes twice.

What is counted is an effect's row in the database (tests/jobs/kinds_app/kinds.py).
"""

import os
import random
import signal
import subprocess
import time
from collections import Counter

import pytest
from django.db import connection
from django.db.models import Max, Sum

from crowdrag.jobs import lifecycle, tasks
from crowdrag.jobs.enums import RunState, UnitState
from crowdrag.jobs.models import Run, Unit, Upload, WorkerHeartbeat
from crowdrag.studies.models import Study
from tests.jobs.conftest import Crew, is_over, until

pytestmark = pytest.mark.timeout(240)


def effects() -> Counter[str]:
    return Counter(Upload.objects.values_list("name", flat=True))


def assert_each_once(run: Run, units: int) -> None:
    run.refresh_from_db()
    assert (run.state, run.error) == (RunState.DONE, "")
    assert effects() == Counter(f"unit {i}" for i in range(units))
    assert run.summary == {"finished": 1}
    assert not run.units.exclude(state=UnitState.DONE).exists()


def start(study: Study, kind: str, **parameters: object) -> Run:
    return lifecycle.start(study=study, kind=f"test.{kind}", parameters=parameters)


def held_by(run: Run) -> int:
    """Return the process that holds the run's only unit."""
    return int(run.units.get().worker.split(":")[1])


def is_served() -> bool:
    return WorkerHeartbeat.objects.filter(queue="default").exists()


def kill_on(crew: Crew, run: Run, rng: random.Random, *, whole: float, pause: float, most: int) -> None:
    """Kill pool processes, now and then a whole worker or the sweep, until the run is over or that was enough."""
    workers = [crew.worker(), crew.worker()]
    sweep = crew.sweep()
    until(is_served)
    while not is_over(run) and crew.kills < most:
        time.sleep(rng.uniform(pause / 2, pause * 3 / 2))
        if rng.random() < whole:
            i = rng.randrange(3)
            if i == 2:
                crew.kill(sweep)
                sweep = crew.sweep()
            else:
                crew.kill(workers[i])
                workers[i] = crew.worker()
        else:
            crew.kill_a_child(rng.choice(workers), rng)


@pytest.mark.parametrize(
    ("units", "seconds", "whole", "pause", "kills"),
    [
        pytest.param(300, 0.05, 0.03, 0.2, 60, marks=pytest.mark.extended),
        pytest.param(10_000, 0.02, 0.1, 0.5, 200, marks=[pytest.mark.soak, pytest.mark.timeout(1800)]),
    ],
)
def test_killed_workers_lose_and_double_nothing(
    crew: Crew, study: Study, units: int, seconds: float, whole: float, pause: float, kills: int
) -> None:
    run = start(study, "tiny", units=units, seconds=seconds)
    kill_on(crew, run, random.Random(1), whole=whole, pause=pause, most=kills)
    until(lambda: is_over(run), within=60 if units < 1000 else 900)
    lost = run.units.aggregate(lost=Sum("lost"), fence=Max("fence"))
    print(f"{crew.kills} kills, {lost['lost']} units lost their worker, at most {lost['fence']} claims of a unit")
    assert crew.kills >= kills / 6
    assert lost["lost"] >= 1, "the kills must have hit something"
    assert_each_once(run, units)


@pytest.mark.extended
def test_a_broker_that_forgets_and_dies_loses_nothing(crew: Crew, study: Study) -> None:
    run = start(study, "tiny", units=120, seconds=0.1)
    crew.worker()
    crew.sweep()
    until(lambda: effects().total() >= 5)
    for _ in range(5):
        crew.broker.client().flushall()
        time.sleep(0.3)
    done = effects().total()
    assert done < 120, "the broker must forget in the middle of the run"
    crew.broker.kill()
    time.sleep(1)
    crew.broker.start()
    until(lambda: is_over(run), within=60)
    assert_each_once(run, 120)


@pytest.mark.extended
def test_a_start_while_the_broker_is_away_is_quick_and_is_not_lost(crew: Crew, study: Study) -> None:
    crew.broker.kill()
    began = time.monotonic()
    run = start(study, "tiny", units=3)
    assert time.monotonic() - began < 5
    crew.broker.start()
    crew.sweep()
    crew.worker()
    until(lambda: is_over(run))
    assert_each_once(run, 3)


@pytest.mark.extended
@pytest.mark.parametrize("kind", ["slow", "slow_effect"])
def test_a_worker_that_slept_through_its_lease_commits_nothing(crew: Crew, study: Study, kind: str) -> None:
    run = start(study, kind, seconds=2)
    crew.worker(concurrency=2)
    crew.sweep()
    until(lambda: run.units.filter(state=UnitState.CLAIMED).exists())
    time.sleep(0.5)
    sleeper = held_by(run)
    os.kill(sleeper, signal.SIGSTOP)
    try:
        until(lambda: is_over(run))
        assert held_by(run) != sleeper
    finally:
        os.kill(sleeper, signal.SIGCONT)
    until(lambda: "(claim " in crew.logs())
    assert run.units.get().lost == 1
    assert_each_once(run, 1)


@pytest.mark.extended
def test_messages_delivered_again_and_again_have_one_effect(crew: Crew, study: Study) -> None:
    # Units last longer than the broker waits for an acknowledgement: it delivers their messages again.
    crew.worker(concurrency=3, TEST_VISIBILITY=1)
    crew.sweep(TEST_VISIBILITY=1)
    until(is_served)
    run = start(study, "slow", units=4, seconds=3)
    while not is_over(run):
        tasks.wake(queue="default", messages=16)
        time.sleep(0.3)
    assert_each_once(run, 4)
    assert set(run.units.values_list("fence", flat=True)) == {1}


@pytest.mark.extended
def test_a_worker_that_dies_in_its_effect_leaves_no_half_of_it(crew: Crew, study: Study) -> None:
    run = start(study, "dying")
    crew.worker(concurrency=1)
    crew.sweep()
    until(lambda: is_over(run))
    assert (run.units.get().fence, run.units.get().lost) == (2, 1)
    assert_each_once(run, 1)


@pytest.mark.extended
def test_cancelling_stops_a_worker_and_resuming_goes_on(crew: Crew, study: Study) -> None:
    crew.worker(concurrency=2)
    crew.sweep()
    run = start(study, "slow", units=6, seconds=1)
    until(lambda: effects().total() >= 2)
    # A worker may just have ended one unit and not begun another, whereupon there is nothing to stop.
    until(lambda: run.units.filter(state=UnitState.CLAIMED).exists())
    lifecycle.cancel(run=run)
    stopped_at = effects()
    # The workers are free again well before their units would have ended: a new run gets its turn.
    until(lambda: "(claim " in crew.logs())
    time.sleep(1)
    assert effects() == stopped_at
    lifecycle.resume(run=run)
    until(lambda: is_over(run))
    assert_each_once(run, 6)
    assert sum(Unit.objects.values_list("fence", flat=True)) > 6


@pytest.mark.extended
def test_a_command_waits_for_workers_and_works_itself_without_them(
    crew: Crew, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = []
    run = lifecycle.wait(start(study, "slow", seconds=1), report=told.append)
    assert_each_once(run, 1)
    assert any(0 < progress.done < progress.total for progress in told)
    assert str(os.getpid()) in run.units.get().worker
    Upload.objects.all().delete()
    crew.worker()
    crew.sweep()
    until(is_served)
    run = lifecycle.wait(start(study, "tiny", units=5))
    assert_each_once(run, 5)
    assert not run.units.filter(worker__contains=f":{os.getpid()}:").exists()


@pytest.mark.extended
def test_the_database_going_away_stops_neither_sweep_nor_worker(crew: Crew, study: Study) -> None:
    worker, sweep = crew.worker(), crew.sweep()
    until(is_served)
    run = start(study, "tiny", units=60, seconds=0.1)
    until(lambda: effects().total() >= 5)
    for _ in range(3):
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        time.sleep(0.5)
    until(lambda: is_over(run))
    assert isinstance(worker, subprocess.Popen)
    assert worker.poll() is None
    assert sweep.poll() is None
    assert_each_once(run, 60)
