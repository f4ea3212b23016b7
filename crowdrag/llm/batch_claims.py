"""Many questions in one transaction: claimed before they are sent, booked and answered after.

`TransactionBatcher` gathers what the questions in flight want of the database, and does all that is due at a time in
one transaction: `begin` and `finish`. These do what is usual: new questions, and answers that settle them. Whatever
else there may be (a question that is known, a claim that was lost, no money) goes through `claims`, one by one. What is
promised is the same: an intent is committed before its question is sent, and an answer is delivered after its commit.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, TypeVar

from django.db import connection, transaction
from django.db.utils import OperationalError

from . import claims, concurrency, ledger
from .claims import BoundOf, ClaimedCall, HeldElsewhere, StartedAttempt, Verdict
from .concurrency import CallContext, Wait
from .enums import AttemptState, CallState, Fault
from .event_loop import RunInCaller
from .models import Call
from .requests import Answer, Question, stored_answer

R = TypeVar("R")
BeginResult = tuple[ClaimedCall, StartedAttempt | Wait] | Answer | HeldElsewhere

# Each statement takes its rows as one JSON document, so that its words are the same however many rows there are.
# In the order of the digests: of two processes that store the same questions, none waits for the other in a circle.
INSERT_CALLS = """
    INSERT INTO llm_call (digest, endpoint_id, model, sample, purpose, study_id, state, fault, error, request,
        finish_reason, usage_estimated, created_at, claimed_by, claimed_until, fence)
    SELECT g.digest, %s, %s, g.sample, %s, %s, %s, %s, '', g.request, '', false, %s, %s, %s, 1
    FROM jsonb_to_recordset(%s::jsonb) AS g(digest text, sample integer, request jsonb) ORDER BY g.digest
    ON CONFLICT (digest) DO NOTHING RETURNING digest, id
"""
INSERT_ATTEMPTS = """
    INSERT INTO llm_attempt (call_id, study_id, endpoint_id, number, fence, state, fault, error, usage_estimated,
        bound, cost, currency, started_at)
    SELECT g.call, %s, %s, 1, 1, %s, %s, '', false, g.bound, g.bound, %s, %s
    FROM jsonb_to_recordset(%s::jsonb) AS g(call bigint, bound numeric) RETURNING call_id, id
"""
# The calls' rows before the attempts', as everywhere; an attempt that an operator settled meanwhile stays.
STORE_ANSWERS = """
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
class FinishedAttempt:
    """A sending that came home, and what it came to."""

    started: StartedAttempt
    claimed: ClaimedCall
    verdict: Verdict


def begin(*, wanted: Sequence[tuple[Question, BoundOf]], asker: CallContext) -> list[BeginResult | Exception]:
    """Take questions, all different, for asking, and write the intents to send them, in one transaction.

    For each what `claims.begin` returns or raises. With room or money for some only, the others wait.
    """
    try:
        begun = _begin_new(wanted, asker)
    except OperationalError:  # a deadlock, say: nothing of it stands, and one by one they go
        begun = {}
    return [
        begun[question.digest]
        if question.digest in begun
        else _result_or_error(claims.begin, question=question, asker=asker, bound=bound)
        for question, bound in wanted
    ]


def finish(*, finished: Sequence[FinishedAttempt], asker: CallContext) -> list[Answer | Exception | None]:
    """Book attempts and store the answers that settle their questions, in one transaction.

    For each what `claims.finish` returns or raises.
    """
    usual = [one for one in finished if one.verdict.settled and not one.verdict.rest]
    try:
        answers = _settle(usual, asker) if usual else {}
    except OperationalError:
        answers = {}
    return [
        answers[one.started.attempt]
        if one.started.attempt in answers
        else _result_or_error(claims.finish, started=one.started, claimed=one.claimed, asker=asker, verdict=one.verdict)
        for one in finished
    ]


def _result_or_error(function: Callable[..., R], **arguments: Any) -> R | Exception:
    try:
        return function(**arguments)
    except Exception as error:  # noqa: BLE001 - the one whose it is raises it; the others go on
        return error


def _begin_new(wanted: Sequence[tuple[Question, BoundOf]], asker: CallContext) -> dict[str, BeginResult]:
    """Store and claim the questions that are new, and write intents for as many as there is room and money for."""
    with transaction.atomic(durable=True):
        now = asker.policy.clock()
        concurrency.serialise_claims(asker)
        free = concurrency.free_slots(asker, now)
        fresh = _store(wanted, asker, now)
        new = [(fresh[question.digest], bound(None)) for question, bound in wanted if question.digest in fresh]
        amounts = {
            call: ledger.price(endpoint=asker.endpoint, prompt=most.prompt, completion=most.completion)
            for call, most in new[: 0 if isinstance(free, Wait) else free]
        }
        started: dict[int, int] = {}
        # Without money for all of them each sees for itself whether there is enough for one, and what to do if not.
        wait = free if isinstance(free, Wait) else Wait(asker.policy.poll)
        if ledger.hold(study=asker.study, amount=sum(amounts.values(), ledger.ZERO)):
            started = _intend(amounts, asker, now)
        else:
            wait = Wait(0.0)
    begun: dict[str, BeginResult] = {}
    for digest, call in fresh.items():
        claimed = ClaimedCall(call, fence=1, sent=0, asks=0, complaint=None)
        begun[digest] = claimed, StartedAttempt(started[call], 1, amounts[call]) if call in started else wait
    return begun


