"""The rows of calls and attempts: what is claimed and written before a question is sent, and booked afterwards.

A call is claimed before it is asked, with a lease that its holder renews. `fence` counts the claims. So two processes
never ask the same at once, another process takes over when a lease runs out, and a process that was only slow finds
its fence passed and cannot overwrite what its successor stored. What it was billed for is booked all the same.

Each function handles many questions in one transaction. All take their locks in one order: calls by their digest or id,
then attempts, then the study's money. How many attempts may be under way is counted over all processes in the rows
themselves.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Greatest
from django.utils.translation import gettext as _

from crowdrag.studies.models import Study

from . import ledger
from .enums import AttemptState, CallState, Fault
from .errors import GatewayError
from .models import Attempt, Call, Endpoint
from .replies import Verdict
from .requests import Answer, Question, compose, stored_answer
from .retry_policy import RetryPolicy

FREE_SLOTS_SQL = """
    SELECT is_allowed, paused_until, concurrency, (
        SELECT count(*) FROM llm_attempt a JOIN llm_call c ON c.id = a.call_id
        WHERE a.endpoint_id = e.id AND a.state = %s AND c.claimed_until >= %s
    ), EXISTS (
        SELECT FROM llm_call c WHERE c.claimed_by <> %s AND c.claimed_until >= %s AND c.endpoint_id = e.id
    ) FROM llm_endpoint e WHERE id = %s
