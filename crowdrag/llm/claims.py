"""Claims, attempts and answers in the database: one transaction before a question is sent, one after.

A call is claimed before it is asked, with a lease that its holder renews; `fence` counts the claims. So two processes
never ask the same at once, a lost process is succeeded when its lease runs out, and a process that was only slow finds
its fence passed and cannot overwrite what its successor stored. What it was billed for is booked all the same.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import connection, transaction
from django.db.models import Case, F, Q, When
from django.db.models.functions import Greatest
from django.utils.translation import gettext as _

from . import concurrency, ledger
from .concurrency import CallContext, Wait
from .enums import AttemptState, CallState, Fault
from .models import Attempt, Call, Endpoint
from .replies import Reply, SendResult
from .requests import Answer, Question, stored_answer

BoundOf = Callable[[tuple[str, str] | None], ledger.TokenBound]
# Not the request: it stands already.
ANSWER_FIELDS = (
    "claimed_by", "claimed_until", "fault", "error", "state", "answered_at", "text", "refusal", "finish_reason",
    "logprobs", "data", "prompt_tokens", "completion_tokens", "usage_estimated", "cost",
)  # fmt: skip


# Thousands of questions go through these two, in the one thread that holds the connection: each is one statement.
INSERT_CALL = """
    INSERT INTO llm_call (digest, endpoint_id, model, sample, purpose, study_id, state, fault, error, request,
        finish_reason, usage_estimated, created_at, claimed_by, claimed_until, fence)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, '', %s, '', false, %s, %s, %s, 1)
    ON CONFLICT (digest) DO NOTHING RETURNING id
"""


@dataclass(frozen=True)
class StartedAttempt:
    """An attempt is written and may be sent."""

    attempt: int
    number: int
    bound: Decimal


@dataclass(frozen=True)
class ClaimedCall:
    """The question is ours to ask: how often it was sent before, how often answered so that it did not fit, and how."""

    call: int
    fence: int
    sent: int
    asks: int
    complaint: tuple[str, str] | None


class HeldElsewhere:
    """Another process is asking the same."""


def look_up(*, digests: list[str]) -> dict[str, Answer]:
    """Return the answers that are stored already."""
    found: dict[str, Answer] = {}
    for start in range(0, len(digests), 1000):
        calls = Call.objects.settled().filter(digest__in=digests[start : start + 1000]).defer("request")
        found |= {call.digest: stored_answer(call) for call in calls.order_by("id")}
    return found


def begin(
    *, question: Question, asker: CallContext, bound: BoundOf
) -> tuple[ClaimedCall, StartedAttempt | Wait] | Answer | HeldElsewhere:
    """Take a question for asking and write the intent to send it, in one transaction.

    Or return its stored answer, or say that another process is asking it. The first commit is the one that stands
    before the sending.
    """
    with transaction.atomic(durable=True):
        now = asker.policy.clock()
        claimed = _claim(question, asker, now)
        if not isinstance(claimed, ClaimedCall):
            return claimed
        started = _start(claimed, asker, bound(claimed.complaint), now)
        assert not isinstance(started, HeldElsewhere)
    return claimed, started


def start(
    *, claimed: ClaimedCall, asker: CallContext, bound: ledger.TokenBound
) -> StartedAttempt | Wait | HeldElsewhere:
    """Write and commit the intent to send once more, with the money for it held; or say what to wait for."""
    with transaction.atomic(durable=True):
        now = asker.policy.clock()
        # Locks the call's row and proves that it is still ours.
        if not _own_call(claimed, asker).update(claimed_until=now + timedelta(seconds=asker.policy.lease)):
            return HeldElsewhere()
        return _start(claimed, asker, bound, now)


def _claim(question: Question, asker: CallContext, now: datetime) -> ClaimedCall | Answer | HeldElsewhere:
    until = now + timedelta(seconds=asker.policy.lease)
    # Most questions are new: one statement stores and claims them, and does nothing where somebody was first.
    fresh = _store_new(question, asker, now, until)
    if fresh is not None:
        return ClaimedCall(fresh, fence=1, sent=0, asks=0, complaint=None)
    call = Call.objects.only("id", "fence", "claimed_by").get(digest=question.digest)
    claimed = Call.objects.claimable(asker.token, now).filter(pk=call.pk)
    if not claimed.update(
        fence=Case(When(claimed_by=asker.token, then=F("fence")), default=F("fence") + 1),
        claimed_by=asker.token,
        claimed_until=until,
        state=CallState.OPEN,
        fault=Fault.NONE,
        error="",
        erased_at=None,
        request=question.content,
    ):
        settled = Call.objects.settled().filter(pk=call.pk).first()
        return stored_answer(settled) if settled else HeldElsewhere()
    call.refresh_from_db(fields=["fence"])
    return _resume(call, now)


def _resume(call: Call, now: datetime) -> ClaimedCall:
    """Return a claim with what was tried before: by others that were lost, or by ourselves."""
    Attempt.objects.lost(now).filter(call=call).update(
        state=AttemptState.UNKNOWN, fault=Fault.LOST, ended_at=now, error=_("The process that asked was lost.")
    )
    before = list(Attempt.objects.filter(call=call).order_by("number", "id"))
    invalid = [attempt for attempt in before if attempt.fault == Fault.INVALID]
    complaint = (invalid[-1].reply or "", invalid[-1].error) if invalid else None
    return ClaimedCall(call.pk, call.fence, sent=len(before), asks=len(invalid), complaint=complaint)


def _start(claimed: ClaimedCall, asker: CallContext, bound: ledger.TokenBound, now: datetime) -> StartedAttempt | Wait:
    """Write the attempt, with the call's row locked."""
    free = concurrency.free_slots(asker, now)
    if isinstance(free, Wait):
        return free
    amount = ledger.price(endpoint=asker.endpoint, prompt=bound.prompt, completion=bound.completion)
    if wait := _hold_money(asker, amount, now):
        return wait
    attempt = Attempt.objects.create(
        call_id=claimed.call,
        study=asker.study,
        endpoint=asker.endpoint,
        number=claimed.sent + 1,
        fence=claimed.fence,
        bound=amount,
        cost=amount,
        currency=asker.endpoint.currency,
        started_at=now,
    )
    return StartedAttempt(attempt.pk, claimed.sent + 1, amount)


