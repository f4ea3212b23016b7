"""Every way in which a server can misbehave: what is retried, what is charged, what is recorded."""

import json
import logging
from datetime import timedelta
from decimal import Decimal

import pytest

from crowdrag.llm import client, ledger
from crowdrag.llm.enums import AttemptState, Fault
from crowdrag.llm.models import Attempt, Call, Endpoint
from crowdrag.llm.retry_policy import RetryPolicy

pytestmark = pytest.mark.django_db


def attempts():
    return list(Attempt.objects.order_by("call_id", "number"))


@pytest.mark.parametrize(
    ("behaviour", "state", "fault"),
    [
        ("fail", AttemptState.FAILED, Fault.SERVER),
        ("proxy", AttemptState.UNKNOWN, Fault.SERVER),
        ("cut", AttemptState.UNKNOWN, Fault.CUT),
        ("drop", AttemptState.UNKNOWN, Fault.CUT),
        ("garbage", AttemptState.UNKNOWN, Fault.GARBAGE),
        ("no_http", AttemptState.UNKNOWN, Fault.CUT),
        ("no_choices", AttemptState.UNKNOWN, Fault.GARBAGE),
        ("not_a_dict", AttemptState.UNKNOWN, Fault.GARBAGE),
        ("bomb", AttemptState.UNKNOWN, Fault.GARBAGE),
        ("error_200", AttemptState.UNKNOWN, Fault.SERVER),
        ("busy:0", AttemptState.FAILED, Fault.BUSY),
    ],
)
def test_what_passes_is_asked_again_and_the_ledger_never_falls_below_the_bill(
    ask, paid, server, study, behaviour, state, fault
):
    [answer] = ask(f"{behaviour},{behaviour},ok")
    assert answer.text == "yes"
    first, second, last = attempts()
    assert (first.state, first.fault) == (second.state, second.fault) == (state, fault)
    assert first.error
    assert first.cost == (first.bound if state == AttemptState.UNKNOWN else 0)
    assert (last.state, last.fault, last.cost) == (AttemptState.ANSWERED, "", Decimal("0.02"))
    booked, counter = ledger.audit(study=study)
    assert booked == counter
    assert sum(booked) >= Decimal(str(server.bill(1000, 2000)))


def test_what_asking_again_cannot_change_is_final(ask, server):
    for behaviour, fault in (("bad_request", Fault.REJECTED), ("echo_key", Fault.REJECTED), ("quota", Fault.BUSY)):
        [answer] = ask(f"{behaviour},ok")
        assert (answer.fault, bool(answer.error)) == (fault, True)
    assert len(server.seen) == 3


def test_nothing_is_asked_for_ever_and_a_server_that_is_not_there_costs_nothing(ask, paid, server, slept):
    [answer] = ask("fail")
    assert (answer.fault, len(server.seen)) == (Fault.SERVER, 6)
    pauses = [seconds for seconds in slept if seconds > 0]
    assert len(pauses) == 5
    assert all(0.25 * 2**n <= seconds <= 0.5 * 2**n for n, seconds in enumerate(pauses))
    paid.base_url = "http://127.0.0.1:9/v1"
    paid.save()
    [answer] = ask("ok")
    assert answer.fault == Fault.UNREACHABLE
    tried = Attempt.objects.filter(call=answer.call)
    assert [(each.state, each.cost) for each in tried] == [(AttemptState.FAILED, 0)] * 6


@pytest.mark.parametrize("busy", ["busy:7", "busy_until:7"])
def test_retry_after_is_honoured_as_seconds_and_as_a_date(ask, endpoint, server, busy):
    with pytest.raises(_EnoughError):
        ask(f"{busy},ok", policy=_Impatient(poll=0.02))
    assert 5.5 <= attempts()[0].retry_after <= 7.1
    endpoint.refresh_from_db()
    assert endpoint.paused_until is not None


class _EnoughError(Exception):
    pass


class _Impatient(RetryPolicy):
    def delay(self, **failure):
        assert 5.5 <= super().delay(**failure) <= 7.8
        raise _EnoughError


