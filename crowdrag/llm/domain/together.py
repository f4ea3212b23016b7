"""Many questions in one transaction: taken for asking before they are sent, booked and answered after.

What is in these two is what is usual: new questions, and answers that settle them. Whatever else there may be (a
question that is known, a claim that was lost, no money) goes through `claims`, one by one. What is promised is the
same: an intent is committed before its question is sent, and an answer is heard only after its commit.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, TypeVar

from django.db import connection, transaction
from django.db.utils import OperationalError

from ..enums import AttemptState, CallState, Fault
from ..models import Call
from . import claims, costs, ledger, room
from .claims import BoundOf, Claimed, Held, Started, Verdict
from .requests import Answer, Question, stored
from .room import Asker, Wait

R = TypeVar("R")
Begun = tuple[Claimed, Started | Wait] | Answer | Held

# Each statement takes its rows as one JSON document, so that its words are the same however many rows there are.
# In the order of the digests: of two processes that store the same questions, none waits for the other in a circle.
NEW = """
    INSERT INTO llm_call (digest, endpoint_id, model, sample, purpose, study_id, state, fault, error, request,
        finish_reason, usage_estimated, created_at, claimed_by, claimed_until, fence)
    SELECT g.digest, %s, %s, g.sample, %s, %s, %s, %s, '', g.request, '', false, %s, %s, %s, 1
    FROM jsonb_to_recordset(%s::jsonb) AS g(digest text, sample integer, request jsonb) ORDER BY g.digest
    ON CONFLICT (digest) DO NOTHING RETURNING digest, id
"""
INTENDED = """
    INSERT INTO llm_attempt (call_id, study_id, endpoint_id, number, fence, state, fault, error, usage_estimated,
        bound, cost, currency, started_at)
    SELECT g.call, %s, %s, 1, 1, %s, %s, '', false, g.bound, g.bound, %s, %s
    FROM jsonb_to_recordset(%s::jsonb) AS g(call bigint, bound numeric) RETURNING call_id, id
"""
# The calls' rows before the attempts', as everywhere; an attempt that an operator settled meanwhile stays.
SETTLED = """
    WITH given AS (
        SELECT * FROM jsonb_to_recordset(%s::jsonb) AS g(
            call bigint, attempt bigint, fence integer, call_state text, state text, fault text, error text, text text,
            refusal text, finish_reason text, logprobs jsonb, data jsonb, prompt bigint, completion bigint,
            estimated boolean, call_cost numeric, cost numeric, reply text, status smallint, retry_after float8,
            latency float8
        )
    ), own AS (
        UPDATE llm_call c SET claimed_by = NULL, claimed_until = NULL, state = g.call_state, fault = g.fault,
            error = g.error, answered_at = %s, text = g.text, refusal = g.refusal, finish_reason = g.finish_reason,
            logprobs = g.logprobs, data = g.data, prompt_tokens = g.prompt, completion_tokens = g.completion,
            usage_estimated = g.estimated, cost = g.call_cost
        FROM given g
        WHERE c.id = g.call AND c.claimed_by = %s AND c.fence = g.fence AND c.state = %s AND c.erased_at IS NULL
        RETURNING c.id
    ), booked AS (
        UPDATE llm_attempt a SET state = g.state, fault = g.fault, error = g.error, reply = g.reply,
            http_status = g.status, retry_after = g.retry_after, latency = g.latency, ended_at = %s, cost = g.cost,
            prompt_tokens = g.prompt, completion_tokens = g.completion, usage_estimated = g.estimated
        FROM given g JOIN own ON own.id = g.call
        WHERE a.id = g.attempt AND a.state IN (%s, %s)
        RETURNING a.state, a.bound, a.cost
    )
    SELECT (SELECT array_agg(id) FROM own), coalesce(sum(bound), 0), coalesce(sum(cost), 0)
    FROM booked WHERE state <> %s
