"""Stages: what needs what others found waits until they all are done, and is never begun where one of them failed."""

import pytest

from crowdrag.runs.domain import claiming, running, sweeping
from crowdrag.runs.enums import RunState, UnitState
from crowdrag.runs.models import Run, Unit, Upload
from crowdrag.studies.models import Study
from tests.factories import NOW
from tests.runs.test_running import exhaust

pytestmark = pytest.mark.django_db


def staged(study: Study, **parameters: object) -> Run:
    return running.start(study=study, kind="test.staged", parameters={"stages": [2, 1, 2]} | parameters, now=NOW)


def states(run: Run) -> list[str]:
    return list(run.units.order_by("position").values_list("state", flat=True))


def test_a_stage_begins_when_all_before_it_are_done(study: Study) -> None:
    run = staged(study)
    first, second = (claiming.claim(worker="a", run=run, now=NOW) for _ in range(2))
    assert (first.stage, second.stage) == (0, 0)
    claiming.complete(first, effect=None)
    assert claiming.claim(worker="b", run=run, now=NOW) is None
    claiming.complete(second, effect=None)
    alone = claiming.claim(worker="b", run=run, now=NOW)
    assert (alone.stage, claiming.claim(worker="c", run=run, now=NOW)) == (1, None)
    claiming.complete(alone, effect=None)
    assert {claiming.claim(worker=name, run=run, now=NOW).stage for name in "cd"} == {2}


def test_a_failure_ends_the_run_when_its_stage_is_through_and_resuming_goes_on_from_there(study: Study) -> None:
    run = staged(study, fail=[0])
    run = exhaust(run)
    assert (run.state, run.error) == (RunState.FAILED, "OSError: not yet")
    assert states(run) == [UnitState.FAILED, UnitState.DONE, *[UnitState.CANCELLED] * 3]
    Run.objects.filter(pk=run.pk).update(parameters=run.parameters | {"fail": []})
    run = exhaust(running.resume(run=run))
    assert (run.state, set(states(run))) == (RunState.DONE, {UnitState.DONE})
    assert set(Upload.objects.values_list("name", flat=True)) == {f"unit {i}" for i in range(5)}


def test_the_sweep_ends_what_a_worker_left_behind_a_failure(study: Study) -> None:
    run = staged(study)
    Unit.objects.filter(run=run, stage=0).update(state=UnitState.FAILED, finished_at=NOW, error="gone")
    assert sweeping.sweep().due["default"] == 0
    run.refresh_from_db()
    assert run.state == RunState.FAILED
    assert run.error.startswith("gone")
