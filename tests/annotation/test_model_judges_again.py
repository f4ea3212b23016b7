"""Models as judges: ordered again, at once, cancelled, lost and out of money, each question is judged once."""

import threading
import time
from decimal import Decimal
from functools import partial

import pytest
from django.utils import timezone

from annotation.domain.judging_models import campaigns, judging, orders
from annotation.models import Assignment, Campaign, JudgingAnswer, Judgment
from crowdrag.llm.domain import forecasts, gateway, ledger
from crowdrag.runs.domain import running
from crowdrag.runs.enums import RunState
from crowdrag.runs.kinds import Cancelled, Work
from crowdrag.runs.models import Run
from tests.annotation import asked_again
from tests.annotation.judge_fixtures import endpoint, server, source, without_waiting
from tests.annotation.judge_server import judging as served

__all__ = ["endpoint", "server", "source", "without_waiting"]

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_same_order_again_asks_nothing_and_a_larger_one_only_what_is_missing(source, endpoint, server):
    asked_again.pair(source)
    asked_again.judge(source, endpoint)
    again = asked_again.judge(source, endpoint)
    assert again.units.count() == 0
    assert again.state == RunState.DONE
    asked_again.pair(source)
    asked_again.judge(source, endpoint)
    assert len(server.seen) == 4
    assert Judgment.objects.count() == JudgingAnswer.objects.count() * 2 == 8
    assert Campaign.objects.filter(source=source).count() == 1


def test_two_runs_at_once_double_nothing(source):
    with served(latency=0.05) as server:
        endpoint = asked_again.endpoint(server)
        for _pair in range(10):
            asked_again.pair(source)
        order = asked_again.order(source, endpoint)
        runs = [judging.start(study=source.study, order=order) for _run in range(2)]
        threads = [threading.Thread(target=_waited, args=(run,)) for run in runs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for run in runs:
        run.refresh_from_db()
        assert run.state == RunState.DONE, run.error
    assert len(server.seen) == 20
    assert Judgment.objects.count() == 40
    assert JudgingAnswer.objects.count() == 20
    assert Assignment.objects.count() == 1


def test_two_that_are_ordered_at_once_make_one_campaign(source, endpoint, monkeypatch):
    asked_again.pair(source)
    order = asked_again.order(source, endpoint)
    # The judge is known from elsewhere: making it would keep the two apart as well.
    order.judge().participant(study=source.study, now=timezone.now())
    make = campaigns._make

    def slowly(*given):
        made = make(*given)
        time.sleep(0.5)
        return made

    monkeypatch.setattr(campaigns, "_make", slowly)
    failed = []
    threads = [threading.Thread(target=_started, args=(source.study, order, failed)) for _thread in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert Campaign.objects.filter(source=source).count() == 1
    assert Run.objects.count() == 2
    assert len(asked_again.items(source)) == 2


def _started(study, order, failed):
    from django.db import connection

    try:
        judging.start(study=study, order=order)
    except Exception as error:  # noqa: BLE001 - for the test to see
        failed.append(error)
    finally:
        connection.close()


def _waited(run):
    from django.db import connection

    try:
        running.wait(run)
    finally:
        connection.close()


def test_cancelled_in_the_middle_what_came_stays_and_resuming_asks_only_for_the_rest(
    source, endpoint, server, monkeypatch
):
    monkeypatch.setattr(judging, "BATCH", 3)
    for _pair in range(6):
        asked_again.pair(source)
    run = judging.start(study=source.study, order=asked_again.order(source, endpoint))
    from crowdrag.runs.domain import claiming

    unit = claiming.claim(worker="w", run=run)
    assert unit is not None

    def report(done, _total, _message):
        if done == 7:
            running.cancel(run=run)
        if done >= 8:
            raise Cancelled

    with pytest.raises(Cancelled):
        judging.work(Work(unit.run, unit, report, partial(claiming.keep, unit)))
    kept = JudgingAnswer.objects.count()
    assert kept == 6
    asked = len(server.seen)
    run = running.wait(running.resume(run=run))
    assert run.state == RunState.DONE, run.error
    assert len(server.seen) == 12 >= asked
    assert Judgment.objects.count() == 24


def test_nothing_of_a_unit_is_kept_on_the_way_once_the_run_is_cancelled(source, endpoint, server, monkeypatch):
    """The guard of `Work.keep`: without its look at the claim this stores what it must not."""
    from crowdrag.runs.domain import claiming

    monkeypatch.setattr(judging, "BATCH", 1)
    asked_again.pair(source)
    run = judging.start(study=source.study, order=asked_again.order(source, endpoint))
    unit = claiming.claim(worker="w", run=run)
    running.cancel(run=run)
    with pytest.raises(claiming.LeaseLost):
        judging.work(Work(unit.run, unit, lambda *_said: None, partial(claiming.keep, unit)))
    assert not Judgment.objects.exists()
    assert not JudgingAnswer.objects.exists()


def test_a_server_that_fails_for_now_fails_the_unit_and_keeps_what_came(source, endpoint, server, monkeypatch):
    asked_again.pair(source)
    real = gateway.complete_many

    def one_lost(**asked):
        answers = real(**{**asked, "on_answer": None})
        from dataclasses import replace

        answers[1] = replace(answers[1], fault="TIMEOUT", error="too late")
        for answer in answers:
            asked["on_answer"](answer)
        return answers

    monkeypatch.setattr(gateway, "complete_many", one_lost)
    run = judging.start(study=source.study, order=asked_again.order(source, endpoint))
    with pytest.raises(forecasts.UnansweredError):
        judging.work(Work(run, run.units.get()))
    assert JudgingAnswer.objects.count() == 1


def test_the_budget_is_estimated_and_held(source, endpoint, server):
    endpoint.input_price = endpoint.output_price = Decimal(1_000_000)
    endpoint.concurrency = 1
    endpoint.save()
    for _pair in range(3):
        asked_again.pair(source)
    order = asked_again.order(source, endpoint)
    assert "no budget" in orders.forecast(study=source.study, order=order).problem
    source.study.llm_budget = 1
    source.study.save()
    forecast = orders.forecast(study=source.study, order=order)
    assert (forecast.wanted, forecast.estimate.requests, forecast.is_over_budget) == (6, 6, True)
    source.study.llm_budget = int(forecast.estimate.cost / 6) + 40  # each answer costs 15 in the end
    source.study.save()
    run = asked_again.judge(source, endpoint)
    assert run.state == RunState.FAILED
    assert "budget" in str(run.problems[0]["message"]).lower()
    before = len(server.seen)
    assert 0 < before < 6
    assert JudgingAnswer.objects.count() == before
    booked, counter = ledger.audit(study=source.study)
    assert booked == counter
    source.study.llm_budget = 10_000_000
    source.study.save()
    run = running.wait(running.resume(run=run))
    assert run.state == RunState.DONE, run.error
    assert len(server.seen) == 6
    assert Judgment.objects.count() == 12


def test_a_large_order_is_reckoned_from_a_sample(source, endpoint, monkeypatch):
    for _pair in range(10):
        asked_again.pair(source)
    order = asked_again.order(source, endpoint)
    whole = orders.forecast(study=source.study, order=order)
    monkeypatch.setattr(orders, "RECKONED", 5)
    some = orders.forecast(study=source.study, order=order)
    assert (whole.sampled, some.sampled) == (None, 5)
    assert (some.wanted, some.estimate.requests) == (20, 20)
    assert some.estimate.prompt_tokens == pytest.approx(whole.estimate.prompt_tokens, rel=0.01)
