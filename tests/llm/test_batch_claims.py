"""Many questions at once: grouped in transactions, made when they are wanted, and written ahead of the sending."""

from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from django.utils import timezone

from crowdrag.llm import batch_claims, claims, concurrency, gateway, ledger
from crowdrag.llm.batch_claims import FinishedAttempt
from crowdrag.llm.claims import HeldElsewhere, StartedAttempt, Verdict
from crowdrag.llm.concurrency import CallContext, Wait
from crowdrag.llm.enums import AttemptState, CallState
from crowdrag.llm.ledger import TokenBound, TokenUsage
from crowdrag.llm.models import Attempt, Call
from crowdrag.llm.replies import Reply, SendResult
from crowdrag.llm.requests import prepare
from crowdrag.llm.retry_policy import RetryPolicy
from crowdrag.studies.models import Study

pytestmark = pytest.mark.django_db
BOUND = TokenBound(100, 50)


@pytest.fixture
def wide(paid):
    """An endpoint that takes so many at once that intents stand ahead."""
    paid.concurrency = 8
    paid.save()
    return paid


def question(endpoint, text):
    return prepare(endpoint=endpoint, request=gateway.Request(messages=[{"role": "user", "content": text}]))


def wanted(endpoint, *texts):
    return [(question(endpoint, text), lambda _complaint: BOUND) for text in texts]


def asker(endpoint, study, **policy):
    return CallContext(uuid4(), endpoint, study, "test", RetryPolicy(**policy))


def said(text):
    return Verdict(SendResult(AttemptState.ANSWERED, 0.1, reply=Reply(text, None, "stop", None)), TokenUsage(7, 1))


def check_books(study):
    booked, counter = ledger.audit(study=study)
    assert booked == counter
    return booked


def test_intents_stand_ahead_and_no_more_are_sent_than_the_endpoint_takes(ask, wide, server, monkeypatch):
    most = 0
    real = batch_claims.begin

    def watched(**arguments):
        nonlocal most
        begun = real(**arguments)
        most = max(most, Attempt.objects.filter(state=AttemptState.INTENDED).count())
        return begun

    monkeypatch.setattr(batch_claims, "begin", watched)
    ask(*[f"slow:0.1 {n}" for n in range(30)])
    assert 4 < server.most_at_once <= 8
    assert 8 < most <= 8 + concurrency.prefetch_limit(8)


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
    mine, theirs = asker(wide, study), asker(wide, study)
    begun = batch_claims.begin(wanted=wanted(wide, *"abcdefghijklm"), asker=mine)
    started = [isinstance(second, StartedAttempt) for _claimed, second in begun]
    assert started == [True] * 12 + [False]
    assert concurrency.free_slots(theirs, timezone.now()) == Wait(theirs.policy.poll)
    [(_claimed, waits)] = batch_claims.begin(wanted=wanted(wide, "z"), asker=theirs)
    assert isinstance(waits, Wait)
    for (claimed, intent), _turn in zip(begun, range(5), strict=False):
        claims.finish(started=intent, claimed=claimed, asker=mine, verdict=said("x"))
    # Seven are on their way: for us, who are not alone any more, there is room for one.
    assert concurrency.free_slots(mine, timezone.now()) == 1


def test_money_for_some_only_is_found_one_by_one(wide, study):
    price = Decimal("0.2")  # of the bound
    Study.objects.update(llm_budget=1)
    ledger.admit(study=study, endpoint=wide)
    begun = batch_claims.begin(wanted=wanted(wide, *"abcdefg"), asker=asker(wide, study))
    assert all(second == Wait(0.0) for _claimed, second in begun)
    me = asker(wide, study)
    some = batch_claims.begin(wanted=wanted(wide, *"hijkl"), asker=me)
    assert [second.bound for _claimed, second in some] == [price] * 5
    assert check_books(study).held == 1
    [(_claimed, waits)] = batch_claims.begin(wanted=wanted(wide, "m"), asker=me)
    assert waits == Wait(0.0)


def test_known_questions_come_back_each_as_what_they_are(wide, study, ask):
    ask("ok:stored")
    theirs, mine = asker(wide, study), asker(wide, study)
    batch_claims.begin(wanted=wanted(wide, "held"), asker=theirs)
    stored, held, (claimed, started) = batch_claims.begin(wanted=wanted(wide, "ok:stored", "held", "new"), asker=mine)
    assert stored.text == "stored"
    assert isinstance(held, HeldElsewhere)
    assert (claimed.fence, started.number) == (1, 1)


def test_a_lost_claim_among_others_is_booked_and_overwrites_nothing(wide, study):
    ledger.admit(study=study, endpoint=wide)
    slow, quick = asker(wide, study, lease=-1), asker(wide, study)
    [(mine, started)] = batch_claims.begin(wanted=wanted(wide, "a"), asker=slow)
    [(theirs, again)] = batch_claims.begin(wanted=wanted(wide, "a"), asker=quick)
    assert theirs.fence == mine.fence + 1
    assert (
        batch_claims.finish(finished=[FinishedAttempt(again, theirs, said("in time"))], asker=quick)[0].text
        == "in time"
    )
    slow = CallContext(slow.token, wide, study, "test", RetryPolicy())
    [(other, intent)] = batch_claims.begin(wanted=wanted(wide, "b"), asker=slow)
    late, own = batch_claims.finish(
        finished=[FinishedAttempt(started, mine, said("late")), FinishedAttempt(intent, other, said("own"))], asker=slow
    )
    assert (late.text, own.text) == ("in time", "own")
    assert set(Call.objects.values_list("text", "state")) == {
        ("in time", CallState.ANSWERED), ("own", CallState.ANSWERED)
    }  # fmt: skip
    assert check_books(study) == ledger.Totals(held=0, settled=3 * Decimal("0.009"))


def test_requests_are_made_shortly_before_they_are_sent(endpoint, study, server, policy):
    made, when_first_heard = [], []

    def make(n):
        made.append(n)
        return gateway.Request(messages=[{"role": "user", "content": f"ok:{n % 300}"}])

    def heard(answer):
        when_first_heard.append(len(made))

    answers = gateway.complete_many(
        endpoint=endpoint, requests=gateway.LazyRequests(range(400), make), study=study, purpose="test", policy=policy,
        on_answer=heard,
    )  # fmt: skip
    assert when_first_heard[0] <= 2 * gateway.SLICE
    assert [answer.text for answer in answers] == [str(n % 300) for n in range(400)]
    # Equal ones far apart are one question.
    assert [answer.cached for answer in answers] == [False] * 300 + [True] * 100
    assert len(server.seen) == 300


def test_a_request_that_cannot_be_made_stops_the_rest(endpoint, study, server, policy):
    requests = [gateway.Request(messages=[{"role": "user", "content": f"ok:{n}"}]) for n in range(300)]
    requests[200] = gateway.Request(messages=[])
    with pytest.raises(gateway.RequestError):
        gateway.complete_many(endpoint=endpoint, requests=requests, study=study, purpose="test", policy=policy)
    assert len(server.seen) <= 200
    assert Attempt.objects.filter(state=AttemptState.ANSWERED).count() == Attempt.objects.count() == len(server.seen)
