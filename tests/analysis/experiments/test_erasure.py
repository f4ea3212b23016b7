"""Somebody whose responses an experiment used has them erased: nothing of them stays in what it found."""

import pytest
from django.utils import timezone

from analysis.experiments import services
from analysis.models import CachedOutput, ResultTable, UnitResult
from crowdrag.jobs import lifecycle, worker
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Participant
from crowdrag.studies.participants import withdrawal
from tests.analysis.experiments import planted
from tests.analysis.experiments.test_frame import order, run_it
from tests.factories import ParticipantFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_broker")]


def erase(who: Participant) -> None:
    withdrawal.erase(participant=who, now=timezone.now())


def test_a_finished_one_is_stale_and_keeps_tables_alone(experiment, study, endpoint):
    run = run_it(experiment, study)
    rows = ResultTable.objects.get(run=run).rows
    assert UnitResult.objects.filter(run=run).exists()
    erase(Participant.objects.get(study=study))
    run.refresh_from_db()
    assert (run.state, bool(run.stale_at)) == (RunState.DONE, True)
    assert not UnitResult.objects.filter(run=run).exists()
    assert not CachedOutput.objects.filter(study=study).exists()
    assert ResultTable.objects.get(run=run).rows == rows, "means over questions name nobody"


def test_rows_that_name_a_response_or_its_writer_go(experiment, study, endpoint):
    run = run_it(experiment, study)
    who = Participant.objects.get(study=study)
    ResultTable.objects.create(
        run=run, name="of_texts", rows=[{"document": "r1"}, {"writer": who.external_id}, {"n": 3}]
    )
    # Tables of texts that do not say whose they are are emptied.
    names = ("fair_examples", "self_preference_examples", "uplift_answers", "uplift_examples")
    for name in names:
        ResultTable.objects.create(
            run=run, name=name, rows=[{"answer": "what r1 said, in other words", "author": "human"}]
        )
    erase(who)
    assert ResultTable.objects.get(run=run, name="of_texts").rows == [{"n": 3}]
    assert list(ResultTable.objects.filter(run=run, name__in=names).values_list("rows", flat=True)) == [[]] * 4


@pytest.mark.extended
def test_one_at_work_ends_and_cannot_go_on_with_what_a_worker_still_remembers(experiment, study, endpoint):
    run = services.start(order(experiment, study))
    assert worker.work_next(run)
    erase(Participant.objects.get(study=study))
    run.refresh_from_db()
    assert run.state == RunState.CANCELLED
    run = lifecycle.wait(lifecycle.resume(run=run))
    assert run.state == RunState.FAILED
    assert not UnitResult.objects.filter(run=run).exists()


@pytest.mark.extended
def test_a_unit_that_had_read_it_keeps_nothing(experiment, study, endpoint):
    run = services.start(order(experiment, study))
    who = Participant.objects.get(study=study)
    seen = []

    def answer_and_be_disturbed(job):
        answers = planted.answer(job)
        if not seen:
            seen.append(job)
            erase(who)
        return answers

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(experiment.stages[0].__dict__, "work", answer_and_be_disturbed)
        assert worker.work_next(run)
    assert seen
    assert not UnitResult.objects.filter(run=run).exists()


@pytest.mark.extended
def test_who_only_judged_changes_nothing_and_nobody_does_in_a_run_on_a_file(experiment, study, endpoint):
    run = run_it(experiment, study)
    erase(ParticipantFactory(study=study))
    run.refresh_from_db()
    assert run.stale_at is None
    Run.objects.filter(pk=run.pk).update(parameters=run.parameters | {"collection": {"source": "qa", "upload": 1}})
    erase(Participant.objects.get(study=study, erased_at=None))
    run.refresh_from_db()
    assert run.stale_at is None
    assert UnitResult.objects.filter(run=run).exists()
