"""Processes that are killed in mid-call, and processes that ask the same at once."""

import os
import random
import signal
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.db import connection

from crowdrag.llm import ledger
from crowdrag.llm.enums import AttemptState, CallState
from crowdrag.llm.models import Attempt, Call

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.extended]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def start():
    """Start processes that ask, on the test's own database; whatever is left is killed."""
    name = connection.settings_dict["NAME"]
    url = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl()
    path = f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"
    settings = "tests.llm.small_settings"
    env = {**os.environ, "DATABASE_URL": url, "PYTHONPATH": path, "DJANGO_SETTINGS_MODULE": settings}
    started = []

    def _start(*texts, lease=15.0):
        command = [sys.executable, "-m", "tests.llm.calling_process", str(lease), *texts]
        process = subprocess.Popen(
            command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        started.append(process)
        return process

    yield _start
    for process in started:
        process.kill()
        process.communicate()


def until(condition, seconds=90):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.01)


def allow(endpoint, concurrency):
    endpoint.concurrency = concurrency
    endpoint.save()


def check_books(study, server):
    """Every request that arrived has its attempt; the ledger is never below the bill."""
    assert Attempt.objects.count() >= len(server.seen)
    booked, counter = ledger.audit(study=study)
    assert booked == counter
    assert sum(booked) >= Decimal(str(server.bill(1000, 2000)))
    return booked


@pytest.mark.parametrize(
    ("kills", "calls"), [(5, 60), pytest.param(100, 4000, marks=[pytest.mark.soak, pytest.mark.timeout(7200)])]
)
def test_killed_again_and_again_nothing_is_lost_stored_twice_or_unpaid(study, paid, ask, server, start, kills, calls):
    allow(paid, 8)
    texts = [f"slow:0.02 {n}" for n in range(calls)]
    rng = random.Random(5)
    for _kill in range(kills):
        process = start(*texts, lease=0.5)
        before = len(server.seen)
        until(lambda before=before, process=process: len(server.seen) > before or process.poll() is not None)
        time.sleep(rng.uniform(0, 0.12 if calls < 1000 else 1.0))
        process.send_signal(signal.SIGKILL)
        process.wait()
        check_books(study, server)
    answers = ask(*texts)
    assert [answer.text for answer in answers] == ["late"] * calls
    assert Call.objects.filter(state=CallState.ANSWERED).count() == Call.objects.count() == calls
    assert not Attempt.objects.filter(state=AttemptState.INTENDED).exists()
    lost = list(Attempt.objects.unsettled())
    assert len(server.seen) <= calls + len(lost)
    assert {(each.state, each.fault, each.cost == each.bound > 0) for each in lost} <= {
        (AttemptState.UNKNOWN, "LOST", True)
    }
    check_books(study, server)


def test_two_processes_that_ask_the_same_send_it_once(study, endpoint, ask, server, start):
    texts = [f"slow:0.2 {n}" for n in range(6)]
    processes = [start(*texts), start(*texts)]
    for process in processes:
        out, err = process.communicate(timeout=90)
        assert process.returncode == 0, err
        assert out.count("late") == 6
    assert len(server.seen) == 6
    assert Attempt.objects.count() == 6


def test_whoever_waits_takes_over_when_the_other_is_killed(study, endpoint, server, start):
    first = start("slow:8,slow:0.1 same", lease=3.0)
    until(lambda: len(server.seen) == 1)
    second = start("slow:8,slow:0.1 same", lease=3.0)
    time.sleep(1.0)
    first.kill()
    out, err = second.communicate(timeout=90)
    assert second.returncode == 0, err
    assert out.split()[1:] == ["late", "False"]
    assert len(server.seen) == 2
    assert {attempt.state for attempt in Attempt.objects.all()} == {AttemptState.UNKNOWN, AttemptState.ANSWERED}


def test_an_interrupt_ends_a_process_without_waiting_for_what_is_in_flight(study, paid, server, start):
    paid.timeout = 60
    paid.save()
    process = start(*[f"slow:40 {n}" for n in range(30)])
    until(lambda: len(server.seen) == paid.concurrency)
    process.send_signal(signal.SIGINT)
    _out, err = process.communicate(timeout=38)
    assert process.returncode != 0
    assert "KeyboardInterrupt" in err
    assert len(server.seen) == paid.concurrency
    booked = check_books(study, server)
    assert booked.held == sum(attempt.bound for attempt in Attempt.objects.all())
