"""Claims, attempts and answers in the database: one transaction before a question is sent, one after.

A call is claimed before it is asked, with a lease that its holder renews; `fence` counts the claims. So two processes
never ask the same at once, a lost process is succeeded when its lease runs out, and a process that was only slow finds
its fence passed and cannot overwrite what its successor stored. What it was billed for is booked all the same.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Case, F, Q, When
from django.db.models.functions import Greatest
from django.utils.translation import gettext as _

from crowdrag.studies.models import Study

from ..enums import AttemptState, CallState, Fault
from ..models import Attempt, Call, Endpoint
from . import costs, ledger
from .errors import GatewayError
from .pacing import Policy
from .replies import Reply, Sent
from .requests import Answer, Question, stored


class EndpointNotAllowedError(GatewayError):
    """An endpoint that the operator does not allow to be asked."""


@dataclass(frozen=True)
class Asker:
    """Who asks: one call of the gateway, known by its token."""

    token: UUID
    endpoint: Endpoint
    study: Study | None
    purpose: str
    policy: Policy


@dataclass(frozen=True)
class Started:
    """An attempt is written and may be sent."""

    attempt: int
    fence: int


@dataclass(frozen=True)
class Claimed:
    """The question is ours to ask; what was answered to it before and did not fit, and how often."""

    call: int
    fence: int
    asks: int
    complaint: tuple[str, str] | None


@dataclass(frozen=True)
class Wait:
    """Not now: the endpoint is full or resting, or the budget is held for calls in flight."""

    seconds: float


class Held:
    """Another process is asking the same."""


def look_up(*, digests: list[str]) -> dict[str, Answer]:
    """Return the answers that are stored already."""
    found: dict[str, Answer] = {}
    for start in range(0, len(digests), 1000):
        calls = Call.objects.settled().filter(digest__in=digests[start : start + 1000]).defer("request")
        found |= {call.digest: stored(call) for call in calls.order_by("id")}
    return found


def claim(*, question: Question, asker: Asker) -> Claimed | Answer | Held:
    """Take a question for asking, return its stored answer, or say that another process is asking it."""
    with transaction.atomic(durable=True):
        now = asker.policy.clock()
        _record(question, asker, now)
        claimed = (
            Call.objects.claimable(asker.token, now)
            .filter(digest=question.digest)
            .update(
                fence=Case(When(claimed_by=asker.token, then=F("fence")), default=F("fence") + 1),
                claimed_by=asker.token,
                claimed_until=now + timedelta(seconds=asker.policy.lease),
                state=CallState.OPEN,
                fault=Fault.NONE,
                error="",
                erased_at=None,
                request=question.content,
            )
        )
        if not claimed:
            call = Call.objects.settled().filter(digest=question.digest).first()
            return stored(call) if call else Held()
        call = Call.objects.only("id", "fence").get(digest=question.digest)
        Attempt.objects.lost(now).filter(call=call).update(
            state=AttemptState.UNKNOWN, fault=Fault.LOST, ended_at=now, error=_("The process that asked was lost.")
        )
        invalid = Attempt.objects.filter(call=call, fault=Fault.INVALID).order_by("-number")
        asks, last = len(invalid), invalid[0] if invalid else None
        return Claimed(call.pk, call.fence, asks, (last.reply or "", last.error) if last else None)


def start(*, claimed: Claimed, asker: Asker, bound: costs.Bound) -> Started | Wait | Held:
    """Write and commit the intent to send, with the money for it held; or say what to wait for."""
    amount = costs.price(endpoint=asker.endpoint, prompt=bound.prompt, completion=bound.completion)
    with transaction.atomic(durable=True):
        now = asker.policy.clock()
        if wait := _room(asker, now):
            return wait
        # Locks the call's row and proves that it is still ours.
        if not _own(claimed, asker).update(claimed_until=now + timedelta(seconds=asker.policy.lease)):
            return Held()
        if not ledger.hold(study=asker.study, amount=amount):
            if _money_may_come_back(asker, now):
                return Wait(asker.policy.poll)
            raise ledger.BudgetExceededError(
                _(
                    "The budget for models of “%(study)s” (%(budget)s %(currency)s in minor units) would be passed: "
                    "the next call may cost %(amount)s and %(left)s is left. What is answered is kept; "
                    "raise the budget and resume."
                )
                % {
                    "study": asker.study,
                    "budget": Study.objects.values_list("llm_budget", flat=True).get(pk=asker.study.pk),  # type: ignore[union-attr]
                    "currency": asker.endpoint.currency,
                    "amount": f"{amount:f}",
                    "left": f"{ledger.left(study=Study.objects.get(pk=asker.study.pk)):f}",  # type: ignore[union-attr]
                }
            )  # fmt: skip
        last = Attempt.objects.filter(call=claimed.call).order_by("-number").values_list("number", flat=True).first()
        attempt = Attempt.objects.create(
            call_id=claimed.call,
            study=asker.study,
            endpoint=asker.endpoint,
            number=(last or 0) + 1,
            fence=claimed.fence,
            bound=amount,
            cost=amount,
            currency=asker.endpoint.currency,
            started_at=now,
        )
    return Started(attempt.pk, claimed.fence)


@dataclass(frozen=True)
class Verdict:
    """What an attempt came to, and whether the question is thereby settled."""

    sent: Sent
    usage: costs.Usage | None = None
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


def finish(*, started: Started, claimed: Claimed, asker: Asker, verdict: Verdict) -> Answer | None:
    """Book an attempt and, where it settles the question, store the answer once.

    Returns the answer that is now stored, or None where the question is still open (asked again by us, or by another
    process that took it over).
    """
    with transaction.atomic(durable=True):
        now = asker.policy.clock()
        # The call's row first: every writer takes the rows in the order call, attempt, spend.
        call = Call.objects.select_for_update().get(pk=claimed.call)
        cost = _book(started, asker, verdict, now)
        if verdict.rest:
            until = now + timedelta(seconds=verdict.rest)
            Endpoint.objects.filter(pk=asker.endpoint.pk).update(resting_until=Greatest("resting_until", until))
        ours = call.claimed_by == asker.token and call.fence == claimed.fence
        ours = ours and call.state == CallState.OPEN and call.erased_at is None
        if not verdict.settled or not ours:
            settled = Call.objects.settled().filter(pk=call.pk).first()
            return stored(settled) if settled else None
        _store(call, verdict, cost, now)
    return stored(call, cached=False)


def release(*, claimed: Claimed, asker: Asker) -> None:
    """Let others ask what we will not ask any more."""
    _own(claimed, asker).update(claimed_by=None, claimed_until=None)


def renew(*, asker: Asker) -> None:
    """Renew the leases of everything that this asker holds."""
    until = asker.policy.clock() + timedelta(seconds=asker.policy.lease)
    Call.objects.filter(claimed_by=asker.token).update(claimed_until=until)


def free_again(*, digests: list[str], asker: Asker) -> set[str]:
    """Return those of the digests that another process has answered or no longer holds."""
    now = asker.policy.clock()
    held = Call.objects.filter(digest__in=digests).exclude(
        Q(pk__in=Call.objects.settled().filter(digest__in=digests))
        | Q(pk__in=Call.objects.claimable(asker.token, now).filter(digest__in=digests))
    )
    return set(digests) - set(held.values_list("digest", flat=True))


def _record(question: Question, asker: Asker, now: datetime) -> None:
    if Call.objects.filter(digest=question.digest).exists():
        return
    call = Call(
        digest=question.digest,
        endpoint=asker.endpoint,
        model=asker.endpoint.model,
        sample=question.sample,
        purpose=asker.purpose,
        study=asker.study,
        request=question.content,
        created_at=now,
    )
    Call.objects.bulk_create([call], ignore_conflicts=True)


def _own(claimed: Claimed, asker: Asker) -> Any:
    return Call.objects.filter(
        pk=claimed.call, claimed_by=asker.token, fence=claimed.fence, state=CallState.OPEN, erased_at__isnull=True
    )


def _room(asker: Asker, now: datetime) -> Wait | None:
    """Say what to wait for: the endpoint rests, or is as busy as it may be with the calls of all processes."""
    row = (
        Endpoint.objects.filter(pk=asker.endpoint.pk).values_list("is_allowed", "resting_until", "concurrency").first()
    )
    if row is None or not (row[0] or asker.study is None):
        raise EndpointNotAllowedError(
            _("The endpoint “%s” is not allowed (any more). An operator can allow it.") % asker.endpoint
        )
    _allowed, resting_until, concurrency = row
    if resting_until is not None and resting_until > now:
        return Wait((resting_until - now).total_seconds())
    if Attempt.objects.in_flight(now).filter(endpoint=asker.endpoint).count() >= concurrency:
        return Wait(asker.policy.poll)
    return None


def _money_may_come_back(asker: Asker, now: datetime) -> bool:
    """Whether calls in flight hold money of the study that their outcome may set free."""
    ledger.give_up_lost(now=now)
    return Attempt.objects.in_flight(now).filter(study=asker.study, bound__gt=0).exists()


def _book(started: Started, asker: Asker, verdict: Verdict, now: datetime) -> Decimal:
    attempt = Attempt.objects.select_for_update().get(pk=started.attempt)
    if attempt.state not in ledger.OPEN_STATES:  # an operator settled it by the provider's bill meanwhile
        return attempt.cost
    sent, usage = verdict.sent, verdict.usage
    if sent.state == AttemptState.UNKNOWN:
        cost = attempt.bound
    elif usage is None:
        cost = ledger.ZERO
    else:
        cost = costs.price(endpoint=asker.endpoint, prompt=usage.prompt, completion=usage.completion)
    ledger.settle(attempt=attempt, state=sent.state, cost=cost)
    attempt.state, attempt.cost = sent.state, cost
    attempt.fault, attempt.error = verdict.fault, verdict.error
    attempt.http_status, attempt.retry_after, attempt.latency = sent.status, sent.retry_after, sent.latency
    attempt.ended_at = now
    if usage is not None:
        attempt.prompt_tokens, attempt.completion_tokens = usage.prompt, usage.completion
        attempt.usage_estimated = usage.estimated
    if verdict.problem and sent.reply is not None:
        attempt.reply = sent.reply.text or ""
    attempt.save()
    return cost


def _store(call: Call, verdict: Verdict, cost: Decimal, now: datetime) -> None:
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
        call.usage_estimated, call.cost = verdict.usage.estimated, cost
    call.save()