def _hold_money(asker: CallContext, amount: Decimal, now: datetime) -> Wait | None:
    """Hold the money for a call, or say what to wait for; raises where no more will come free."""
    # Twice: between the failed hold and the look at what is in flight, the last of it may have come home.
    for _turn in range(2):
        if ledger.hold(study=asker.study, amount=amount):
            return None
        assert asker.study is not None
        ledger.give_up_lost(now=now)
        if Attempt.objects.in_flight(now).filter(study=asker.study, bound__gt=0).exists():
            return Wait(asker.policy.poll)  # their outcome may set money free
    assert asker.study is not None
    raise ledger.budget_exceeded(study=asker.study, currency=asker.endpoint.currency, amount=amount)


@dataclass(frozen=True)
class Verdict:
    """What an attempt came to, and whether the question is thereby settled."""

    sent: SendResult
    usage: ledger.TokenUsage | None = None
    data: Any = None
    problem: str = ""  # the answer does not fit its schema
    settled: bool = True
    rest: float = 0.0  # the server asked everybody to wait for so long

    @property
    def fault(self) -> Fault:
        """Why there is no usable answer, if there is none."""
        return Fault.INVALID if self.problem else self.sent.fault

    @property
    def error(self) -> str:
        """The same in words."""
        return self.problem or self.sent.error


def finish(*, started: StartedAttempt, claimed: ClaimedCall, asker: CallContext, verdict: Verdict) -> Answer | None:
    """Book an attempt and, where it settles the question, store the answer once.

    Returns the answer that is now stored, or None where the question is still open (asked again by us, or by another
    process that took it over).
    """
    with transaction.atomic(durable=True):
        now = asker.policy.clock()
        # The call's row first: every writer takes the rows in the order call, attempt, spend.
        if verdict.settled and not verdict.rest and (call := _store_own(started, claimed, asker, verdict, now)):
            _book(started, asker, verdict, now)
            return stored_answer(call, cached=False)
        call = Call.objects.select_for_update().defer("request").get(pk=claimed.call)
        booked_cost = _book(started, asker, verdict, now)
        if verdict.rest:
            until = now + timedelta(seconds=verdict.rest)
            Endpoint.objects.filter(pk=asker.endpoint.pk).update(resting_until=Greatest("resting_until", until))
        ours = call.claimed_by == asker.token and call.fence == claimed.fence
        ours = ours and call.state == CallState.OPEN and call.erased_at is None
        if not verdict.settled or not ours:
            settled = Call.objects.settled().filter(pk=call.pk).first()
            return stored_answer(settled) if settled else None
        _store(call, verdict, booked_cost, now)
    return stored_answer(call, cached=False)


def release(*, claimed: ClaimedCall, asker: CallContext) -> None:
    """Let others ask what we will not ask any more."""
    _own_call(claimed, asker).update(claimed_by=None, claimed_until=None)


def withdraw(*, started: StartedAttempt, asker: CallContext) -> None:
    """Take back an intent that nothing was sent for: its row goes, and its money is free."""
    with transaction.atomic(durable=True):
        gone, _models = Attempt.objects.filter(pk=started.attempt, state=AttemptState.INTENDED).delete()
        if gone:
            ledger.settle(study=asker.study, bound=started.bound, cost=ledger.ZERO)


def renew(*, asker: CallContext) -> None:
    """Renew the leases of everything that this asker holds."""
    until = asker.policy.clock() + timedelta(seconds=asker.policy.lease)
    Call.objects.filter(claimed_by=asker.token).update(claimed_until=until)