def test_a_server_that_asks_for_rest_gets_it_from_every_question(ask, endpoint, server):
    """Real clock: the second question is not sent while the server rests for the sake of the first."""
    endpoint.concurrency = 1
    endpoint.save()
    ask("busy:1,ok", "ok:2", policy=RetryPolicy(poll=0.02))
    first, retried = Attempt.objects.filter(call__request__messages__0__content="busy:1,ok").order_by("number")
    other = Attempt.objects.get(call__request__messages__0__content="ok:2")
    assert retried.started_at - first.ended_at >= timedelta(seconds=0.9)
    assert other.started_at - first.ended_at >= timedelta(seconds=0.9)


@pytest.mark.parametrize("behaviour", ["slow:3", "drip:3"])
def test_a_slow_server_is_given_up_and_charged_at_the_upper_bound(ask, paid, study, behaviour):
    """Bytes that drip in one by one do not keep a call alive either."""
    paid.timeout = 1
    paid.save()
    [answer] = ask(f"{behaviour},ok")
    assert answer.text == "yes"
    first, _last = attempts()
    assert (first.state, first.fault, first.cost) == (AttemptState.UNKNOWN, Fault.TIMEOUT, first.bound)
    assert 0.9 < first.latency < 2.5


def test_an_endless_reply_is_broken_off(ask, monkeypatch):
    monkeypatch.setattr(client, "LARGEST_REPLY", 2_000_000)
    [answer] = ask("endless,ok")
    assert answer.text == "yes"
    assert attempts()[0].fault == Fault.CUT  # read to its end it would be garbage


@pytest.mark.parametrize(
    "usage",
    [
        *(None, {}, [], "many"),
        {"prompt_tokens": -5, "completion_tokens": 3},
        {"prompt_tokens": None, "completion_tokens": None},
        {"prompt_tokens": 1.5, "completion_tokens": 2},
        {"prompt_tokens": True, "completion_tokens": True},
        {"prompt_tokens": 10**15, "completion_tokens": 10**15},
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"prompt_tokens": "10", "completion_tokens": "5"},
    ],
)
def test_usage_that_cannot_be_true_is_counted_at_the_upper_bound_and_marked(ask, paid, study, usage):
    [answer] = ask(_usage(usage))
    [attempt] = attempts()
    assert answer.text == "yes"
    assert attempt.usage_estimated
    assert attempt.completion_tokens in {50, 2, 3}
    assert attempt.prompt_tokens >= 64  # the bound: its overhead alone is more
    assert attempt.cost <= attempt.bound
    booked, counter = ledger.audit(study=study)
    assert booked == counter == ledger.Totals(held=0, settled=attempt.cost)


def _usage(usage):
    # The behaviour is the first word, and commas part behaviours: neither may stand in the figures.
    return "usage:" + json.dumps(usage).replace(" ", "").replace(",", "~")


def test_a_bill_beyond_the_limit_is_booked_as_billed_and_marked(ask, paid):
    """A server that ignores `max_tokens`: 50 were allowed, 120 are reported and will be billed."""
    ask(_usage({"prompt_tokens": 10, "completion_tokens": 120}), max_tokens=50)
    [attempt] = attempts()
    assert (attempt.completion_tokens, attempt.usage_estimated) == (120, True)
    assert attempt.cost == Decimal("0.25") > attempt.bound - Decimal("0.1")


def test_keys_stand_in_no_log_error_or_row(ask, endpoint, server, caplog, monkeypatch, study):
    secret = "sk-verysecretindeed0123456789"
    monkeypatch.setenv("CROWDRAG_LLM_KEY_ODD", secret)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-another-secret-of-the-environment")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-the-environment")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Leak: leaked")
    Endpoint.objects.update(key_variable="CROWDRAG_LLM_KEY_ODD", key_host="127.0.0.1")
    endpoint.refresh_from_db()
    with caplog.at_level(logging.DEBUG):
        [answer] = ask("echo_key")
        ask("ok", "fail,ok", "cut,ok")
    headers = {name.lower(): value for name, value in server.seen[0][0].items()}
    assert headers["authorization"] == f"Bearer {secret}"
    ours = {"host", "content-type", "content-length", "accept", "user-agent", "accept-encoding", "authorization"}
    assert set(headers) == ours
    assert "[key]" in answer.error
    rows = [str(vars(row)) for model in (Endpoint, Call, Attempt) for row in model.objects.all()]
    for text in (caplog.text, answer.error, *rows):
        assert secret not in text
        assert "of-the-environment" not in text