def _store(wanted: Sequence[tuple[Question, BoundOf]], asker: CallContext, now: datetime) -> dict[str, int]:
    rows = [
        {"digest": question.digest, "sample": question.sample, "request": question.content}
        for question, _bound in wanted
    ]
    study = asker.study.pk if asker.study is not None else None
    until = now + timedelta(seconds=asker.policy.lease)
    parameters: list[Any] = [asker.endpoint.pk, asker.endpoint.model, asker.purpose, study, CallState.OPEN, Fault.NONE]
    with connection.cursor() as cursor:
        cursor.execute(INSERT_CALLS, [*parameters, now, asker.token, until, json.dumps(rows)])
        return dict(cursor.fetchall())


def _intend(amounts: dict[int, Decimal], asker: CallContext, now: datetime) -> dict[int, int]:
    if not amounts:
        return {}
    rows = [{"call": call, "bound": str(amount)} for call, amount in amounts.items()]
    study = asker.study.pk if asker.study is not None else None
    parameters: list[Any] = [study, asker.endpoint.pk, AttemptState.INTENDED, Fault.NONE, asker.endpoint.currency, now]
    with connection.cursor() as cursor:
        cursor.execute(INSERT_ATTEMPTS, [*parameters, json.dumps(rows)])
        return dict(cursor.fetchall())


def _settle(finished: Sequence[FinishedAttempt], asker: CallContext) -> dict[int, Answer]:
    """Store the answers of the questions that are still ours, by attempt; of the others nothing is changed."""
    with transaction.atomic(durable=True):
        now = asker.policy.clock()
        calls = [claims.with_answer(one.started, one.claimed, asker, one.verdict, now) for one in finished]
        rows = [_row(one, call, asker) for one, call in zip(finished, calls, strict=True)]
        parameters: list[Any] = [json.dumps(rows), now, asker.token, CallState.OPEN, now, *ledger.OPEN_STATES]
        with connection.cursor() as cursor:
            cursor.execute(STORE_ANSWERS, [*parameters, AttemptState.UNKNOWN])
            own, bound, cost = cursor.fetchone()
        ledger.settle(study=asker.study, bound=bound, cost=cost)
    ours = set(own or ())
    return {
        one.started.attempt: stored_answer(call, cached=False)
        for one, call in zip(finished, calls, strict=True)
        if call.pk in ours
    }


def _row(one: FinishedAttempt, call: Call, asker: CallContext) -> dict[str, Any]:
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
        "cost": str(claims.attempt_cost(one.started, asker, one.verdict)),
        "reply": claims.unusable_reply(one.verdict),
        "status": sent.status,
        "retry_after": sent.retry_after,
        "latency": sent.latency,
    }


Deliver = Callable[[Question, Answer], None]
Waiting = list[tuple[Any, "asyncio.Future[Any]"]]
# While enough intents stand ahead, a turn waits so long for more to do: transactions cost more than what is in them.
GATHER_SECONDS = 0.02


class TransactionBatcher:
    """Begins and finishes questions; an answer is delivered as soon as it is stored, before any other is begun.

    `is_idle` says whether somebody may be waiting for this: then a turn begins at once.
    """

    def __init__(self, *, call: RunInCaller, asker: CallContext, deliver: Deliver, is_idle: Callable[[], bool]) -> None:
        self._call = call
        self._asker = asker
        self._deliver = deliver
        self._is_idle = is_idle
        self._beginning: Waiting = []
        self._finishing: Waiting = []
        self._due = asyncio.Event()

    async def begin(self, question: Question, bound: BoundOf) -> BeginResult:
        """Take a question for asking; see `claims.begin`."""
        begun: BeginResult = await self._wait_in(self._beginning, (question, bound))
        return begun

    async def finish(self, question: Question, finished: FinishedAttempt) -> Answer | None:
        """Book an attempt and store its answer; see `claims.finish`."""
        answer: Answer | None = await self._wait_in(self._finishing, (question, finished))
        return answer

    async def serve(self) -> None:
        """Do what is due, until cancelled."""
        while True:
            await self._due.wait()
            if not self._is_idle():
                await asyncio.sleep(GATHER_SECONDS)
            self._due.clear()
            await self._turn(self._finishing, self._finish)
            await asyncio.sleep(0)  # whoever is answered now wants the next question begun in this very turn
            await self._turn(self._beginning, self._begin)

    async def _wait_in(self, waiting: Waiting, item: Any) -> Any:
        future = asyncio.get_running_loop().create_future()
        waiting.append((item, future))
        self._due.set()
        return await future

    async def _turn(self, waiting: Waiting, function: Callable[[Sequence[Any]], Sequence[Any]]) -> None:
        if not waiting:
            return
        batch = waiting.copy()
        waiting.clear()
        try:
            outcomes = await self._call(function, [item for item, _future in batch])
        except Exception as error:  # noqa: BLE001 - raised where each is waited for
            outcomes = [error] * len(batch)
        for (_item, future), outcome in zip(batch, outcomes, strict=True):
            if future.done():  # cancelled meanwhile
                continue
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

    def _begin(self, wanted: Sequence[tuple[Question, BoundOf]]) -> Sequence[BeginResult | Exception]:
        begun = begin(wanted=wanted, asker=self._asker)
        return [self._delivered(question, one) for (question, _bound), one in zip(wanted, begun, strict=True)]

    def _finish(self, given: Sequence[tuple[Question, FinishedAttempt]]) -> Sequence[Answer | Exception | None]:
        answers = finish(finished=[finished for _question, finished in given], asker=self._asker)
        return [self._delivered(question, one) for (question, _finished), one in zip(given, answers, strict=True)]

    def _delivered(self, question: Question, outcome: Any) -> Any:
        if isinstance(outcome, Answer):
            try:
                self._deliver(question, outcome)
            except Exception as error:  # noqa: BLE001 - it stops the wave, which raises it
                return error
        return outcome
