"""Threads of one process that call an endpoint at once, and endpoints with several servers."""

import threading
import time
from functools import partial

import pytest

from crowdrag.llm import client, endpoints, exchange, gateway, ledger
from crowdrag.llm.enums import AttemptState, CallState
from crowdrag.llm.models import Attempt, Call, Endpoint
from crowdrag.llm.retry_policy import RetryPolicy
from tests.concurrency import together
from tests.llm.faulty_server import MisbehavingServer
from tests.llm.model_server import ModelServer

pytestmark = pytest.mark.django_db(transaction=True)


class CancelledError(Exception):
    pass


@pytest.fixture
def wide(paid):
    paid.concurrency = 8
    paid.save()
    return paid


def test_threads_share_the_slots_and_each_hears_its_own_answers(ask, wide, server, study):
    heard = [[] for _caller in range(4)]

    def asking(index):
        def hear(answer):
            heard[index].append((threading.get_ident(), answer.text))

        return threading.get_ident(), ask(*[f"slow:0.05 {index} {n}" for n in range(12)], on_answer=hear)

    for index, (thread, answers) in enumerate(together([partial(asking, index) for index in range(4)])):
        assert [answer.text for answer in answers] == ["late"] * 12
        assert heard[index] == [(thread, "late")] * 12
    assert 4 < server.most_at_once <= 8
    assert len(server.seen) == Attempt.objects.count() == 48
    assert not exchange._exchanges
    booked, counter = ledger.audit(study=study)
    assert booked == counter
    assert booked.held == 0


def test_a_question_of_several_threads_is_sent_once(ask, wide, server):
    texts = [f"slow:0.2 {n}" for n in range(6)]
    answers = together([partial(ask, *texts) for _caller in range(3)])
    assert {answer.text for each in answers for answer in each} == {"late"}
    assert len(server.seen) == Attempt.objects.count() == 6
    assert [sorted(each[n].cached for each in answers) for n in range(6)] == [[False, True, True]] * 6


@pytest.mark.parametrize("of", ["check", "on_answer"])
def test_who_is_cancelled_stops_alone(wide, server, study, of):
    """What both ask is answered; what only the cancelled one asks is booked, and nobody holds it."""

    def asking(own, **callbacks):
        texts = ["slow:0.6 shared", *[f"slow:0.3 {own} {n}" for n in range(20)]]
        requests = [gateway.Request([{"role": "user", "content": text}]) for text in texts]
        return gateway.complete_many(
            endpoint=wide, requests=requests, study=study, purpose="test",
            policy=RetryPolicy(heed=0.05, poll=0.02, grace=0.1), **callbacks,
        )  # fmt: skip

    def cancel(*_answer):
        if len(server.seen) >= 8:
            raise CancelledError

    def cancelled():
        with pytest.raises(CancelledError):
            asking("a", **{of: cancel})
        sent_by_me = Call.objects.filter(request__messages__0__content__startswith="slow:0.3 a")
        assert not sent_by_me.filter(claimed_by__isnull=False).exists()
        assert not Attempt.objects.filter(call__in=sent_by_me, state=AttemptState.INTENDED).exists()

    _none, answers = together([cancelled, partial(asking, "b")])
    assert [answer.text for answer in answers] == ["late"] * 21
    assert not Call.objects.filter(claimed_by__isnull=False).exists()
    assert len(server.asked("slow:0.3 a")) < 20
    assert Call.objects.filter(state=CallState.ANSWERED).count() >= 21
    booked, counter = ledger.audit(study=study)
    assert booked == counter


def test_requests_may_follow_from_answers(ask, endpoint, study, server, policy):
    """Three conversations of three turns each: none waits for another one's answer."""
    following, turns = [f"ok:0 {name}" for name in "abc"], []

    def requests():
        while following or len(turns) < 9:
            yield gateway.Request([{"role": "user", "content": following.pop(0)}]) if following else None

    def hear(answer):
        turns.append(answer.index)
        if int(answer.text) < 2:
            following.append(f"ok:{int(answer.text) + 1} {answer.index}")

    complete = partial(gateway.complete_many, endpoint=endpoint, study=study, purpose="test", policy=policy)
    answers = complete(requests=requests(), on_answer=hear)
    assert sorted(turns) == list(range(9))
    assert [answer.index for answer in answers] == list(range(9))
    assert sorted(answer.text for answer in answers) == ["0"] * 3 + ["1"] * 3 + ["2"] * 3
    with pytest.raises(RuntimeError):
        complete(requests=iter([None]))
    # From the store, each answer leads to the next request at once.
    following, turns = [f"ok:0 {name}" for name in "abc"], []
    assert [answer.text for answer in complete(requests=requests(), on_answer=hear)] == ["0"] * 3 + ["1"] * 3 + [
        "2"
    ] * 3
    assert len(server.seen) == 9


