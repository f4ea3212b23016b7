"""What must be done from time to time is done once, however many sweeps there are, and whatever fails."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial

import pytest
from django.db import OperationalError

from crowdrag.jobs import schedules, sweep
from crowdrag.jobs.models import ScheduledTask
from tests.concurrency import meanwhile, together, uncommitted
from tests.factories import NOW
from tests.jobs.conftest import Broker

MINUTE = timedelta(minutes=1)


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., schedules.Schedule]]:
    """No schedules but the test's own."""
    monkeypatch.setattr(schedules, "_schedules", {})
    return schedules.register


@pytest.mark.django_db
def test_a_duty_is_done_when_its_time_has_passed(register) -> None:
    done: list[datetime] = []
    register("test", done.append, MINUTE)
    late = NOW + MINUTE
    for now in (NOW, NOW, NOW + MINUTE / 2, late, late):
        schedules.run_due(now=now)
    assert done == [NOW, late]


@pytest.mark.django_db
def test_one_that_fails_keeps_nobody_from_the_others_and_is_due_again(register, caplog) -> None:
    done: list[datetime] = []
    register("broken", lambda now: 1 / 0, MINUTE)
    register("fine", done.append, MINUTE)
    assert schedules.run_due(now=NOW) == ["fine"]
    assert "broken" in caplog.text
    caplog.clear()
    assert schedules.run_due(now=NOW + MINUTE) == ["fine"]
    assert "broken" in caplog.text


@pytest.mark.django_db
def test_a_database_that_is_away_is_the_sweeps_to_wait_for(register) -> None:
    def away(now: datetime) -> None:
        raise OperationalError

    register("test", away, MINUTE)
    with pytest.raises(OperationalError):
        schedules.run_due(now=NOW)


@pytest.mark.django_db
def test_two_apps_cannot_use_one_name(register) -> None:
    register("test", print, MINUTE)
    register("test", print, MINUTE)
    with pytest.raises(ValueError, match="test"):
        register("test", repr, MINUTE)


@pytest.mark.django_db
def test_the_sweep_does_what_is_due(register, broker: Broker) -> None:
    register("test", lambda now: None, MINUTE)
    assert sweep.sweep(now=NOW).scheduled == ["test"]
    assert sweep.sweep(now=NOW).scheduled == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("known", [False, True])
def test_of_many_sweeps_at_once_one_does_it(register, known: bool) -> None:
    done: list[datetime] = []
    register("test", done.append, MINUTE)
    if known:
        ScheduledTask.objects.create(name="test", at=NOW - timedelta(days=1))
    together([lambda: schedules.run_due(now=NOW)] * 10)
    assert done == [NOW]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("known", [False, True])
def test_a_duty_that_another_sweep_is_taking_on_is_not_done_twice(register, known: bool) -> None:
    duty = register("test", print, MINUTE)
    if known:
        ScheduledTask.objects.create(name="test", at=NOW - timedelta(days=1))
    answers: list[bool] = []
    take = partial(schedules.take, duty, NOW)
    with uncommitted(lambda: answers.append(take())) as end, meanwhile(lambda: answers.append(take())) as second:
        second.join(0.7)
        assert second.is_alive(), "what the first one does is not known before it has committed"
        end.set()
    assert answers == [True, False]