"""


@dataclass(frozen=True)
class Finished:
    """A sending that came home, and what it came to."""

    started: Started
    claimed: Claimed
    verdict: Verdict


def begin(*, wanted: Sequence[tuple[Question, BoundOf]], asker: Asker) -> list[Begun | Exception]:
    """Take questions, all different, for asking, and write the intents to send them, in one transaction.

    For each what `claims.begin` returns or raises. With room or money for some only, the others wait.
    """
    try:
        begun = _new(wanted, asker)
    except OperationalError:  # a deadlock, say: nothing of it stands, and one by one they go
        begun = {}
    return [
        begun[question.digest]
        if question.digest in begun
        else _or_raised(claims.begin, question=question, asker=asker, bound=bound)
        for question, bound in wanted
    ]


def finish(*, finished: Sequence[Finished], asker: Asker) -> list[Answer | Exception | None]:
    """Book attempts and store the answers that settle their questions, in one transaction.

    For each what `claims.finish` returns or raises.
    """
    usual = [one for one in finished if one.verdict.settled and not one.verdict.rest]
    try:
        answers = _settled(usual, asker) if usual else {}
    except OperationalError:
        answers = {}
    return [
        answers[one.started.attempt]
        if one.started.attempt in answers
        else _or_raised(claims.finish, started=one.started, claimed=one.claimed, asker=asker, verdict=one.verdict)
        for one in finished
    ]


def _or_raised(function: Callable[..., R], **arguments: Any) -> R | Exception:
    try:
        return function(**arguments)
    except Exception as error:  # noqa: BLE001 - the one whose it is raises it; the others go on
        return error


def _new(wanted: Sequence[tuple[Question, BoundOf]], asker: Asker) -> dict[str, Begun]:
    """Store and claim the questions that are new, and write intents for as many as there is room and money for."""
    with transaction.atomic(durable=True):
        now = asker.policy.clock()
        room.queue_up(asker)
        free = room.free(asker, now)
        fresh = _store(wanted, asker, now)
        new = [(fresh[question.digest], bound(None)) for question, bound in wanted if question.digest in fresh]
        amounts = {
            call: costs.price(endpoint=asker.endpoint, prompt=most.prompt, completion=most.completion)
            for call, most in new[: 0 if isinstance(free, Wait) else free]
        }
        started: dict[int, int] = {}
        # Without money for all of them each sees for itself whether there is enough for one, and what to do if not.
        wait = free if isinstance(free, Wait) else Wait(asker.policy.poll)
        if ledger.hold(study=asker.study, amount=sum(amounts.values(), ledger.ZERO)):
            started = _intend(amounts, asker, now)
        else:
            wait = Wait(0.0)
    begun: dict[str, Begun] = {}
    for digest, call in fresh.items():
        claimed = Claimed(call, fence=1, sent=0, asks=0, complaint=None)
        begun[digest] = claimed, Started(started[call], 1, amounts[call]) if call in started else wait
    return begun


def _store(wanted: Sequence[tuple[Question, BoundOf]], asker: Asker, now: datetime) -> dict[str, int]:
    rows = [
        {"digest": question.digest, "sample": question.sample, "request": question.content}
        for question, _bound in wanted
    ]
    study = asker.study.pk if asker.study is not None else None
    until = now + timedelta(seconds=asker.policy.lease)
    parameters: list[Any] = [asker.endpoint.pk, asker.endpoint.model, asker.purpose, study, CallState.OPEN, Fault.NONE]
    with connection.cursor() as cursor:
        cursor.execute(NEW, [*parameters, now, asker.token, until, json.dumps(rows)])
        return dict(cursor.fetchall())


def _intend(amounts: dict[int, Decimal], asker: Asker, now: datetime) -> dict[int, int]:
    if not amounts:
        return {}
    rows = [{"call": call, "bound": str(amount)} for call, amount in amounts.items()]
    study = asker.study.pk if asker.study is not None else None
    parameters: list[Any] = [study, asker.endpoint.pk, AttemptState.INTENDED, Fault.NONE, asker.endpoint.currency, now]
    with connection.cursor() as cursor:
        cursor.execute(INTENDED, [*parameters, json.dumps(rows)])
        return dict(cursor.fetchall())


def _settled(finished: Sequence[Finished], asker: Asker) -> dict[int, Answer]:
    """Store the answers of the questions that are still ours, by attempt; of the others nothing is changed."""
    with transaction.atomic(durable=True):
        now = asker.policy.clock()
        calls = [claims.answered(one.started, one.claimed, asker, one.verdict, now) for one in finished]
        rows = [_row(one, call, asker) for one, call in zip(finished, calls, strict=True)]
        parameters: list[Any] = [json.dumps(rows), now, asker.token, CallState.OPEN, now, *ledger.OPEN_STATES]
        with connection.cursor() as cursor:
            cursor.execute(SETTLED, [*parameters, AttemptState.UNKNOWN])
            own, bound, cost = cursor.fetchone()
        ledger.settle(study=asker.study, bound=bound, cost=cost)
    ours = set(own or ())
    return {
        one.started.attempt: stored(call, cached=False)
        for one, call in zip(finished, calls, strict=True)
        if call.pk in ours
    }


def _row(one: Finished, call: Call, asker: Asker) -> dict[str, Any]:
    sent, usage = one.verdict.sent, one.verdict.usage
    return {
        "call": call.pk,
        "attempt": one.started.attempt,
        "fence": one.claimed.fence,
        "call_state": call.state,
        "state": sent.state,
        "fault": call.fault,
        "error": call.error,
        "text": call.text,
        "refusal": call.refusal,
        "finish_reason": call.finish_reason,
        "logprobs": call.logprobs,
        "data": call.data,
        "prompt": usage.prompt if usage else None,
        "completion": usage.completion if usage else None,
        "estimated": usage.estimated if usage else False,
        "call_cost": None if call.cost is None else str(call.cost),
        "cost": str(claims.cost(one.started, asker, one.verdict)),
        "reply": claims.unusable(one.verdict),
        "status": sent.status,
        "retry_after": sent.retry_after,
        "latency": sent.latency,
    }
