"""How far a run is, how fast it goes and how long it will take."""

import re
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from crowdrag.jobs import leases, lifecycle, progress
from crowdrag.jobs.enums import RunState, UnitState
from crowdrag.jobs.models import Run
from crowdrag.jobs.templatetags.jobs import pace
from crowdrag.studies.models import Study

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


def start(study: Study, units: int = 1) -> Run:
    return lifecycle.start(study=study, kind="test.tiny", parameters={"seconds": 0, "units": units})


def staged(study: Study, *stages: int) -> Run:
    """A run that is at work, with so many units in each stage; nobody has done any."""
    run = start(study, sum(stages))
    Run.objects.filter(pk=run.pk).update(state=RunState.RUNNING, started_at=timezone.now())
    of = [stage for stage, n in enumerate(stages) for _ in range(n)]
    for unit, stage in zip(run.units.order_by("position"), of, strict=True):
        run.units.filter(pk=unit.pk).update(stage=stage)
    run.refresh_from_db()
    return run


def did(run: Run, position: int, began: datetime, took: timedelta) -> None:
    run.units.filter(position=position).update(
        state=UnitState.DONE, fence=1, claimed_at=began, finished_at=began + took
    )


def at_work(run: Run, position: int, began: datetime, done: int = 0, total: int = 0) -> None:
    run.units.filter(position=position).update(
        state=UnitState.CLAIMED, fence=1, claimed_at=began, lease_until=began + 99 * MINUTE, worker="w", done=done,
        total=total, message="Asking",
    )  # fmt: skip


def test_a_run_with_one_unit_is_as_far_as_its_unit(study: Study) -> None:
    run = start(study)
    unit = leases.claim(worker="a", run=run)
    now = unit.claimed_at + timedelta(seconds=10)
    leases.renew(unit, done=20, total=100, message="reading")
    assert progress.measure(run, now=now) == progress.Progress(20, 100, "reading", 2.0, timedelta(seconds=40))
    leases.complete(unit, effect=None)
    assert progress.measure(run).percent == 100
    assert progress.Progress(0, 0).percent is None


def test_the_pace_is_that_of_the_units_done_last_however_long_each_takes(study: Study) -> None:
    run, now = staged(study, 6), timezone.now()
    for n in range(3):
        did(run, n, now - (3 - n) * 10 * MINUTE, 10 * MINUTE)
    found = progress.measure(run, now=now)
    assert (found.done, found.total, found.percent, found.stage) == (3, 6, 50, None)
    assert found.rate == pytest.approx(1 / 600)
    assert found.left == 30 * MINUTE


def test_what_is_half_done_counts_half(study: Study) -> None:
    run, now = staged(study, 4), timezone.now()
    did(run, 0, now - 15 * MINUTE, 10 * MINUTE)
    at_work(run, 1, now - 5 * MINUTE, done=60, total=120)
    found = progress.measure(run, now=now)
    assert (found.done, found.message) == (1, "Asking")
    assert found.left == 25 * MINUTE


def test_before_the_first_unit_is_done_its_own_progress_tells_the_pace(study: Study) -> None:
    run, now = staged(study, 2), timezone.now()
    at_work(run, 0, now - 5 * MINUTE)
    assert (progress.measure(run, now=now).rate, progress.measure(run, now=now).left) == (None, None)
    at_work(run, 0, now - 5 * MINUTE, done=1, total=4)
    assert progress.measure(run, now=now).left == 35 * MINUTE


def test_workers_at_once_are_counted_at_once_and_a_night_without_them_is_not(study: Study) -> None:
    run, now = staged(study, 8), timezone.now()
    for n, ago in ((0, 600), (1, 600), (2, 10), (3, 10)):
        did(run, n, now - ago * MINUTE, 10 * MINUTE)
    assert progress.measure(run, now=now).left == 20 * MINUTE


def test_of_several_stages_only_the_one_at_work_is_reckoned(study: Study) -> None:
    run, now = staged(study, 2, 3, 4), timezone.now()
    for n in (0, 1):
        did(run, n, now - (60 - n) * timedelta(seconds=1), timedelta(seconds=1))
    assert progress.measure(run, now=now).rate is None  # what the first stage took says nothing of the second
    did(run, 2, now - 10 * MINUTE, 10 * MINUTE)
    found = progress.measure(run, now=now)
    assert found.stage == progress.Stage(2, 3, 1, 3)
    assert (found.done, found.total, found.left) == (3, 9, 20 * MINUTE)


def test_what_is_over_has_no_pace(study: Study) -> None:
    run, now = staged(study, 2), timezone.now()
    for n in (0, 1):
        did(run, n, now - MINUTE, MINUTE)
    Run.objects.filter(pk=run.pk).update(state=RunState.DONE, finished_at=now)
    run.refresh_from_db()
    assert progress.measure(run, now=now) == progress.Progress(2, 2)


def test_a_pace_is_told_in_a_unit_that_suits_it_with_how_far_its_stage_is() -> None:
    def numbers(told: progress.Progress) -> list[str]:
        return re.findall(r"[\d.]+", pace(told))

    rates = {25.2: "25", 1.5: "1.5", 0.05: "3.0", 1 / 600: "6.0"}  # a second, a second, a minute, an hour
    assert [numbers(progress.Progress(1, 9, rate=rate)) for rate in rates] == [[text] for text in rates.values()]
    stage = progress.Stage(2, 3, 1, 4)
    told = progress.Progress(5, 9, rate=1 / 60, left=3 * MINUTE, stage=stage)
    assert numbers(told) == ["1.0", "2", "3", "1", "4", "3", "0"]


def test_a_new_run_waits_for_those_before_it_except_in_the_background(study: Study) -> None:
    first, background = start(study), start(study)
    lifecycle.move_to_background(background)
    before = progress.find_before(first.queue)
    assert (before.runs, before.left) == ((first,), None)
    at_work(first, 0, timezone.now() - MINUTE, done=1, total=2)
    left = progress.find_before(first.queue).left
    assert left is not None
    assert abs(left - MINUTE) < timedelta(seconds=5)


def test_a_run_that_shares_a_model_names_the_others_until_its_first_answer(study: Study) -> None:
    run, other = start(study), start(study)
    Run.objects.update(queue="llm")
    for each in (run, other):
        at_work(each, 0, timezone.now() - MINUTE)
    run.refresh_from_db()
    wait = progress.find_wait(run)
    assert wait is not None
    assert (wait.obstacle, wait.runs) == (progress.Obstacle.SHARED, (other,))
    run.units.update(done=1, total=2)
    assert progress.find_wait(run) is None