def released_digests(*, digests: list[str], asker: CallContext) -> set[str]:
    """Return those of the digests that another process has answered or no longer holds."""
    now = asker.policy.clock()
    held = Call.objects.filter(digest__in=digests).exclude(
        Q(pk__in=Call.objects.settled().filter(digest__in=digests))
        | Q(pk__in=Call.objects.claimable(asker.token, now).filter(digest__in=digests))
    )
    return set(digests) - set(held.values_list("digest", flat=True))


def _own_call(claimed: ClaimedCall, asker: CallContext) -> Any:
    return Call.objects.filter(
        pk=claimed.call, claimed_by=asker.token, fence=claimed.fence, state=CallState.OPEN, erased_at__isnull=True
    )


def attempt_cost(started: StartedAttempt, asker: CallContext, verdict: Verdict) -> Decimal:
    """Return what a sending is booked with."""
    if verdict.sent.state == AttemptState.UNKNOWN:
        return started.bound
    if verdict.usage is None:
        return ledger.ZERO
    return ledger.price(endpoint=asker.endpoint, prompt=verdict.usage.prompt, completion=verdict.usage.completion)


def _book(started: StartedAttempt, asker: CallContext, verdict: Verdict, now: datetime) -> Decimal:
    sent, usage = verdict.sent, verdict.usage
    booked_cost = attempt_cost(started, asker, verdict)
    figures: dict[str, Any] = {}
    if usage is not None:
        figures = {
            "prompt_tokens": usage.prompt,
            "completion_tokens": usage.completion,
            "usage_estimated": usage.estimated,
        }
    booked = Attempt.objects.filter(pk=started.attempt, state__in=ledger.OPEN_STATES).update(
        state=sent.state,
        cost=booked_cost,
        fault=verdict.fault,
        error=verdict.error,
        reply=unusable_reply(verdict),
        http_status=sent.status,
        retry_after=sent.retry_after,
        latency=sent.latency,
        ended_at=now,
        **figures,
    )
    # Not booked: an operator settled it by the provider's bill meanwhile.
    if booked and sent.state != AttemptState.UNKNOWN:
        ledger.settle(study=asker.study, bound=started.bound, cost=booked_cost)
    return booked_cost


def _store_new(question: Question, asker: CallContext, now: datetime, until: datetime) -> int | None:
    """Store a question and claim it, in one statement; None where it is known already."""
    study = asker.study.pk if asker.study is not None else None
    with connection.cursor() as cursor:
        cursor.execute(
            INSERT_CALL,
            [
                question.digest,
                asker.endpoint.pk,
                asker.endpoint.model,
                question.sample,
                asker.purpose,
                study,
                CallState.OPEN,
                Fault.NONE,
                json.dumps(question.content),
                now,
                asker.token,
                until,
            ],
        )
        row = cursor.fetchone()
    return None if row is None else int(row[0])


def _store_own(
    started: StartedAttempt, claimed: ClaimedCall, asker: CallContext, verdict: Verdict, now: datetime
) -> Call | None:
    """Store the answer in one statement if the question is still ours to answer; else nothing is changed."""
    call = with_answer(started, claimed, asker, verdict, now)
    own = _own_call(claimed, asker).update(**{name: getattr(call, name) for name in ANSWER_FIELDS})
    return call if own else None


def with_answer(
    started: StartedAttempt, claimed: ClaimedCall, asker: CallContext, verdict: Verdict, now: datetime
) -> Call:
    """Return a call as it stands with this answer, in memory alone."""
    call = Call(pk=claimed.call)
    _fill(call, verdict, attempt_cost(started, asker, verdict), now)
    return call


def unusable_reply(verdict: Verdict) -> str | None:
    """Return the reply where it could not be used: the next question quotes it."""
    return (verdict.sent.reply.text or "") if verdict.problem and verdict.sent.reply else None


def _store(call: Call, verdict: Verdict, booked_cost: Decimal, now: datetime) -> None:
    _fill(call, verdict, booked_cost, now)
    call.save(update_fields=ANSWER_FIELDS)


def _fill(call: Call, verdict: Verdict, booked_cost: Decimal, now: datetime) -> None:
    call.claimed_by = call.claimed_until = None
    call.fault, call.error = verdict.fault, verdict.error
    call.state = CallState.FAILED if verdict.fault else CallState.ANSWERED
    call.answered_at = now
    reply: Reply | None = verdict.sent.reply
    if reply is not None:
        call.text, call.refusal = reply.text, reply.refusal
        call.finish_reason, call.logprobs, call.data = reply.finish_reason, reply.logprobs, verdict.data
    if verdict.usage is not None:
        call.prompt_tokens, call.completion_tokens = verdict.usage.prompt, verdict.usage.completion
        call.usage_estimated, call.cost = verdict.usage.estimated, booked_cost