"""
SERIALISE_SQL = "SELECT pg_advisory_xact_lock(hashtext('crowdrag.llm.room'), %s)"


class EndpointNotAllowedError(GatewayError):
    """An endpoint that the operator does not allow to be asked."""


@dataclass(frozen=True)
class CallContext:
    """Who asks: one use of the gateway, known by its token."""

    token: UUID
    endpoint: Endpoint
    study: Study | None
    purpose: str
    policy: RetryPolicy


@dataclass(frozen=True)
class StartedAttempt:
    """An attempt that is on record and may be sent.

    `invalid_answers` counts the answers so far that did not fit the schema; `amount` is the money that is held.
    """

    question: Question
    call: int
    fence: int
    attempt: int
    number: int
    invalid_answers: int
    body: dict[str, Any]
    bound: ledger.TokenBound
    amount: Decimal


@dataclass(frozen=True)
class FreeSlots:
    """How many attempts may be started now; where none may, how many seconds to wait."""

    count: int
    wait: float = 0.0


@dataclass
class Begun:
    """What became of questions that were to be asked.

    `answers` were stored already, by digest. `held` are being asked by another process. `unstarted` have to wait for
    room or money, for about `wait` seconds.
    """

    started: list[StartedAttempt] = field(default_factory=list)
    answers: dict[str, Answer] = field(default_factory=dict)
    held: list[Question] = field(default_factory=list)
    unstarted: list[Question] = field(default_factory=list)
    wait: float = 0.0


def prefetch_limit(concurrency: int) -> int:
    """Return how many attempts are written ahead of the sending, so that the endpoint need not wait for the database.

    Half of what it takes at once: so many answers come in half the time that one takes, and that long may a busy disk
    keep the database. More would be charged for nothing when a process is killed.
    """
    return concurrency // 2


def free_slots(context: CallContext, now: datetime) -> FreeSlots:
    """Return how many attempts there is room for.

    The endpoint may rest, or be as busy as it may be with the calls of all processes. While nobody else asks it, some
    attempts may be written ahead: the client sends no more at once than the endpoint takes. With others about, each
    attempt counts as sent.
    """
    with connection.cursor() as cursor:
        cursor.execute(FREE_SLOTS_SQL, [AttemptState.INTENDED, now, context.token, now, context.endpoint.pk])
        row = cursor.fetchone()
    if row is None or not (row[0] or context.study is None):
        raise EndpointNotAllowedError(
            _("The endpoint “%s” is not allowed (any more). An operator can allow it.") % context.endpoint
        )
    _allowed, paused_until, concurrency, in_flight, is_shared = row
    if paused_until is not None and paused_until > now:
        return FreeSlots(0, (paused_until - now).total_seconds())
    is_alone = not is_shared and concurrency == context.endpoint.concurrency
    count: int = concurrency + (prefetch_limit(concurrency) if is_alone else 0) - in_flight
    return FreeSlots(count) if count > 0 else FreeSlots(0, context.policy.poll)


def look_up(*, digests: Sequence[str]) -> dict[str, Answer]:
    """Return the answers that are stored already, by digest."""
    answers: dict[str, Answer] = {}
    for start in range(0, len(digests), 1000):
        calls = Call.objects.settled().filter(digest__in=digests[start : start + 1000]).defer("request")
        answers |= {call.digest: stored_answer(call) for call in calls.order_by("id")}
    return answers


def begin(*, context: CallContext, questions: Sequence[Question]) -> Begun:
    """Claim questions, hold the money for them, and write the attempts to send them; all of it is committed at once.

    The questions differ from each other, and no attempt of this context is under way for any of them.

    Raises
    ------
    BudgetExceededError
        There is no money for the first of them, and none will become free.
    """
    with transaction.atomic(durable=True):
        now = context.policy.clock()
        _serialise(context.endpoint)
        slots = free_slots(context, now)
        chosen = questions[: slots.count]
        begun = Begun(unstarted=list(questions[slots.count :]), wait=slots.wait or context.policy.poll)
        if not chosen:
            return begun
        claims = _claim(context, chosen, now)
        ours = [question for question in chosen if claims[question.digest].claimed_by == context.token]
        if len(ours) < len(chosen):
            others = [question for question in chosen if claims[question.digest].claimed_by != context.token]
            begun.answers = look_up(digests=[question.digest for question in others])
            begun.held = [question for question in others if question.digest not in begun.answers]
        if ours:
            drafts = _draft(context, ours, claims)
            count = _hold_money(context, [draft.amount for draft in drafts], now)
            begun.started = _write_attempts(context, drafts[:count], now)
            begun.unstarted = ours[count:] + begun.unstarted
    return begun


def _serialise(endpoint: Endpoint) -> None:
    """Let processes write attempts for one endpoint one after another, so that each counts what the other has written.

    The lock goes by name and not by the endpoint's row: others write that row while they hold calls.
    """
    with connection.cursor() as cursor:
        cursor.execute(SERIALISE_SQL, [endpoint.pk])


def _claim(context: CallContext, questions: Sequence[Question], now: datetime) -> dict[str, Call]:
    """Store new questions, claim all that nobody else asks, and return their rows, locked, by digest."""
    lease = {"claimed_by": context.token, "claimed_until": now + timedelta(seconds=context.policy.lease)}
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
    calls = {call.digest: call for call in rows.only("digest", "claimed_by", "claimed_until", "fence", "erased_at")}
    for digest, call in calls.items():
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
            request=contents[digest].content,
            **lease,
        ):
            call.fence += 1
            call.claimed_by = context.token
        else:
            call.claimed_by = None
    return calls


def _draft(context: CallContext, questions: Sequence[Question], claims: dict[str, Call]) -> list[StartedAttempt]:
    """Compose the next attempt of each claimed question, after what was tried before: by us, or by a lost process."""
    calls = [claims[question.digest].pk for question in questions]
    earlier: dict[int, list[Attempt]] = {}
    for attempt in Attempt.objects.filter(call__in=calls).order_by("number", "id"):
        earlier.setdefault(attempt.call_id or 0, []).append(attempt)
    if any(attempt.state == AttemptState.INTENDED for attempts in earlier.values() for attempt in attempts):
        ledger.give_up(Attempt.objects.filter(call__in=calls, state=AttemptState.INTENDED), context.policy.clock())
    drafts = []
    for question in questions:
        call = claims[question.digest]
        attempts = earlier.get(call.pk, [])
        invalid = [attempt for attempt in attempts if attempt.fault == Fault.INVALID]
        complaint = (invalid[-1].reply or "", invalid[-1].error) if invalid else None
        body, bound = compose(question, context.endpoint, complaint)
        amount = ledger.price(endpoint=context.endpoint, prompt=bound.prompt, completion=bound.completion)
        number = attempts[-1].number + 1 if attempts else 1
        drafts.append(StartedAttempt(question, call.pk, call.fence, 0, number, len(invalid), body, bound, amount))
    return drafts


def _hold_money(context: CallContext, amounts: Sequence[Decimal], now: datetime) -> int:
    """Hold the money for as many attempts as the budget allows, in their order, and return how many."""
    if ledger.hold(study=context.study, amount=sum(amounts, ledger.ZERO)):
        return len(amounts)
    assert context.study is not None
    # Twice: between the failed hold and the look at what is in flight, the last of it may have come back.
    for _turn in range(2):
        count = 0
        while count < len(amounts) and ledger.hold(study=context.study, amount=amounts[count]):
            count += 1
        if count:
            return count
        ledger.give_up_lost(now=now)
        if Attempt.objects.in_flight(now).filter(study=context.study, bound__gt=0).exists():
            return 0  # their outcome may set money free
    raise ledger.budget_exceeded(study=context.study, currency=context.endpoint.currency, amount=amounts[0])


def _write_attempts(context: CallContext, drafts: Sequence[StartedAttempt], now: datetime) -> list[StartedAttempt]:
    rows = Attempt.objects.bulk_create(
        Attempt(
            call_id=draft.call, study=context.study, endpoint=context.endpoint, number=draft.number, fence=draft.fence,
            bound=draft.amount, cost=draft.amount, currency=context.endpoint.currency, started_at=now,
        )
        for draft in drafts
    )  # fmt: skip
    return [replace(draft, attempt=row.pk) for draft, row in zip(drafts, rows, strict=True)]


def finish(*, context: CallContext, finished: Sequence[tuple[StartedAttempt, Verdict]]) -> dict[int, Answer]:
    """Book attempts, and store the answer of each question that is settled and still ours to answer.

    Returns the answers that are now stored, by attempt. A settled question without one was taken over by another
    process, which has not answered it yet.
    """
    with transaction.atomic(durable=True):
        now = context.policy.clock()
        freed = cost = ledger.ZERO
        answers: dict[int, Answer] = {}
        for started, verdict in sorted(finished, key=lambda one: one[0].call):
            if verdict.settled and (answer := _store_answer(context, started, verdict, now)):
                answers[started.attempt] = answer
            # No row: an operator settled it by the provider's bill meanwhile.
            if _book(context, started, verdict, now) and verdict.sent.state != AttemptState.UNKNOWN:
                freed += started.amount
                cost += attempt_cost(context, started, verdict)
        ledger.settle(study=context.study, bound=freed, cost=cost)
        if rest := max((verdict.rest for _started, verdict in finished), default=0.0):
            until = now + timedelta(seconds=rest)
            Endpoint.objects.filter(pk=context.endpoint.pk).update(paused_until=Greatest("paused_until", until))
        lost = {
            started.attempt: started.question.digest
            for started, verdict in finished
            if verdict.settled and started.attempt not in answers
        }
        stored = look_up(digests=list(lost.values())) if lost else {}
    return answers | {attempt: stored[digest] for attempt, digest in lost.items() if digest in stored}


def attempt_cost(context: CallContext, started: StartedAttempt, verdict: Verdict) -> Decimal:
    """Return what an attempt is booked with."""
    if verdict.sent.state == AttemptState.UNKNOWN:
        return started.amount
    if verdict.usage is None:
        return ledger.ZERO
    return ledger.price(endpoint=context.endpoint, prompt=verdict.usage.prompt, completion=verdict.usage.completion)


def _usage_fields(verdict: Verdict) -> dict[str, Any]:
    usage = verdict.usage
    if usage is None:
        return {}
    return {
        "prompt_tokens": usage.prompt, "completion_tokens": usage.completion, "usage_estimated": usage.estimated
    }  # fmt: skip


def _store_answer(context: CallContext, started: StartedAttempt, verdict: Verdict, now: datetime) -> Answer | None:
    """Store what settles a question, and let go of it; None where it is not ours any more."""
    reply = verdict.sent.reply
    fields: dict[str, Any] = {
        "state": CallState.FAILED if verdict.fault else CallState.ANSWERED,
        "fault": verdict.fault,
        "error": verdict.error,
        "answered_at": now,
        "text": reply.text if reply else None,
        "refusal": reply.refusal if reply else None,
        "finish_reason": reply.finish_reason if reply else "",
        "logprobs": reply.logprobs if reply else None,
        "data": verdict.data if reply else None,
        "prompt_tokens": None,
        "completion_tokens": None,
        "usage_estimated": False,
        "cost": attempt_cost(context, started, verdict) if verdict.usage else None,
        "claimed_by": None,
        "claimed_until": None,
    } | _usage_fields(verdict)
    ours = Call.objects.filter(
        pk=started.call, claimed_by=context.token, fence=started.fence, state=CallState.OPEN, erased_at__isnull=True
    )
    return stored_answer(Call(pk=started.call, **fields), cached=False) if ours.update(**fields) else None


def _book(context: CallContext, started: StartedAttempt, verdict: Verdict, now: datetime) -> int:
    sent = verdict.sent
    return Attempt.objects.filter(pk=started.attempt, state__in=ledger.OPEN_STATES).update(
        state=sent.state,
        cost=attempt_cost(context, started, verdict),
        fault=verdict.fault,
        error=verdict.error,
        # A reply that could not be used: the next question quotes it.
        reply=(sent.reply.text or "") if verdict.problem and sent.reply else None,
        http_status=sent.status,
        retry_after=sent.retry_after,
        latency=sent.latency,
        ended_at=now,
        **_usage_fields(verdict),
    )


def withdraw(*, context: CallContext, attempts: Sequence[StartedAttempt]) -> None:
    """Take back attempts that were never sent: their rows go, and their money is free."""
    with transaction.atomic(durable=True):
        rows = Attempt.objects.filter(pk__in=[one.attempt for one in attempts], state=AttemptState.INTENDED)
        bounds = dict(rows.select_for_update().order_by("call", "pk").values_list("pk", "bound"))
        Attempt.objects.filter(pk__in=bounds).delete()
        ledger.settle(study=context.study, bound=sum(bounds.values(), ledger.ZERO), cost=ledger.ZERO)


def renew(*, context: CallContext) -> None:
    """Renew the leases of all that this context holds."""
    until = context.policy.clock() + timedelta(seconds=context.policy.lease)
    Call.objects.filter(claimed_by=context.token).update(claimed_until=until)


def release(*, context: CallContext) -> None:
    """Let others ask what this context will not ask any more."""
    Call.objects.filter(claimed_by=context.token).update(claimed_by=None, claimed_until=None)
