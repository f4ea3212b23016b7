"""Answers: kept as they came, stored once, found again."""

import time
from decimal import Decimal
from uuid import uuid4

import pytest
from django.db import transaction

from crowdrag.llm import attempts, gateway, ledger
from crowdrag.llm.attempts import CallContext, Outcome
from crowdrag.llm.enums import AttemptState, CallState, Fault
from crowdrag.llm.models import Attempt, Call
from crowdrag.llm.requests import prepare
from crowdrag.llm.retry_policy import RetryPolicy

pytestmark = pytest.mark.django_db


def test_an_answer_is_stored_once_and_answered_from_the_store(ask, server):
    [first] = ask("ok:hello")
    [again] = ask("ok:hello")
    assert (first.text, first.cached, again.text, again.cached) == ("hello", False, "hello", True)
    assert again.call == first.call
    assert [answer.cached for answer in ask("ok:same", "ok:same", "ok:same")] == [False, True, True]
    assert [len(server.asked(text)) for text in ("ok:hello", "ok:same")] == [1, 1]
    call = Call.objects.get(pk=first.call)
    assert (call.state, call.prompt_tokens, call.completion_tokens) == (CallState.ANSWERED, 10, 5)
    assert call.claimed_by is None
    assert call.purpose == "test"


def test_the_order_of_answers_is_that_of_the_requests_and_each_is_heard_once(ask):
    heard = []

    def hear(answer):
        heard.append(answer)
        assert Call.objects.get(pk=answer.call).text == answer.text  # it is on record when it is heard

    answers = ask(*[f"ok:{n}" for n in range(30)], on_answer=hear)
    assert [answer.text for answer in answers] == [str(n) for n in range(30)]
    assert sorted(answer.index for answer in heard) == list(range(30))


def test_samples_are_asked_apart_with_their_own_seed(ask, server):
    ask("ok:x", seed=7)
    ask("ok:x", seed=7, sample=1)
    assert [body["seed"] for body in server.asked()] == [7, 8]
    assert Call.objects.count() == 2


def test_the_endpoint_is_never_asked_more_at_once_than_it_takes(ask, endpoint, server):
    endpoint.concurrency = 3
    endpoint.save()
    ask(*[f"slow:0.05 {n}" for n in range(12)])
    assert 1 < server.most_at_once <= 3


@pytest.mark.parametrize(
    ("behaviour", "text", "refusal", "reason"),
    [
        ("empty", "", None, "stop"),
        ("nothing", None, None, "stop"),
        ("cut_short", "and then", None, "length"),
        ("refuse", None, "I would rather not.", "stop"),
        ("filtered", "", "content_filter", "content_filter"),
    ],
)
def test_refusals_empty_and_cut_answers_are_kept_and_marked(ask, server, behaviour, text, refusal, reason):
    for cached in (False, True):
        [answer] = ask(behaviour)
        assert (answer.text, answer.refusal, answer.finish_reason) == (text, refusal, reason)
        assert (answer.is_cut, answer.fault, answer.cached) == (reason == "length", "", cached)
    assert len(server.seen) == 1


def test_what_postgresql_cannot_keep_is_replaced(ask):
    [answer] = ask("nul")
    assert answer.text.startswith("a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}")
    assert ask("nul")[0].text == answer.text


@pytest.mark.parametrize(("of", "grace", "answered"), [("endpoint", 99.0, 0), ("paid", 0.1, 0), ("paid", 99.0, 1)])
def test_a_job_that_is_cancelled_does_not_wait_for_the_next_answer(ask, request, study, server, of, grace, answered):
    """Free calls are cut off at once, paid ones after a while: what was sent is on record, and nobody holds it."""

    class CancelledError(Exception):
        pass

    ask("ok")  # what a first call imports and connects takes time, too
    before = set(Attempt.objects.values_list("pk", flat=True))
    began = time.monotonic()

    def check():
        if time.monotonic() - began > 0.3:
            raise CancelledError

    messages = [{"role": "user", "content": "slow:1" if answered else "slow:4"}]
    with pytest.raises(CancelledError):
        gateway.complete_many(
            endpoint=request.getfixturevalue(of), requests=[gateway.Request(messages=messages)], study=study,
            purpose="test", check=check, policy=RetryPolicy(heed=0.05, grace=grace),
        )  # fmt: skip
    assert time.monotonic() - began < 3.5 or answered
    [attempt] = Attempt.objects.exclude(pk__in=before)
    assert attempt.state == (AttemptState.ANSWERED if answered else AttemptState.UNKNOWN)
    assert attempt.ended_at is not None
    assert not Call.objects.filter(claimed_by__isnull=False).exists()


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
def test_an_interruption_does_not_wait_for_what_is_in_flight(endpoint, study, server, interruption):
    """What was sent stays on record as it is: whoever asks again finds out that its sender is lost."""

    def interrupt():
        if server.seen:
            raise interruption

    began = time.monotonic()
    requests = [gateway.Request(messages=[{"role": "user", "content": f"slow:20 {n}"}]) for n in range(9)]
    with pytest.raises(interruption):
        gateway.complete_many(
            endpoint=endpoint, requests=requests, study=study, purpose="test", check=interrupt,
            policy=RetryPolicy(heed=0.05),
        )  # fmt: skip
    assert time.monotonic() - began < 10
    assert len(server.seen) <= endpoint.concurrency
    assert set(Attempt.objects.values_list("state", flat=True)) == {AttemptState.INTENDED}


