"""Many questions at once: grouped in transactions, made when they are wanted, and written ahead of the sending."""

from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from django.utils import timezone

from crowdrag.llm import addresses, attempts, erasure, gateway, ledger
from crowdrag.llm.attempts import CallContext, Outcome
from crowdrag.llm.client import Client
from crowdrag.llm.enums import AttemptState, CallState
from crowdrag.llm.models import Attempt, Call
from crowdrag.llm.requests import prepare
from crowdrag.llm.retry_policy import RetryPolicy
from crowdrag.studies.models import Study

pytestmark = pytest.mark.django_db


@pytest.fixture
def wide(paid):
    """An endpoint that takes so many at once that intents stand ahead."""
    paid.concurrency = 8
    paid.save()
    return paid


def question(endpoint, text):
    return prepare(endpoint=endpoint, request=gateway.Request(messages=[{"role": "user", "content": text}]))


def begin(context, *texts):
    return attempts.begin(context=context, questions=[question(context.endpoint, text) for text in texts])


def asker(endpoint, study, **policy):
    return CallContext(uuid4(), endpoint, study, "test", RetryPolicy(**policy))


def said(text):
    return Outcome(AttemptState.ANSWERED, text=text, prompt_tokens=7, completion_tokens=1)


def check_books(study):
    booked, counter = ledger.audit(study=study)
    assert booked == counter
    return booked


def test_intents_stand_ahead_and_no_more_are_sent_than_the_endpoint_takes(ask, wide, server, monkeypatch):
    most = 0
    real = attempts.begin

    def watched(**arguments):
        nonlocal most
        begun = real(**arguments)
        most = max(most, Attempt.objects.filter(state=AttemptState.INTENDED).count())
        return begun

    monkeypatch.setattr(attempts, "begin", watched)
    ask(*[f"slow:0.1 {n}" for n in range(30)])
    assert 4 < server.most_at_once <= 8
    assert 8 < most <= 8 + attempts.prefetch_limit(8)


def test_many_calls_take_few_transactions(ask, wide, django_assert_max_num_queries):
    with django_assert_max_num_queries(260):  # one by one they were thirteen each, savepoints and all
        ask(*[f"slow:0.1 {n}" for n in range(40)])


def test_what_stood_ahead_when_it_was_stopped_is_taken_back(ask, wide, server, study):
    class CancelledError(Exception):
        pass

    def heard(answer):
        raise CancelledError

    with pytest.raises(CancelledError):
        ask(*[f"slow:0.2 {n}" for n in range(50)], on_answer=heard)
    assert len(server.seen) <= 16
    assert Attempt.objects.count() == Attempt.objects.filter(state=AttemptState.ANSWERED).count() == len(server.seen)
    assert not Call.objects.filter(claimed_by__isnull=False).exists()
    assert check_books(study).held == 0
    assert len(ask(*[f"slow:0.2 {n}" for n in range(50)])) == 50
    assert len(server.seen) == 50


def test_what_is_cut_off_before_it_was_sent_comes_back_unsent(wide, study):
    context = asker(wide, study)
    ledger.admit(study=study, endpoint=wide)
    begun = begin(context, "ok")
    client = Client(endpoint=wide, policy=context.policy, resolver=addresses.system_resolver)
    client.send(begun.started)
    client.cut_off(begun.started)  # in the same turn of the event loop
    with client:
        assert client.results(10) == [(begun.started[0], None)]


def test_what_stands_ahead_rests_too_when_the_server_asks_for_it(ask, wide, server, study):
    """Real clock. Four intents stand ahead of eight calls; the first reply asks for a rest of a second."""
    ask(
        "busy:1,ok", *[f"slow:0.4 {n}" for n in range(7)], *[f"ok:{n}" for n in range(4)], policy=RetryPolicy(poll=0.02)
    )
    first = Attempt.objects.get(call__request__messages__0__content="busy:1,ok", number=1)
    for late in Attempt.objects.filter(call__request__messages__0__content__startswith="ok:"):
        assert late.started_at - first.ended_at >= timedelta(seconds=0.9)
    assert check_books(study).held == 0


def test_with_others_about_each_intent_counts_as_sent(wide, study):
    ledger.admit(study=study, endpoint=wide)
    first, second = asker(wide, study), asker(wide, study)
    begun = begin(first, *"abcdefghijklm")
    assert (len(begun.started), len(begun.unstarted)) == (12, 1)
    assert attempts.free_slots(second, timezone.now()) == (0, second.policy.poll)
    waiting = begin(second, "z")
    assert (waiting.started, len(waiting.unstarted), waiting.wait) == ([], 1, second.policy.poll)
    attempts.finish(context=first, finished=[(started, said("x")) for started in begun.started[:5]])
    # Seven are on their way, and with another asker about no more than eight may be.
    assert len(begin(second, "z").started) == 1
    assert attempts.free_slots(first, timezone.now()) == (0, first.policy.poll)


