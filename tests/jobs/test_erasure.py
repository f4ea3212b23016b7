"""An erasure that a participant asked for: a worker does it, it always ends, and the erased rows leave the tables."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from crowdrag.jobs import erasure, lifecycle, worker
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.enums import MessageKind
from crowdrag.studies.messages import services
from crowdrag.studies.models import Participant
from crowdrag.studies.participants import withdrawal
from tests.factories import ParticipantFactory, StudyFactory

NOW = timezone.now()
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def person() -> Participant:
    made = ParticipantFactory()
    services.ask(participant=made, kind=MessageKind.QUESTION, text="When am I paid?", now=NOW)
    return made


def requested(person: Participant) -> Run:
    withdrawal.request_erasure(participant=person, now=NOW)
    return Run.objects.get(kind=erasure.ERASURE)


def work_through(run: Run, *changed: Run | Participant) -> None:
    while worker.work_next(run):
        pass
    for row in (run, *changed):
        row.refresh_from_db()


def dead_rows(table: str) -> int:
    """What the storage of a table still holds of rows that are gone."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute("SELECT n_dead_tup FROM pg_stat_user_tables WHERE relname = %s", [table])
        return int(cursor.fetchone()[0])


def test_a_worker_erases_and_then_the_rows_leave_the_tables(person: Participant) -> None:
    run = requested(person)
    assert person.messages.exists()
    work_through(run, person)
    assert (run.state, person.erased_at is None, person.messages.exists()) == (RunState.DONE, False, False)
    vacuum = Run.objects.get(kind=erasure.VACUUM)
    assert dead_rows("studies_participantmessage") > 0
    work_through(vacuum)
    assert vacuum.state == RunState.DONE
    assert dead_rows("studies_participantmessage") == 0


@pytest.mark.parametrize("is_lost", [False, True])
def test_an_erasure_that_was_cancelled_or_lost_is_begun_again(person: Participant, is_lost: bool) -> None:
    run = requested(person)
    if is_lost:
        run.delete()
    else:
        lifecycle.cancel(run=run)
    erasure.restart_erasures(NOW + timedelta(minutes=1))
    (again,) = Run.objects.filter(kind=erasure.ERASURE).active()
    work_through(again, person)
    assert person.erased_at
    erasure.restart_erasures(NOW + timedelta(minutes=2))
    assert not Run.objects.filter(kind=erasure.ERASURE).active().exists()


@pytest.mark.parametrize("is_elsewhere", [True, False], ids=["in another study", "not asked for"])
def test_a_run_erases_nobody_of_another_study_and_nobody_who_did_not_ask(
    person: Participant, is_elsewhere: bool
) -> None:
    """Whatever its parameters say: an imported run's, for instance."""
    if is_elsewhere:
        Participant.objects.filter(pk=person.pk).update(erasure_requested_at=NOW)
    study = StudyFactory() if is_elsewhere else person.study
    run = lifecycle.start(study=study, kind=erasure.ERASURE, parameters={"participant": person.pk})
    work_through(run, person)
    assert (person.erased_at, person.messages.count()) == (None, 1)


def test_many_erasures_make_one_vacuum(person: Participant) -> None:
    withdrawal.erase(participant=person, now=NOW)
    withdrawal.erase(participant=ParticipantFactory(study=person.study), now=NOW)
    assert Run.objects.filter(kind=erasure.VACUUM).count() == 1


def test_an_open_transaction_that_may_read_erased_rows_is_waited_for(
    person: Participant, monkeypatch: pytest.MonkeyPatch
) -> None:
    withdrawal.erase(participant=person, now=NOW)
    monkeypatch.setattr(erasure, "WAIT", 1)
    reader = connection.copy()
    with reader.cursor() as cursor:
        cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        cursor.execute("SELECT count(*) FROM studies_participantmessage")
        vacuum = Run.objects.get(kind=erasure.VACUUM)
        assert worker.work_next(vacuum)
        unit = vacuum.units.get()
        assert "TimeoutError" in unit.error
        cursor.execute("ROLLBACK")
    reader.close()
    vacuum.units.update(due_at=NOW)
    assert worker.work_next(vacuum)
    vacuum.refresh_from_db()
    assert vacuum.state == RunState.DONE
