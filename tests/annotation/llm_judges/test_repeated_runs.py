"""Models as judges: ordered again, at once, cancelled, lost and out of money, each question is judged once."""

import time
from dataclasses import replace
from decimal import Decimal
from functools import partial

import pytest
from django.utils import timezone

from annotation.llm_judges import judge_run, llm_campaigns, run_orders
from annotation.models import Assignment, Campaign, JudgingAnswer, Judgment
from crowdrag.jobs import leases, lifecycle
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.kinds import RunCancelledError, Work
from crowdrag.jobs.models import Run
from crowdrag.llm import forecasts, gateway, ledger
from tests.annotation.llm_judges import source_campaign
from tests.annotation.llm_judges.judge_fixtures import endpoint, server, source, without_waiting
from tests.annotation.llm_judges.judge_server import judging as served
from tests.concurrency import together

__all__ = ["endpoint", "server", "source", "without_waiting"]

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_same_order_again_asks_nothing_and_a_larger_one_only_what_is_missing(source, endpoint, server):
    source_campaign.pair(source)
    source_campaign.judge(source, endpoint)
    again = source_campaign.judge(source, endpoint)
    assert again.units.count() == 0
    assert again.state == RunState.DONE
    source_campaign.pair(source)
    source_campaign.judge(source, endpoint)
    assert len(server.seen) == 4
    assert Judgment.objects.count() == JudgingAnswer.objects.count() * 2 == 8
    assert Campaign.objects.filter(source=source).count() == 1


@pytest.mark.extended
def test_two_runs_at_once_double_nothing(source):
    with served(latency=0.05) as server:
        endpoint = source_campaign.endpoint(server)
        for _pair in range(10):
            source_campaign.pair(source)
        order = source_campaign.order(source, endpoint)
        runs = [judge_run.start(study=source.study, order=order) for _run in range(2)]
        finished = together([lambda run=run: lifecycle.wait(run) for run in runs])
    assert [run.state for run in finished] == [RunState.DONE] * 2
    assert len(server.seen) == 20
    assert (Judgment.objects.count(), JudgingAnswer.objects.count(), Assignment.objects.count()) == (40, 20, 1)


def test_two_that_are_ordered_at_once_make_one_campaign(source, endpoint, monkeypatch):
    source_campaign.pair(source)
    order = source_campaign.order(source, endpoint)
    # The judge is known from elsewhere: making it would keep the two apart as well.
    order.judge().participant(study=source.study, now=timezone.now())
    make = llm_campaigns._make

    def slowly(*given):
        made = make(*given)
        time.sleep(0.5)
        return made

    monkeypatch.setattr(llm_campaigns, "_make", slowly)
    together([lambda: judge_run.start(study=source.study, order=order)] * 2)
    assert (Campaign.objects.filter(source=source).count(), Run.objects.count()) == (1, 2)
    assert len(source_campaign.items(source)) == 2


@pytest.mark.extended
def test_cancelled_in_the_middle_what_came_stays_and_resuming_asks_only_for_the_rest(
    source, endpoint, server, monkeypatch
):
    monkeypatch.setattr(judge_run, "BATCH", 3)
    for _pair in range(6):
        source_campaign.pair(source)
    run = judge_run.start(study=source.study, order=source_campaign.order(source, endpoint))
    unit = leases.claim(worker="w", run=run)

    def report(done, _total, _message):
        if done == 7:
            lifecycle.cancel(run=run)
        if done >= 8:
            raise RunCancelledError

    with pytest.raises(RunCancelledError):
        judge_run.work(Work(unit.run, unit, report, partial(leases.apply_part, unit)))
    assert JudgingAnswer.objects.count() == 6
    asked = len(server.seen)
    with pytest.raises(leases.LeaseLostError):  # nothing of a unit is kept once its run is cancelled
        judge_run.work(Work(unit.run, unit, lambda *_given: None, partial(leases.apply_part, unit)))
    assert JudgingAnswer.objects.count() == 6
    run = lifecycle.wait(lifecycle.resume(run=run))
    assert run.state == RunState.DONE, run.error
    assert len(server.seen) == 12 >= asked
    assert Judgment.objects.count() == 24


def test_a_server_that_fails_for_now_fails_the_unit_and_keeps_what_came(source, endpoint, server, monkeypatch):
    source_campaign.pair(source)
    real = gateway.complete_many

    def one_lost(**asked):
        answers = real(**{**asked, "on_answer": None})
        answers[1] = replace(answers[1], fault="TIMEOUT", error="too late")
        for answer in answers:
            asked["on_answer"](answer)
        return answers

    monkeypatch.setattr(gateway, "complete_many", one_lost)
    run = judge_run.start(study=source.study, order=source_campaign.order(source, endpoint))
    with pytest.raises(forecasts.UnansweredError):
        judge_run.work(Work(run, run.units.get()))
    assert JudgingAnswer.objects.count() == 1


def test_the_budget_is_estimated_and_held(source, endpoint, server):
    def allow(budget):
        source.study.llm_budget = budget
        source.study.save()

    endpoint.input_price = endpoint.output_price = Decimal(1_000_000)
    endpoint.concurrency = 1
    endpoint.save()
    for _pair in range(3):
        source_campaign.pair(source)
    order = source_campaign.order(source, endpoint)
    assert run_orders.forecast(study=source.study, order=order).problem
    allow(1)
    forecast = run_orders.forecast(study=source.study, order=order)
    assert (forecast.wanted, forecast.estimate.requests, forecast.is_over_budget) == (6, 6, True)
    allow(int(forecast.estimate.cost / 6) + 40)  # each answer costs 15 in the end
    run = source_campaign.judge(source, endpoint)
    assert (run.state, len(run.problems)) == (RunState.FAILED, 1)
    before = len(server.seen)
    assert 0 < before < 6
    assert JudgingAnswer.objects.count() == before
    booked, counter = ledger.audit(study=source.study)
    assert booked == counter
    allow(10_000_000)
    run = lifecycle.wait(lifecycle.resume(run=run))
    assert run.state == RunState.DONE, run.error
    assert (len(server.seen), Judgment.objects.count()) == (6, 12)


def test_a_large_order_is_reckoned_from_a_sample(source, endpoint, monkeypatch):
    for _pair in range(10):
        source_campaign.pair(source)
    order = source_campaign.order(source, endpoint)
    whole = run_orders.forecast(study=source.study, order=order)
    monkeypatch.setattr(run_orders, "RECKONED", 5)
    some = run_orders.forecast(study=source.study, order=order)
    assert (whole.sampled, some.sampled) == (None, 5)
    assert (some.wanted, some.estimate.requests) == (20, 20)
    assert some.estimate.prompt_tokens == pytest.approx(whole.estimate.prompt_tokens, rel=0.01)
