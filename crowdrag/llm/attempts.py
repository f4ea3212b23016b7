"""Rows of calls and attempts: claimed and written before a question is sent, and booked afterwards.

A call is claimed before it is sent, with a lease that its holder renews. `fence` counts the claims. So two processes
never send the same question at once, another process takes over when a lease expires, and a process that was only slow
finds its fence outdated and cannot overwrite what its successor stored. Its cost is booked all the same.

Each function handles many questions in one transaction. All take their locks in one order: calls by their digest or id,
then attempts, then the study's spending. The number of attempts in flight is counted over all processes in the rows.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection, transaction
from django.db.models import F, Model
from django.utils import timezone

from crowdrag.studies.models import Study

from . import GatewayError, ledger
from .enums import AttemptState, CallState, Fault
from .models import LONGEST_CLAIM, Attempt, Call, Endpoint
from .requests import Answer, Question, compose, stored_answer
from .retry_policy import RetryPolicy

FREE_SLOTS_SQL = """
    SELECT is_allowed, paused_until, concurrency, (
        SELECT count(*) FROM llm_attempt a JOIN llm_call c ON c.id = a.call_id
        WHERE a.endpoint_id = e.id AND a.state = %s AND c.claimed_until BETWEEN %s AND %s
    ), EXISTS (
        SELECT FROM llm_call c WHERE c.claimed_by <> %s AND c.claimed_until BETWEEN %s AND %s AND c.endpoint_id = e.id
    ) FROM llm_endpoint e WHERE id = %s
