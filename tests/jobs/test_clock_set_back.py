"""The clock was ahead by a day, and was set back: what it wrote meanwhile holds nothing up until tomorrow."""

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from crowdrag.api import rate_limits
from crowdrag.jobs import leases, lifecycle, schedules, sweep
from crowdrag.jobs.enums import UnitState
from crowdrag.jobs.models import Unit
from crowdrag.llm import attempts
from crowdrag.llm.models import Call, Endpoint
from crowdrag.llm.requests import Request, prepare
from crowdrag.llm.retry_policy import RetryPolicy
from crowdrag.recruitment import webhooks
from crowdrag.recruitment.models import PlatformEvent
from tests.factories import NOW, StudyFactory, UserFactory

pytestmark = pytest.mark.django_db
AHEAD = NOW + timedelta(days=1)
MINUTE = timedelta(minutes=1)


@pytest.fixture(autouse=True)
def _no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowdrag.jobs.tasks.wake", lambda **_: None)
    monkeypatch.setattr("crowdrag.jobs.tasks.top_up", lambda **_: True)


def test_a_scheduled_task_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedules, "_schedules", {})
    done: list[datetime] = []
    schedules.register("test", done.append, MINUTE)
    # A clock that differs by less than the interval changes nothing.
    for now in (AHEAD, NOW, NOW - MINUTE / 2, NOW + MINUTE):
        schedules.run_due(now=now)
    assert done == [AHEAD, NOW, NOW + MINUTE]


def test_a_unit_whose_worker_is_gone_is_worked_on_again() -> None:
    run = lifecycle.start(study=StudyFactory(), kind="test.tiny", parameters={"units": 1}, now=NOW)
    assert leases.claim(worker="gone", run=run, now=AHEAD)
    sweep.sweep(now=NOW)
    assert leases.claim(worker="other", run=run, now=NOW)
    # Another machine's clock may differ a little.
    unit = run.units.get()
    Unit.objects.update(lease_until=unit.lease_until + MINUTE / 2)
    assert leases.return_expired(now=NOW) == 0


@pytest.mark.django_db(transaction=True)
def test_a_unit_that_was_started_then_is_due() -> None:
    run = lifecycle.start(study=StudyFactory(), kind="test.tiny", parameters={"units": 1}, now=AHEAD)
    assert leases.claim(worker="a", run=run, now=NOW) is None
    sweep.sweep(now=NOW)
    assert leases.claim(worker="a", run=run, now=NOW)


def test_a_unit_that_waits_after_a_failure_goes_on_waiting() -> None:
    run = lifecycle.start(study=StudyFactory(), kind="test.tiny", parameters={"units": 1}, now=NOW)
    Unit.objects.update(due_at=NOW + leases.BACKOFF.waits[-1])
    assert leases.correct_due_times(now=NOW) == 0
    assert run.units.get().state == UnitState.PENDING


def test_a_delivery_whose_worker_is_gone_is_made_again() -> None:
    PlatformEvent.objects.create(event_id="a", kind="x", resource_id="x", sent_at=NOW, received_at=NOW, due_at=NOW)
    assert webhooks.QUEUE.claim(AHEAD)
    assert webhooks.QUEUE.claim(NOW)
    assert webhooks.QUEUE.claim(NOW) is None


def test_a_script_is_not_told_to_wait(settings: Any) -> None:
    user, settings.API_PER_MINUTE, settings.API_AT_ONCE = UserFactory(), 60, 2
    assert _passes(user, AHEAD) == [True, True, False]
    assert _passes(user, NOW) == [True, True, False]


def _passes(user: Any, now: datetime) -> list[bool]:
    found = [rate_limits.take(user=user, now=now) for _ in range(3)]
    return [status is not None and status.passes for status in found]


def test_a_call_whose_process_is_gone_is_made_by_another_and_takes_no_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    study = StudyFactory()
    endpoint = Endpoint.objects.create(
        name="e", base_url="http://127.0.0.1:9/v1", model="m", is_local=True, is_allowed=True, concurrency=2,
        paused_until=AHEAD,
    )  # fmt: skip
    question = prepare(endpoint=endpoint, request=Request(messages=[{"role": "user", "content": "Well?"}]))

    def context() -> attempts.CallContext:
        return attempts.CallContext(uuid4(), endpoint, study, "test", RetryPolicy())

    def begin(now: datetime) -> attempts.Begun:
        monkeypatch.setattr(timezone, "now", lambda: now)
        return attempts.begin(context=context(), questions=[question])

    assert begin(AHEAD + MINUTE).started
    assert begin(AHEAD + MINUTE).held
    monkeypatch.setattr(timezone, "now", lambda: NOW)
    assert attempts.free_slots(context(), NOW)[0] > 0
    assert begin(NOW).started
    assert Call.objects.get().fence == 2
