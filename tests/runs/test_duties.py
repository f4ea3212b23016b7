"""What must be done from time to time is done once, however many sweeps there are, and whatever fails."""

import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

import pytest
from django.db import OperationalError, connection, transaction

from crowdrag.runs import duties
from crowdrag.runs.domain import attending, sweeping
from crowdrag.runs.models import Duty
from tests.factories import NOW

from .conftest import Broker

MINUTE = timedelta(minutes=1)


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., duties.Duty]]:
    """No duties but the test's own."""
    monkeypatch.setattr(duties, "_duties", {})
    return duties.register


@pytest.mark.django_db
def test_a_duty_is_done_when_its_time_has_passed(register) -> None:
    done: list[datetime] = []
    register("test", done.append, MINUTE)
    late = NOW + MINUTE
    for now in (NOW, NOW, NOW + MINUTE / 2, late, late):
        attending.do_due(now=now)
    assert done == [NOW, late]


@pytest.mark.django_db
def test_one_that_fails_keeps_nobody_from_the_others_and_is_due_again(register, caplog) -> None:
    done: list[datetime] = []
    register("broken", lambda now: 1 / 0, MINUTE)
    register("fine", done.append, MINUTE)
    assert attending.do_due(now=NOW) == ["fine"]
    assert "The duty broken failed" in caplog.text
    caplog.clear()
    assert attending.do_due(now=NOW + MINUTE) == ["fine"]
    assert "The duty broken failed" in caplog.text


@pytest.mark.django_db
def test_a_database_that_is_away_is_the_sweeps_to_wait_for(register) -> None:
    def away(now: datetime) -> None:
        raise OperationalError

    register("test", away, MINUTE)
    with pytest.raises(OperationalError):
        attending.do_due(now=NOW)


@pytest.mark.django_db
def test_two_apps_cannot_use_one_name(register) -> None:
    register("test", print, MINUTE)
    register("test", print, MINUTE)
    with pytest.raises(ValueError, match="a duty called 'test' already"):
        register("test", repr, MINUTE)


@pytest.mark.django_db
def test_the_sweep_does_what_is_due(register, broker: Broker) -> None:
    register("test", lambda now: None, MINUTE)
    assert sweeping.sweep(now=NOW).duties == ["test"]
    assert sweeping.sweep(now=NOW).duties == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("known", [False, True])
def test_of_many_sweeps_at_once_one_does_it(register, known: bool) -> None:
    done: list[datetime] = []
    register("test", done.append, MINUTE)
    if known:
        Duty.objects.create(name="test", at=NOW - timedelta(days=1))
    start = threading.Barrier(10)

    def sweep() -> None:
        try:
            start.wait()
            attending.do_due(now=NOW)
        finally:
            connection.close()

    threads = [threading.Thread(target=sweep) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done == [NOW]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("known", [False, True])
def test_a_duty_that_another_sweep_is_taking_on_is_not_done_twice(register, known: bool) -> None:
    duty = register("test", print, MINUTE)
    if known:
        Duty.objects.create(name="test", at=NOW - timedelta(days=1))
    taken, end = threading.Event(), threading.Event()
    answers: dict[str, bool] = {}

    def first() -> None:
        try:
            with transaction.atomic():
                answers["first"] = attending.take_on(duty, NOW)
                taken.set()
                end.wait(30)
        finally:
            connection.close()

    def second() -> None:
        try:
            answers["second"] = attending.take_on(duty, NOW)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for work in (first, second)]
    threads[0].start()
    assert taken.wait(10)
    threads[1].start()
    threads[1].join(0.7)
    waited = threads[1].is_alive()
    end.set()
    for thread in threads:
        thread.join()
    assert waited, "what the first one does is not known before it has committed"
    assert answers == {"first": True, "second": False}