"""
SERIALISE_SQL = "SELECT pg_advisory_xact_lock(hashtext('crowdrag.llm.room'), %s)"

# Fields of an outcome that are columns: of both calls and attempts, of calls, of attempts.
SHARED_COLUMNS = ("fault", "error", "prompt_tokens", "completion_tokens", "usage_estimated")
ANSWER_COLUMNS = ("text", "refusal", "finish_reason", "logprobs", "data")
ATTEMPT_COLUMNS = ("state", "http_status", "retry_after", "latency")


class EndpointNotAllowedError(GatewayError):
    """The operator does not allow calls to this endpoint."""


@dataclass(frozen=True)
class CallContext:
    """One use of the gateway, identified by its token."""

    token: UUID
    endpoint: Endpoint
    study: Study | None
    purpose: str
    policy: RetryPolicy

    def lease(self, now: datetime) -> dict[str, Any]:
        """Return the columns of a call that this context holds."""
        return {"claimed_by": self.token, "claimed_until": now + timedelta(seconds=self.policy.lease)}


@dataclass(frozen=True)
class StartedAttempt:
    """An attempt that is recorded and may be sent; `invalid_answers` earlier ones did not fit the schema."""

    question: Question
    attempt: Attempt
    body: dict[str, Any]
    bound: ledger.TokenUsage
    invalid_answers: int


@dataclass(frozen=True)
class Outcome:
    """The outcome of an attempt.

    Fields that are columns of an attempt or a call have their names. `logprobs` are the server's for the answer's
    tokens; or, if `prompt_logprobs` were requested (vLLM), a pair of text and log probability for each token of the
    prompt, without the first, which has none. `is_transient` says whether a retry may help, `reported` is the usage
    reported by the server. `replies.judge` adds the tokens that are booked, `data`, and whether the question is
    settled.
    """

    state: AttemptState
    fault: Fault = Fault.NONE
    error: str = ""
    is_transient: bool = False
    http_status: int | None = None
    retry_after: float | None = None
    latency: float = 0.0
    text: str | None = None
    refusal: str | None = None
    finish_reason: str = ""
    logprobs: Any = None
    data: Any = None
    reported: Any = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    usage_estimated: bool = False
    is_settled: bool = True


@dataclass
class Begun:
    """The result of starting questions.

    `answers` were stored already, by digest. `held` are being sent by another process. `unstarted` have to wait for a
    free slot or money, for about `wait` seconds.
    """

    started: list[StartedAttempt] = field(default_factory=list)
    answers: dict[str, Answer] = field(default_factory=dict)
    held: list[Question] = field(default_factory=list)
    unstarted: list[Question] = field(default_factory=list)
    wait: float = 0.0


def prefetch_limit(slots: int) -> int:
    """Return how many attempts are recorded ahead of sending, so that the endpoint need not wait for the database.

    Half of the endpoint's slots: that many answers arrive in half the duration of a call, which is how long a
    busy disk may delay the database. More would be charged for nothing when a process is killed.
    """
    return slots // 2


def free_slots(context: CallContext, now: datetime) -> tuple[int, float]:
    """Return how many attempts may be started now; if none, also how many seconds to wait.

    The endpoint may be resting, or fully used by calls of all processes. While no other process calls it, some attempts
    may be recorded ahead: the client sends no more at once than the endpoint takes. With other processes, each attempt
    counts as sent.
    """
    with connection.cursor() as cursor:
        span = now, now + LONGEST_CLAIM
        cursor.execute(FREE_SLOTS_SQL, [AttemptState.INTENDED, *span, context.token, *span, context.endpoint.pk])
        row = cursor.fetchone()
    if row is None or not (row[0] or context.study is None):
        raise EndpointNotAllowedError(
            f"The endpoint “{context.endpoint}” is not allowed or no longer allowed. An operator can allow it."
        )
    _allowed, paused_until, concurrency, in_flight, is_shared = row
    # A pause that is longer than any that is respected began before the clock was set back.
    if paused_until is not None and 0 < (pause := (paused_until - now).total_seconds()) <= context.policy.longest_wait:
        return 0, pause
    is_alone = not is_shared and concurrency == context.endpoint.concurrency
    slots = concurrency * len(context.endpoint.server_urls)
    count = slots + (prefetch_limit(slots) if is_alone else 0) - in_flight
    return (count, 0.0) if count > 0 else (0, context.policy.poll)


def look_up(*, digests: Sequence[str]) -> dict[str, Answer]:
    """Return the answers that are already stored, by digest."""
    calls = Call.objects.settled().defer("request").in_bulk(digests, field_name="digest")
    return {digest: stored_answer(call) for digest, call in calls.items()}


def begin(*, context: CallContext, questions: Sequence[Question]) -> Begun:
    """Claim questions, hold the money for them, and record the attempts to send them; all of it is committed at once.

    The questions are distinct, and this context has no attempt in flight for any of them.

    Raises
    ------
    BudgetExceededError
        There is no money for the first of them, and none will be released.
    """
    with transaction.atomic(durable=True):
        now = timezone.now()
        # Processes record attempts for one endpoint one after another, so that each counts the others' attempts.
        # The lock is by name and not on the endpoint's row: others write that row while they have calls locked.
        with connection.cursor() as cursor:
            cursor.execute(SERIALISE_SQL, [context.endpoint.pk])
        count, wait = free_slots(context, now)
        chosen = questions[:count]
        begun = Begun(unstarted=list(questions[count:]), wait=wait or context.policy.poll)
        claims = _claim(context, chosen, now) if chosen else {}
        if others := [question for question in chosen if question.digest not in claims]:
            begun.answers = look_up(digests=[question.digest for question in others])
            begun.held = [question for question in others if question.digest not in begun.answers]
        if claims:
            ours = [question for question in chosen if question.digest in claims]
            drafts = _draft(context, ours, claims, now)
            count = _hold_money(context, [draft.attempt.bound for draft in drafts], now)
            begun.started, begun.unstarted = drafts[:count], ours[count:] + begun.unstarted
            Attempt.objects.bulk_create(draft.attempt for draft in begun.started)
    return begun


def _claim(context: CallContext, questions: Sequence[Question], now: datetime) -> dict[str, Call]:
    """Store new questions, claim all that no other process holds, and return the claimed rows, locked, by digest."""
    lease = context.lease(now)
    contents = {question.digest: question for question in sorted(questions, key=lambda question: question.digest)}
    Call.objects.bulk_create(
        (
            Call(
                digest=digest, endpoint=context.endpoint, model=context.endpoint.model, sample=question.sample,
                purpose=context.purpose, study=context.study, request=question.content, created_at=now, fence=1,
                **lease,
            )
            for digest, question in contents.items()
        ),
        ignore_conflicts=True,
    )  # fmt: skip
    rows = Call.objects.select_for_update(no_key=True).filter(digest__in=list(contents)).order_by("digest")
    claims = {}
    for call in rows.only("digest", "claimed_by", "claimed_until", "fence", "erased_at"):
        row = Call.objects.filter(pk=call.pk)
        if call.claimed_by == context.token and call.erased_at is None:
            if call.claimed_until != lease["claimed_until"]:
                row.update(**lease)
        elif row.claimable(context.token, now).update(
            fence=F("fence") + 1,
            state=CallState.OPEN,
            fault=Fault.NONE,
            error="",
            erased_at=None,
            request=contents[call.digest].content,
            **lease,
        ):
            call.fence += 1
        else:
            continue
        claims[call.digest] = call
    return claims


def _draft(
    context: CallContext, questions: Sequence[Question], claims: dict[str, Call], now: datetime
) -> list[StartedAttempt]:
    """Compose the next attempt of each claimed question, after earlier ones by us or by a lost process."""
    calls = [claims[question.digest] for question in questions]
    earlier: dict[int | None, list[Attempt]] = {}
    for attempt in Attempt.objects.filter(call__in=calls).order_by("number", "id"):
        earlier.setdefault(attempt.call_id, []).append(attempt)
    if any(attempt.state == AttemptState.INTENDED for attempts in earlier.values() for attempt in attempts):
        ledger.give_up(Attempt.objects.filter(call__in=calls, state=AttemptState.INTENDED), now)
    drafts = []
    for question, call in zip(questions, calls, strict=True):
        attempts = earlier.get(call.pk, [])
        invalid = [attempt for attempt in attempts if attempt.fault == Fault.INVALID]
        complaint = (invalid[-1].reply or "", invalid[-1].error) if invalid else None
        body, bound = compose(question, context.endpoint, complaint)
        amount = ledger.price(endpoint=context.endpoint, prompt=bound.prompt_tokens, completion=bound.completion_tokens)
        attempt = Attempt(
            call=call, study=context.study, endpoint=context.endpoint, fence=call.fence, bound=amount, cost=amount,
            number=attempts[-1].number + 1 if attempts else 1, currency=context.endpoint.currency, started_at=now,
        )  # fmt: skip
        drafts.append(StartedAttempt(question, attempt, body, bound, len(invalid)))
    return drafts


def _hold_money(context: CallContext, amounts: Sequence[Decimal], now: datetime) -> int:
    """Hold the money for as many attempts as the budget allows, in order, and return how many."""
    if ledger.hold(study=context.study, amount=sum(amounts, ledger.ZERO)):
        return len(amounts)
    assert context.study is not None
    # Twice: the last attempt in flight may be settled between the failed hold and the check for attempts in flight.
    for _turn in range(2):
        count = 0
        while count < len(amounts) and ledger.hold(study=context.study, amount=amounts[count]):
            count += 1
        if count:
            return count
        ledger.give_up_lost(now=now)
        if Attempt.objects.in_flight(now).filter(study=context.study, bound__gt=0).exists():
            return 0  # their outcome may release money
    raise ledger.budget_exceeded(study=context.study, currency=context.endpoint.currency, amount=amounts[0])


def finish(
    *, context: CallContext, finished: Sequence[tuple[StartedAttempt, Outcome]], rest: float = 0.0
) -> dict[Attempt, Answer]:
    """Book attempts, and store the answer of each question that is settled and still ours.

    `rest`: the seconds for which the endpoint accepts no calls; other processes then send none either.

    Returns the answers that are now stored, by attempt. A settled question without an answer was taken over by another
    process, which has not answered it yet.
    """
    with transaction.atomic(durable=True):
        now = timezone.now()
        costs = {started.attempt: _cost(context, started.attempt, outcome) for started, outcome in finished}
        settled = [(started.attempt, outcome) for started, outcome in finished if outcome.is_settled]
        answers = _store_answers(context, settled, costs, now)
        lost = {
            started.attempt: started.question.digest
            for started, outcome in finished
            if outcome.is_settled and started.attempt not in answers
        }
        # The others were settled by an operator meanwhile, by the provider's bill.
        booked = _book([(started.attempt, outcome) for started, outcome in finished], costs, now)
        known = [
            started.attempt
            for started, outcome in finished
            if started.attempt.pk in booked and outcome.state != AttemptState.UNKNOWN
        ]
        freed = sum((attempt.bound for attempt in known), ledger.ZERO)
        spent = sum((costs[attempt] for attempt in known), ledger.ZERO)
        ledger.settle(study=context.study, bound=freed, cost=spent)
        if rest:
            until = now + timedelta(seconds=rest)
            longer = now + timedelta(seconds=context.policy.longest_wait)
            endpoint = Endpoint.objects.filter(pk=context.endpoint.pk)
            endpoint.exclude(paused_until__range=(until, longer)).update(paused_until=until)
        stored = look_up(digests=list(lost.values()))
    return answers | {attempt: stored[digest] for attempt, digest in lost.items() if digest in stored}


def _cost(context: CallContext, attempt: Attempt, outcome: Outcome) -> Decimal:
    """Return the cost with which an attempt is booked."""
    if outcome.state == AttemptState.UNKNOWN:
        return attempt.bound
    return ledger.price(
        endpoint=context.endpoint, prompt=outcome.prompt_tokens or 0, completion=outcome.completion_tokens or 0
    )


def _store_answers(
    context: CallContext, settled: Sequence[tuple[Attempt, Outcome]], costs: Mapping[Attempt, Decimal], now: datetime
) -> dict[Attempt, Answer]:
    """Store the answers that settle questions, and release the questions; those that are no longer ours are left out.

    One statement: as one for each answer, it took half of the time of a call.
    """
    calls = {
        attempt: Call(
            pk=attempt.call_id,
            fence=attempt.fence,
            state=CallState.FAILED if outcome.fault else CallState.ANSWERED,
            cost=None if outcome.prompt_tokens is None else costs[attempt],
            **{name: getattr(outcome, name) for name in (*SHARED_COLUMNS, *ANSWER_COLUMNS)},
        )
        for attempt, outcome in settled
    }
    columns = ("state", "cost", *SHARED_COLUMNS, *ANSWER_COLUMNS)
    condition = "t.fence = r.fence AND t.claimed_by = %s AND t.state = %s AND t.erased_at IS NULL"
    stored = _update_rows(
        Call, calls.values(), columns, keys=("id", "fence"),
        also="answered_at = %s, claimed_by = NULL, claimed_until = NULL", condition=condition,
        values=[now, context.token, CallState.OPEN],
    )  # fmt: skip
    return {attempt: stored_answer(call, cached=False) for attempt, call in calls.items() if call.pk in stored}


def _book(finished: Sequence[tuple[Attempt, Outcome]], costs: Mapping[Attempt, Decimal], now: datetime) -> set[int]:
    """Book attempts, in one statement, and return the ids of those that were not settled before."""
    rows = [
        Attempt(
            pk=attempt.pk,
            # An answer that does not fit its schema: the next attempt quotes it.
            reply=(outcome.text or "") if outcome.fault == Fault.INVALID else None,
            cost=costs[attempt],
            **{name: getattr(outcome, name) for name in (*SHARED_COLUMNS, *ATTEMPT_COLUMNS)},
        )
        for attempt, outcome in finished
    ]
    columns = ("reply", "cost", *SHARED_COLUMNS, *ATTEMPT_COLUMNS)
    return _update_rows(
        Attempt, rows, columns, keys=("id",), also="ended_at = %s", condition="t.state = ANY(%s)",
        values=[now, list(ledger.OPEN_STATES)],
    )  # fmt: skip


def _update_rows(
    model: type[Model],
    rows: Iterable[Model],
    columns: Sequence[str],
    *,
    keys: Sequence[str],
    also: str,
    condition: str,
    values: Sequence[Any],
) -> set[int]:
    """Set columns of many rows to values of their own, in one statement, and return the ids of those that it changed.

    The rows are found by `keys`, and locked in the order of their ids. `also` is set for all; `condition` is for the
    table `t` and the values `r`.
    """
    records = [{name: getattr(row, name) for name in (*keys, *columns)} for row in rows]
    if not records:
        return set()
    ids = [record["id"] for record in records]
    list(model._default_manager.select_for_update(no_key=True).filter(pk__in=ids).order_by("pk").values_list("pk"))
    types = {field.column: field.db_type(connection) for field in model._meta.concrete_fields}
    record_type = ", ".join(f"{name} {types[name]}" for name in (*keys, *columns))
    changes = ", ".join(f"{name} = r.{name}" for name in columns)
    statement = f"""
        UPDATE {model._meta.db_table} t SET {changes}, {also}
        FROM jsonb_to_recordset(%s::jsonb) AS r({record_type}) WHERE t.id = r.id AND {condition} RETURNING t.id
    """  # noqa: S608 -- names of columns, and conditions written here
    with connection.cursor() as cursor:
        cursor.execute(statement, [values[0], json.dumps(records, cls=DjangoJSONEncoder), *values[1:]])
        return {pk for (pk,) in cursor.fetchall()}


def withdraw(*, context: CallContext, attempts: Sequence[StartedAttempt]) -> None:
    """Remove attempts that were never sent: their rows are deleted, and their money is released."""
    with transaction.atomic(durable=True):
        rows = Attempt.objects.filter(pk__in=[started.attempt.pk for started in attempts], state=AttemptState.INTENDED)
        bounds = dict(rows.select_for_update().order_by("call", "pk").values_list("pk", "bound"))
        Attempt.objects.filter(pk__in=bounds).delete()
        ledger.settle(study=context.study, bound=sum(bounds.values(), ledger.ZERO), cost=ledger.ZERO)


def renew(*, context: CallContext) -> None:
    """Renew the leases of all calls that this context holds."""
    Call.objects.filter(claimed_by=context.token).update(**context.lease(timezone.now()))


def release(*, context: CallContext, digests: Collection[str]) -> None:
    """Release those of these calls that this context holds, since it will not send them."""
    calls = Call.objects.filter(digest__in=digests, claimed_by=context.token)
    calls.update(claimed_by=None, claimed_until=None)