def test_an_answer_may_lead_to_another_call_of_its_own(ask, wide, server):
    inner = []
    outer = ask(*[f"ok:{n}" for n in range(5)], on_answer=lambda answer: inner.extend(ask(f"ok:inner{answer.index}")))
    assert [answer.text for answer in outer] == [str(n) for n in range(5)]
    assert sorted(answer.text for answer in inner) == [f"inner{n}" for n in range(5)]


@pytest.fixture
def pair():
    """Two servers, and an endpoint that has both."""
    with ModelServer(slots=8, seconds=0.1) as first, ModelServer(slots=8, seconds=0.1) as second:
        endpoint = Endpoint.objects.create(
            name="pair", base_url=first.url, more_urls=second.url, model="m", is_local=True, is_allowed=True,
            concurrency=8, timeout=20,
        )  # fmt: skip
        yield endpoint, first, second


@pytest.mark.extended
def test_servers_share_the_load(pair, ask):
    endpoint, first, second = pair
    assert endpoint.slots == 16
    answers = ask(*[f"q{n}" for n in range(200)], endpoint=endpoint)
    assert len({answer.text for answer in answers}) > 150
    figures = [server.figures() for server in (first, second)]
    assert sum(each["calls"] for each in figures) == 200
    assert all(each["calls"] >= 60 and each["most"] <= 8 for each in figures)
    # One model: what one of them answered is an answer of both.
    endpoint.base_url, endpoint.more_urls = second.url, ""
    endpoint.save()
    assert all(answer.cached for answer in ask(*[f"q{n}" for n in range(200)], endpoint=endpoint))


@pytest.mark.extended
def test_a_server_that_dies_rests_and_the_other_goes_on(pair, ask):
    """Then it is there again, and is asked again."""
    endpoint, first, second = pair
    heard = []

    def hear(answer):
        heard.append(answer)
        if len(heard) == 20:
            first.kill()
        if len(heard) == 100:
            first.start()

    policy = RetryPolicy(first_pause=0.1, longest_pause=0.4)
    answers = ask(*[f"q{n}" for n in range(300)], endpoint=endpoint, policy=policy, on_answer=hear)
    assert {answer.fault for answer in answers} == {""}
    assert second.figures()["calls"] >= 100
    assert first.figures()["calls"] >= 20  # since it started again
    endpoint.refresh_from_db()
    assert endpoint.paused_until is None


def test_only_the_server_that_asks_for_a_pause_gets_one(endpoint, server, ask):
    """Neither the other server waits, nor a question that the first one refused."""
    with MisbehavingServer() as second:
        threading.Thread(target=second.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        endpoint.more_urls, endpoint.concurrency = second.url, 2
        endpoint.save()
        server.always = "busy:60"
        began = time.monotonic()
        answers = ask(*[f"ok:{n}" for n in range(20)], policy=RetryPolicy(first_pause=0.05, poll=0.02))
        assert [answer.text for answer in answers] == [str(n) for n in range(20)]
        assert time.monotonic() - began < 50
        assert 1 <= len(server.seen) <= 2  # what was in flight when it asked
        assert len(second.seen) == 20
        endpoint.refresh_from_db()
        assert endpoint.paused_until is None  # other processes send, too
        second.shutdown()


def test_keys_go_to_the_hosts_they_were_entered_for(monkeypatch):
    monkeypatch.setenv("CROWDRAG_LLM_KEY_A", "k")
    endpoint = Endpoint(
        name="t", base_url="https://a.example.org/v1", more_urls="https://b.example.org/v1\nhttps://c.example.org/v1",
        key_variable="CROWDRAG_LLM_KEY_A", key_host="a.example.org, B.example.org", is_allowed=True,
    )  # fmt: skip
    first, second, third = endpoint.server_urls
    assert client.read_key(endpoint, first) == client.read_key(endpoint, second) == "k"
    with pytest.raises(client.KeyMissingError):
        client.read_key(endpoint, third)
    assert len(endpoints.problems(endpoint)) == 1


@pytest.mark.extended
def test_each_server_is_tried_out(pair):
    endpoint, _first, second = pair
    assert endpoints.try_out(endpoint=endpoint).text
    second.kill()
    trial = endpoints.try_out(endpoint=endpoint)
    assert second.url in trial.error
    second.start()


def test_callers_of_another_time_get_an_exchange_of_their_own(ask, endpoint, server):
    began = time.monotonic()
    ask("ok:1")
    ask("ok:2")
    assert not exchange._exchanges
    assert time.monotonic() - began < 10
