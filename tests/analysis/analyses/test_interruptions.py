"""An analysis that is killed, cancelled or overtaken by an erasure leaves nothing half, and ends like any other."""

import signal
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from analysis.analyses import services
from analysis.analyses import updates as updating
from analysis.inputs import arrays
from analysis.models import ResultTable, Snapshot
from crowdrag.jobs import leases, lifecycle, sweep, worker
from crowdrag.jobs.enums import RunState, UnitState
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Participant, Study
from crowdrag.studies.participants import withdrawal
from tests.analysis import small_study
from tests.analysis.other_processes import python

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(240)]

QUICK = {"resamples": 50, "restarts": 3, "refine": 1}
#: Where a process dies by itself, so that it does in the middle: among the tables, or when all are stored but nothing
#: is committed yet.
DIES = {
    "computing": """
real = analysing.compute
steps = []
def compute(*inputs, report, **how):
    def reported(*progress):
        report(*progress)
        steps.append(progress)
        if len(steps) == 3:
            die()
    return real(*inputs, report=reported, **how)
analysing.compute = compute
""",
    "storing": """
analysing.lifecycle.note = lambda **_: die()
""",
}
CHILD = """
import os, signal
import django
django.setup()
from analysis.analyses import services as analysing
from crowdrag.jobs import worker
from crowdrag.jobs.models import Run
def die():
    os.kill(os.getpid(), signal.SIGKILL)
{dies}
worker.work_next(Run.objects.get(pk={run}))
"""


@pytest.fixture
def study() -> Study:
    return small_study.make()


def start(study: Study) -> Run:
    return services.start(study=study, parameters=QUICK)


def tables_of(run: Run) -> dict[str, Any]:
    return dict(ResultTable.objects.filter(run=run).values_list("name", "rows"))


def left_of(run: Run) -> tuple[int, int]:
    return ResultTable.objects.filter(run=run).count(), Snapshot.objects.filter(run=run).count()


def assert_as_undisturbed(run: Run) -> None:
    """It is done, and what it found is what an analysis finds that nobody disturbs."""
    run.refresh_from_db()
    assert (run.state, run.error, run.stale_at) == (RunState.DONE, "", None)
    other = lifecycle.wait(start(run.study))
    assert run.inputs_digest == other.inputs_digest
    found = tables_of(run)
    assert len(found) > 10
    assert found == tables_of(other)


@pytest.mark.parametrize(
    "where", [pytest.param("computing", marks=pytest.mark.soak), pytest.param("storing", marks=pytest.mark.extended)]
)
def test_one_that_is_killed_leaves_nothing_half_and_is_taken_up_again(study: Study, where: str) -> None:
    run = start(study)
    process = python("-c", CHILD.format(dies=DIES[where], run=run.pk))
    _out, errors = process.communicate()
    assert process.returncode == -signal.SIGKILL, errors.decode()
    unit = run.units.get()
    assert unit.state == UnitState.CLAIMED, "it must have died at work"
    assert left_of(run) == (0, 0)
    sweep.sweep(now=timezone.now() + leases.lease_duration() + timedelta(seconds=1))
    lifecycle.wait(run)
    assert run.units.get().lost == 1
    assert_as_undisturbed(run)


def disturbed(monkeypatch: pytest.MonkeyPatch, disturb: Any) -> None:
    """Do something once, when an analysis has come to its third step."""
    real, steps = services.compute, []

    def compute(*given: Any, report: Any, **how: Any) -> Any:
        def reported(*progress: Any) -> None:
            steps.append(progress)
            if len(steps) == 3:
                disturb()
            report(*progress)

        return real(*given, report=reported, **how)

    monkeypatch.setattr(services, "compute", compute)
    monkeypatch.setattr(updating, "compute", compute)


@pytest.mark.extended
def test_one_that_is_cancelled_leaves_nothing_half_and_can_be_resumed(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start(study)
    disturbed(monkeypatch, lambda: lifecycle.cancel(run=run))
    assert worker.work_next(run)
    run.refresh_from_db()
    assert run.state == RunState.CANCELLED
    assert left_of(run) == (0, 0)
    lifecycle.resume(run=run)
    lifecycle.wait(run)
    assert_as_undisturbed(run)


@pytest.mark.parametrize("of_update", [False, pytest.param(True, marks=pytest.mark.extended)])
def test_an_erasure_while_one_is_at_work_leaves_nothing_of_what_was_erased(
    study: Study, monkeypatch: pytest.MonkeyPatch, of_update: bool
) -> None:
    gone = Participant.objects.get(study=study, external_id="w1")
    base = lifecycle.wait(start(study)) if of_update else start(study)
    run = updating.start(base) if of_update else base
    disturbed(monkeypatch, lambda: withdrawal.erase(participant=gone, now=timezone.now()))
    assert worker.work_next(run)
    assert left_of(run) == (0, 0), "it had read what was erased"
    run.refresh_from_db()
    if of_update:
        assert run.state == RunState.CANCELLED  # what it is of is stale: the next full analysis is asked for
    else:
        lifecycle.wait(run)  # it begins anew
        assert_as_undisturbed(run)
    assert_nothing_of("w1", base)


def assert_nothing_of(pseudonym: str, run: Run) -> None:
    for name, rows in tables_of(run).items():
        assert all(pseudonym not in row.values() for row in rows), name
    used = arrays.unpack(bytes(Snapshot.objects.get(run=run).payload))
    assert not used.written_by(pseudonym) & {used.responses[each.response].name for each in used.answers}