def test_the_client_ignores_proxies_of_the_environment(ask, server, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert ask("ok")[0].text == "yes"


SCHEMA = {
    "type": "object",
    "properties": {"choice": {"enum": ["a", "n", "b"]}},
    "required": ["choice"],
    "additionalProperties": False,
}


def test_a_structured_answer_is_parsed_and_kept(ask, server):
    [answer] = ask("document:b", schema=SCHEMA)
    assert answer.data == {"choice": "b"}
    assert ask("document:b", schema=SCHEMA)[0].data == {"choice": "b"}
    [body] = server.asked()
    assert body["response_format"]["json_schema"] == {"name": "answer", "schema": SCHEMA, "strict": True}


def test_an_answer_that_does_not_fit_is_asked_again_and_each_is_billed(ask, paid, server):
    """What the transport failed at counts apart: six faults are one more than either may be."""
    [answer] = ask("prose,fail,document:z,fail,empty,fail,document:a", schema=SCHEMA, temperature=1)
    assert answer.data == {"choice": "a"}
    assert [a.fault for a in attempts() if a.fault != Fault.SERVER] == [Fault.INVALID] * 3 + [Fault.NONE]
    answered = [a for a in attempts() if a.state == AttemptState.ANSWERED]
    assert [a.reply for a in answered] == ['Sure! Here it is: {"choice": "a"}', '{"choice": "z"}', "", None]
    assert all(a.cost > 0 for a in answered)
    # Sampling: the same question, not one that quotes the last answer.
    assert {len(body["messages"]) for body in server.asked()} == {1}


def test_after_five_answers_that_do_not_fit_it_is_a_failure_for_good(ask, server):
    for cached in (False, True):
        [answer] = ask("prose", schema=SCHEMA)
        assert (answer.fault, answer.data, answer.cached) == (Fault.INVALID, None, cached)
        assert answer.error
    assert len(server.seen) == 5


def test_at_temperature_zero_the_next_question_says_what_was_wrong(ask, server):
    [answer] = ask("document:z,document:a", schema=SCHEMA, temperature=0)
    assert answer.data == {"choice": "a"}
    _first, second = server.asked()
    assert [message["role"] for message in second["messages"]] == ["user", "assistant", "user"]
    assert second["messages"][1]["content"] == '{"choice": "z"}'
    assert "'z'" in second["messages"][2]["content"]


def test_the_count_of_five_goes_on_after_a_restart(ask, server, endpoint):
    [_failed] = ask("prose,prose,bad_request,prose", schema=SCHEMA)
    assert len(server.seen) == 3
    [answer] = ask("prose,prose,bad_request,prose", schema=SCHEMA)
    assert answer.fault == Fault.INVALID
    assert len(server.seen) == 6
    assert Attempt.objects.filter(fault=Fault.INVALID).count() == 5


def test_where_the_server_takes_no_schema_it_stands_in_the_prompt(ask, endpoint, server):
    endpoint.supports_json_schema = False
    endpoint.save()
    [answer] = ask("document:n", schema=SCHEMA)
    assert answer.data == {"choice": "n"}
    [body] = server.asked()
    assert "response_format" not in body
    assert '"additionalProperties": false' in body["messages"][0]["content"]


def test_a_refusal_of_a_structured_answer_is_kept_and_not_asked_again(ask, server):
    [answer] = ask("refuse", schema=SCHEMA)
    assert (answer.refusal, answer.data, answer.fault) == ("I would rather not.", None, "")
    assert len(server.seen) == 1


def test_parameters_go_where_servers_look_for_them(ask, endpoint, server):
    endpoint.token_parameter = "max_completion_tokens"
    endpoint.save()
    ask("ok", temperature=0.5, max_tokens=9, top_k=3)
    [body] = server.asked()
    assert (body["temperature"], body["top_k"], body["max_completion_tokens"]) == (0.5, 3, 9)
    assert "max_tokens" not in body
