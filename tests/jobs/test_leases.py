"""Who holds a unit: any order of claims, losses, completions and cancellations leaves each effect at most once."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from crowdrag.jobs import completion, leases, lifecycle
from crowdrag.jobs.enums import OPEN, RunState, UnitState
from crowdrag.jobs.models import Run, Unit
from crowdrag.studies.models import Study
from tests.factories import NOW, StudyFactory

UNITS = 3


def plan(study: Study, units: int = UNITS, now: datetime = NOW) -> Run:
    return lifecycle.start(study=study, kind="test.tiny", parameters={"units": units}, now=now)


@pytest.mark.django_db
def test_a_claimer_that_is_stopped_right_after_does_not_wake_up_with_anothers_fence(study: Study) -> None:
    run = plan(study, units=1)

    def taken_over(execute, sql, params, many, context):
        if sql.startswith('UPDATE "jobs_run"'):  # the first thing after the claim's transaction
            with connection.cursor() as cursor:
                cursor.execute("UPDATE jobs_unit SET fence = fence + 1, worker = 'b'")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(taken_over):
        unit = leases.claim(worker="a", run=run, now=NOW)
    assert (unit.worker, unit.fence) == ("a", 1)
    with pytest.raises(leases.LeaseLostError):
        leases.complete(unit, effect=None)


@pytest.mark.django_db
def test_a_unit_that_makes_workers_vanish_fails_in_the_end(study: Study) -> None:
    run = plan(study, units=1)
    now, waits = NOW, []
    for _ in range(leases.MAX_LOST):
        assert leases.claim(worker="a", run=run, now=now)
        now += leases.lease_duration() + timedelta(seconds=1)
        leases.return_expired(now=now)
        unit = run.units.get()
        waits.append(unit.due_at - now)
        now = max(now, unit.due_at)
    assert waits[0] == timedelta(0)
    assert waits[:-1] == sorted(waits[:-1])
    assert unit.state == UnitState.FAILED
    assert str(leases.MAX_LOST) in unit.error


@pytest.mark.django_db
def test_a_queue_serves_its_runs_by_turns(study: Study) -> None:
    long, short = plan(study, units=200), plan(study, units=5)
    served = [leases.claim(worker="a", queue="default", now=NOW).run_id for _ in range(40)]
    assert served.count(short.pk) == 5, "a short run does not wait for a long one's end"
    assert served.count(long.pk) == 35
    assert leases.claim(worker="a", queue="gpu", now=NOW) is None


@pytest.mark.timeout(30)  # without SKIP LOCKED it would wait for ever
@pytest.mark.django_db(transaction=True)
def test_a_claim_passes_by_what_others_have_locked() -> None:
    run = plan(StudyFactory(), units=2)
    with elsewhere() as cursor:
        cursor.execute(f'SELECT 1 FROM "jobs_unit" WHERE run_id = {run.pk} AND position = 0 FOR UPDATE')
        assert leases.claim(worker="a", run=run).position == 1
        assert leases.claim(worker="a", run=run) is None
    assert leases.claim(worker="a", run=run).position == 0


@pytest.mark.django_db(transaction=True)
def test_neither_heartbeat_nor_sweep_waits_for_a_locked_unit() -> None:
    run = plan(StudyFactory(), units=1, now=timezone.now())
    unit = leases.claim(worker="a", run=run)
    with elsewhere() as cursor, connection.cursor() as own:
        cursor.execute(f'SELECT 1 FROM "jobs_unit" WHERE id = {unit.pk} FOR UPDATE')
        own.execute("SET lock_timeout = '2s'")
        try:
            assert leases.renew(unit, done=0, total=0, message="")
            assert leases.return_expired(now=timezone.now() + timedelta(hours=1)) == 0
        finally:
            own.execute("RESET lock_timeout")


@contextmanager
def elsewhere() -> Iterator[object]:
    """A transaction on a connection of its own, rolled back in the end."""
    other = connection.copy()
    try:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            yield cursor
        other.rollback()
    finally:
        other.close()


class Claims(RuleBasedStateMachine):
    """Workers claim, renew, complete, fail and vanish; somebody cancels and resumes. A plain model keeps the books."""

    def __init__(self) -> None:
        super().__init__()
        self.transaction = transaction.atomic()
        self.transaction.__enter__()
        self.now = NOW
        self.run = plan(StudyFactory())
        self.claims: list[Unit] = []
        self.holder: dict[int, int] = {}  # unit -> fence of the claim that holds it
        self.lease: dict[int, datetime] = {}
        self.done: set[int] = set()
        self.effects: list[int] = []

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.transaction.__exit__(None, None, None)

    def holds(self, unit: Unit) -> bool:
        return self.holder.get(unit.pk) == unit.fence

    @rule(seconds=st.sampled_from([1, 5, 30, 400]))
    def time_passes(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule()
    def claim(self) -> None:
        unit = leases.claim(worker="w", run=self.run, now=self.now)
        if unit is None:
            due = Unit.objects.filter(run=self.run, state=UnitState.PENDING, due_at__lte=self.now)
            assert not (self.active() and due.exists())
            return
        assert unit.pk not in self.holder
        assert unit.pk not in self.done
        assert unit.fence > max((c.fence for c in self.claims if c.pk == unit.pk), default=0)
        self.claims.append(unit)
        self.holder[unit.pk] = unit.fence
        self.lease[unit.pk] = self.now + leases.lease_duration()

    @precondition(lambda self: self.claims)
    @rule(data=st.data())
    def renew(self, data: st.DataObject) -> None:
        unit = data.draw(st.sampled_from(self.claims))
        assert leases.renew(unit, done=1, total=2, message="", now=self.now) == self.holds(unit)
        if self.holds(unit):
            self.lease[unit.pk] = self.now + leases.lease_duration()

    @precondition(lambda self: self.claims)
    @rule(data=st.data())
    def complete(self, data: st.DataObject) -> None:
        unit = data.draw(st.sampled_from(self.claims))
        before = list(self.effects)
        try:
            leases.complete(unit, effect=lambda: self.effects.append(unit.pk), now=self.now)
        except leases.LeaseLostError:
            assert not self.holds(unit)
            self.effects = before  # the transaction took it back
        else:
            assert self.holds(unit)
            del self.holder[unit.pk]
            self.done.add(unit.pk)
        completion.conclude(self.run.pk, now=self.now)

    @precondition(lambda self: self.claims)
    @rule(data=st.data(), ending=st.sampled_from([leases.fail, leases.give_back]))
    def end_otherwise(self, data: st.DataObject, ending) -> None:
        unit = data.draw(st.sampled_from(self.claims))
        ending(unit, now=self.now, **({"error": "x"} if ending is leases.fail else {}))
        if self.holds(unit):
            del self.holder[unit.pk]
        completion.conclude(self.run.pk, now=self.now)

    @rule()
    def sweep(self) -> None:
        expired = {pk for pk in self.holder if self.lease[pk] < self.now}
        assert leases.return_expired(now=self.now) == len(expired)
        for pk in expired:
            del self.holder[pk]
        completion.conclude(self.run.pk, now=self.now)

    @rule()
    def cancel(self) -> None:
        if self.active():
            lifecycle.cancel(run=self.run, now=self.now)
            self.holder.clear()

    @rule()
    def resume(self) -> None:
        if Run.objects.get(pk=self.run.pk).state in {RunState.FAILED, RunState.CANCELLED}:
            lifecycle.resume(run=self.run, now=self.now)

    def active(self) -> bool:
        return Run.objects.get(pk=self.run.pk).is_active

    @invariant()
    def books_and_database_agree(self) -> None:
        units = {unit.pk: unit for unit in Unit.objects.filter(run=self.run)}
        assert {pk: unit.fence for pk, unit in units.items() if unit.state == UnitState.CLAIMED} == self.holder
        assert {pk for pk, unit in units.items() if unit.state == UnitState.DONE} == self.done
        assert sorted(self.effects) == sorted(self.done)
        run = Run.objects.get(pk=self.run.pk)
        if run.state == RunState.DONE:
            assert self.done == set(units)
        if not run.is_active:
            assert not any(unit.state in OPEN for unit in units.values())


@pytest.mark.parametrize(
    ("examples", "steps"),
    [
        (5, 25),
        pytest.param(40, 25, marks=pytest.mark.extended),
        pytest.param(5000, 50, marks=[pytest.mark.soak, pytest.mark.timeout(7200)]),
    ],
)
@pytest.mark.django_db
def test_any_order_of_events_keeps_each_effect_at_most_once(examples: int, steps: int) -> None:
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large]
    chosen = settings(max_examples=examples, stateful_step_count=steps, deadline=None, suppress_health_check=checks)
    run_state_machine_as_test(Claims, settings=chosen)


@pytest.mark.django_db
def test_background_runs_come_after_all_others_of_their_queue(study: Study) -> None:
    background, other = plan(study, units=2), plan(study, units=1)
    lifecycle.move_to_background(background)
    first = leases.claim(worker="a", queue=background.queue, now=NOW)
    assert first is not None
    assert first.run_id == other.pk
    assert leases.claim(worker="b", queue=background.queue, now=NOW) is None
    assert (leases.makes_way(background, now=NOW), leases.makes_way(other, now=NOW)) == (True, False)
    leases.complete(first, effect=None, now=NOW)
    last = leases.claim(worker="a", queue=background.queue, now=NOW)
    assert last is not None
    assert last.run_id == background.pk
    assert not leases.makes_way(background, now=NOW)