def test_with_money_for_some_only_those_are_started(wide, study):
    Study.objects.update(llm_budget=1)
    ledger.admit(study=study, endpoint=wide)
    context = asker(wide, study)
    begun = begin(context, *"abcdefg")
    assert [started.question for started in begun.started] == [question(wide, text) for text in "abcde"]
    assert begun.unstarted == [question(wide, text) for text in "fg"]
    assert check_books(study).held == sum(started.attempt.bound for started in begun.started) == Decimal("0.905")
    # What is in flight may set money free.
    assert len(begin(context, "f", "g").unstarted) == 2
    attempts.withdraw(context=context, attempts=begun.started[:1])
    assert len(begin(context, "f", "g").started) == 1


def test_known_questions_come_back_each_as_what_they_are(wide, study, ask):
    ask("ok:stored")
    other, context = asker(wide, study), asker(wide, study)
    begin(other, "held")
    begun = begin(context, "ok:stored", "held", "new")
    assert [answer.text for answer in begun.answers.values()] == ["stored"]
    assert begun.held == [question(wide, "held")]
    [started] = begun.started
    assert (started.question, started.attempt.fence, started.attempt.number) == (question(wide, "new"), 1, 1)


def test_a_lost_claim_among_others_is_booked_and_overwrites_nothing(wide, study):
    ledger.admit(study=study, endpoint=wide)
    slow, quick = asker(wide, study, lease=-1), asker(wide, study)
    [lost] = begin(slow, "a").started
    [again] = begin(quick, "a").started
    assert again.attempt.fence == lost.attempt.fence + 1
    assert attempts.finish(context=quick, finished=[(again, said("in time"))])[again.attempt].text == "in time"
    slow = CallContext(slow.token, wide, study, "test", RetryPolicy())
    [other] = begin(slow, "b").started
    answers = attempts.finish(context=slow, finished=[(lost, said("late")), (other, said("own"))])
    assert (answers[lost.attempt].text, answers[other.attempt].text) == ("in time", "own")
    assert set(Call.objects.values_list("text", "state")) == {
        ("in time", CallState.ANSWERED), ("own", CallState.ANSWERED)
    }  # fmt: skip
    assert check_books(study) == ledger.Totals(held=0, settled=3 * Decimal("0.009"))


def test_a_claim_that_was_erased_meanwhile_is_made_anew(wide, study):
    ledger.admit(study=study, endpoint=wide)
    context = asker(wide, study)
    [started] = begin(context, "a").started
    erasure.erase(calls=Call.objects.all())
    assert attempts.finish(context=context, finished=[(started, said("x"))]) == {}
    assert Call.objects.get().text is None
    [again] = begin(context, "a").started
    assert (again.attempt.fence, again.attempt.number) == (started.attempt.fence + 1, 2)
    assert attempts.finish(context=context, finished=[(again, said("y"))])[again.attempt].text == "y"


@pytest.mark.extended
def test_requests_are_made_shortly_before_they_are_sent(endpoint, study, server, policy):
    made, when_first_heard = [], []

    def make(n):
        made.append(n)
        return gateway.Request(messages=[{"role": "user", "content": f"ok:{n % 300}"}])

    def heard(answer):
        when_first_heard.append(len(made))

    answers = gateway.complete_many(
        endpoint=endpoint, requests=map(make, range(400)), study=study, purpose="test", policy=policy,
        on_answer=heard,
    )  # fmt: skip
    assert when_first_heard[0] <= 2 * gateway.SLICE
    assert [answer.text for answer in answers] == [str(n % 300) for n in range(400)]
    # Equal ones far apart are one question.
    assert [answer.cached for answer in answers] == [False] * 300 + [True] * 100
    assert len(server.seen) == 300


@pytest.mark.extended
def test_a_request_that_cannot_be_made_stops_the_rest(endpoint, study, server, policy):
    requests = [gateway.Request(messages=[{"role": "user", "content": f"ok:{n}"}]) for n in range(300)]
    requests[200] = gateway.Request(messages=[])
    with pytest.raises(gateway.RequestError):
        gateway.complete_many(endpoint=endpoint, requests=requests, study=study, purpose="test", policy=policy)
    assert len(server.seen) <= 200
    assert Attempt.objects.filter(state=AttemptState.ANSWERED).count() == Attempt.objects.count() == len(server.seen)