def test_it_refuses_to_run_inside_a_transaction(ask, server):
    with transaction.atomic(), pytest.raises(RuntimeError):
        ask("ok")
    assert server.seen == []


def test_taking_the_allowance_away_stops_what_runs(ask, endpoint, server):
    def heard(answer):
        type(endpoint).objects.update(is_allowed=False)

    endpoint.concurrency = 1
    endpoint.save()
    with pytest.raises(gateway.EndpointNotAllowedError):
        ask("ok:1", "ok:2", "ok:3", on_answer=heard)
    endpoint.refresh_from_db()
    with pytest.raises(gateway.EndpointNotAllowedError):
        ask("ok")
    assert len(server.seen) == 1


def test_a_late_writer_does_not_overwrite_its_successor(endpoint, study, server):
    """The first asker's lease runs out, the second one answers; the first one's bill is booked, its answer dropped."""
    endpoint.input_price = Decimal(1_000_000)
    endpoint.save()
    ledger.admit(study=study, endpoint=endpoint)
    question = prepare(endpoint=endpoint, request=gateway.Request(messages=[{"role": "user", "content": "ok"}]))
    slow = CallContext(uuid4(), endpoint, study, "test", RetryPolicy(lease=-1))
    quick = CallContext(uuid4(), endpoint, study, "test", RetryPolicy())

    def finish(context, started, text):
        outcome = Outcome(AttemptState.ANSWERED, text=text, prompt_tokens=7, completion_tokens=1)
        return attempts.finish(context=context, finished=[(started, outcome)]).get(started.attempt)

    [first] = attempts.begin(context=slow, questions=[question]).started
    [second] = attempts.begin(context=quick, questions=[question]).started
    assert (second.attempt.fence, second.attempt.number) == (first.attempt.fence + 1, 2)
    assert Attempt.objects.get(pk=first.attempt.pk).state == AttemptState.UNKNOWN
    assert attempts.begin(context=slow, questions=[question]).held == [question]
    assert finish(slow, first, "late") is None
    finish(quick, second, "in time")
    assert Call.objects.get().text == "in time"
    assert finish(slow, first, "late").text == "in time"
    booked, counter = ledger.audit(study=study)
    assert booked == counter == ledger.Totals(held=Decimal(0), settled=Decimal(14))


def test_answers_from_the_store_cost_few_queries(ask, django_assert_max_num_queries):
    texts = [f"ok:{n}" for n in range(100)]
    ask(*texts)
    with django_assert_max_num_queries(3):
        ask(*texts)


def test_an_estimate_is_an_upper_bound_and_leaves_out_what_is_stored(ask, paid, study):
    def requests(*texts):
        return [gateway.Request(messages=[{"role": "user", "content": text}]) for text in texts]

    before = gateway.estimate(endpoint=paid, requests=requests("ok:1", "ok:2", "ok:2"))
    assert (before.requests, before.stored) == (3, 1)
    ask("ok:1", "ok:2")
    spent = sum(attempt.cost for attempt in Attempt.objects.all())
    assert 0 < spent <= before.cost
    after = gateway.estimate(endpoint=paid, requests=requests("ok:1", "ok:2"))
    assert (after.stored, after.cost) == (2, 0)


def test_requests_that_no_model_should_be_sent_are_refused(endpoint, study, server):
    for fields in (
        {"messages": []},
        {"messages": [{"role": "tool", "content": "x"}]},
        {"messages": [{"role": "user", "content": None}]},
        {"messages": [{"role": "user", "content": "a\0"}]},
        {"messages": [{"role": "user", "content": "\ud83d"}]},
        {"parameters": {"n": 4}},
        {"parameters": {"extra_headers": {"authorization": "x"}}},
        {"parameters": {"max_tokens": 0}},
        {"parameters": {"max_tokens": 5, "max_completion_tokens": 5}},
        {"parameters": {"temperature": float("nan")}},
        {"parameters": {"stop": {1, 2}}},
        {"schema": {"type": "strange"}},
        {"sample": -1},
    ):
        request = gateway.Request(**{"messages": [{"role": "user", "content": "ok"}], **fields})
        with pytest.raises(gateway.RequestError):
            gateway.complete_many(endpoint=endpoint, requests=[request], study=study, purpose="test")
    assert server.seen == []


def test_failures_are_asked_again_another_time(ask, server):
    [answer] = ask("bad_request,ok")
    assert answer.fault == Fault.REJECTED
    assert answer.error
    [again] = ask("bad_request,ok")
    assert (again.text, again.cached) == ("yes", False)
    assert Call.objects.get().state == CallState.ANSWERED
