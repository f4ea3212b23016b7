"""The gateway: every call to a language model goes through here (docs/adr/0010, 0032).

A question that was answered before is answered from the store and costs nothing, so every job can be killed and
started again. For any other, one loop in the thread that asks does this, top to bottom, until all are answered:

1. `requests` makes a question of each request; `attempts` looks its answer up in the store.
2. `attempts` claims questions, holds the money (`ledger`) and writes the attempts, in one transaction.
3. `client` sends them from its event loop.
4. `replies` says what each reply means.
5. `attempts` books them and stores the answers, in one transaction; then the answers are delivered.

What is in flight when a process dies stays in the ledger as unknown, charged at its upper bound.
"""

import random
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import uuid4

from asgiref.sync import sync_to_async
from django.utils.translation import gettext as _

from crowdrag.studies.models import Study

from . import addresses, attempts, ledger, replies, retry_policy
from .attempts import CallContext, EndpointNotAllowedError, StartedAttempt, prefetch_limit
from .client import Client, Result
from .errors import GatewayError
from .ledger import BudgetError, BudgetExceededError
from .models import Endpoint
from .replies import SendResult, Verdict
from .requests import Answer, LazyRequests, Question, Request, RequestError, compose, prepare

__all__ = [
    "Answer",
    "BudgetError",
    "BudgetExceededError",
    "EndpointNotAllowedError",
    "Estimate",
    "GatewayError",
    "LazyRequests",
    "Request",
    "RequestError",
    "complete",
    "complete_many",
    "estimate",
]

DEFAULT_POLICY = retry_policy.RetryPolicy()
OnAnswer = Callable[[Answer], None]
Check = Callable[[], None]
# So many questions are prepared and looked up at once, or as many as the endpoint takes: long enough to cost little,
# short enough that the first are sent at once and those on their way are not kept waiting.
SLICE = 64


@dataclass(frozen=True)
class Estimate:
    """What a set of requests comes to at most: upper bounds, without what is stored already."""

    requests: int
    stored: int
    prompt_tokens: int
    completion_tokens: int
    cost: Decimal
    currency: str


def estimate(*, endpoint: Endpoint, requests: Sequence[Request]) -> Estimate:
    """Return what asking would cost at most; nothing is sent."""
    questions = {question.digest: question for question in (prepare(endpoint=endpoint, request=r) for r in requests)}
    known = attempts.look_up(digests=list(questions))
    bounds = [compose(question, endpoint)[1] for digest, question in questions.items() if digest not in known]
    prompt, completion = sum(bound.prompt for bound in bounds), sum(bound.completion for bound in bounds)
    cost = ledger.price(endpoint=endpoint, prompt=prompt, completion=completion)
    return Estimate(len(requests), len(requests) - len(bounds), prompt, completion, cost, endpoint.currency)


def complete_many(
    *,
    endpoint: Endpoint,
    requests: Sequence[Request],
    study: Study | None,
    purpose: str,
    on_answer: OnAnswer | None = None,
    check: Check | None = None,
    policy: retry_policy.RetryPolicy = DEFAULT_POLICY,
    rng: random.Random | None = None,
    resolver: addresses.Resolver = addresses.system_resolver,
) -> list[Answer]:
    """Ask a model many questions, as many at once as the endpoint allows, and return the answers in the same order.

    Parameters
    ----------
    endpoint, requests
        Whom to ask what. Equal requests are sent once. The requests are read one after the other, in this thread,
        shortly before they are sent: a sequence may make each when it is read.
    study
        Who pays; None only for an operator's check of an endpoint.
    purpose
        What for, in a word or two ("write", "judge"); kept with the call.
    on_answer
        Called in this thread with each `Answer` once it is stored, in the order in which they come; `Answer.index` is
        its place in `requests`. If it raises (a cancelled run), nothing more is sent, what is in flight is brought
        home and booked, and the exception goes on to the caller.
    check
        Called in this thread twice a second, also while no answer comes. If it raises (a cancelled run), nothing more
        is sent, and the exception goes on to the caller. What is in flight is cut off: at once where calls are free,
        else after `RetryPolicy.grace`. It is booked as unknown, at its upper bound.

    Returns
    -------
    list of Answer
        One for each request. A question that failed for good has `fault` and `error` set: failures of the server or
        the network are asked again when the same is asked another time; an answer that did not fit its schema five
        times is stored as a failure and is not.

    Raises
    ------
    GatewayError
        Nothing could be asked, or not all (`BudgetExceededError`, a `RequestError` further on): what was answered until
        then is stored.
    RuntimeError
        Called inside a transaction: what is sent must be on record even if the caller rolls back.
    """
    context = CallContext(uuid4(), endpoint, study, purpose, policy)
    questions = _Questions(context, requests, on_answer)
    if first := questions.next_slice():
        with Client(endpoint=endpoint, policy=policy, resolver=resolver) as client:
            _Exchange(context, client, questions, first, check, rng or random.Random()).run()
    return [answer for answer in questions.answers if answer is not None]


async def complete(*, request: Request, **arguments: Any) -> Answer:
    """Ask one question from asynchronous code; otherwise as `complete_many`."""
    answers = await sync_to_async(complete_many)(requests=[request], **arguments)
    return answers[0]


class _Questions:
    """The questions of the requests, taken up in slices: what is stored is answered, the rest is to be asked."""

    def __init__(self, context: CallContext, requests: Sequence[Request], on_answer: OnAnswer | None) -> None:
        self._context = context
        self._requests = requests
        self._on_answer = on_answer
        self._is_admitted = False
        self._next = 0
        self._size = max(SLICE, context.endpoint.concurrency)
        self._indexes: dict[str, list[int]] = {}
        self.answers: list[Answer | None] = [None] * len(requests)

    def next_slice(self) -> list[Question]:
        """Return the next questions that must be asked; none only where there are no more."""
        while self._next < len(self._requests):
            questions = self._prepare_slice()
            known = attempts.look_up(digests=list(questions))
            for digest, answer in known.items():
                self.deliver(questions[digest], answer)
            if missing := [question for digest, question in questions.items() if digest not in known]:
                self._admit()
                return missing
        return []

    def deliver(self, question: Question, answer: Answer) -> None:
        """Give an answer to all requests that are this question."""
        first, *others = self._indexes[question.digest]
        self._set(first, answer, cached=answer.cached)
        for index in others:
            self._set(index, answer, cached=True)  # only one of several equal requests was sent

    def _set(self, index: int, answer: Answer, *, cached: bool) -> None:
        answer = answer.at(index, cached=cached)
        self.answers[index] = answer
        if self._on_answer is not None:
            self._on_answer(answer)

    def _prepare_slice(self) -> dict[str, Question]:
        """Prepare the next slice; of equal questions the first stands for all, whenever the others come."""
        questions: dict[str, Question] = {}
        start, self._next = self._next, min(self._next + self._size, len(self._requests))
        for index in range(start, self._next):
            question = prepare(endpoint=self._context.endpoint, request=self._requests[index])
            indexes = self._indexes.setdefault(question.digest, [])
            indexes.append(index)
            if len(indexes) == 1:
                questions[question.digest] = question
            elif (answer := self.answers[indexes[0]]) is not None:
                self._set(index, answer, cached=True)
        return questions

    def _admit(self) -> None:
        """Check once, before anything is sent, that the study may ask the endpoint."""
        endpoint, study = self._context.endpoint, self._context.study
        if self._is_admitted or study is None:
            return
        if not endpoint.is_allowed:
            raise EndpointNotAllowedError(_("The endpoint “%s” is not allowed. An operator can allow it.") % endpoint)
        study.refresh_from_db(fields=["llm_budget", "currency"])
        ledger.admit(study=study, endpoint=endpoint)
        self._is_admitted = True


class _Exchange:
    """Brings questions to their answers, in the thread that asks: it alone uses the database."""

    def __init__(
        self,
        context: CallContext,
        client: Client,
        questions: _Questions,
        first: list[Question],
        check: Check | None,
        rng: random.Random,
    ) -> None:
        self._context = context
        self._policy = context.policy
        self._client = client
        self._questions = questions
        self._check = check
        self._rng = rng
        self._capacity = context.endpoint.concurrency + prefetch_limit(context.endpoint.concurrency)
        self._ready = deque(first)
        self._is_last_slice = False
        self._held: list[Question] = []  # by other processes, which are asking the same
        self._pausing = 0
        self._under_way = 0  # attempts that are written and not yet booked
        self._failures: dict[str, int] = {}  # by digest: how often a question failed since its last answer
        now = time.monotonic()
        self._begin_at = self._look_at = now
        self._renew_at = now + self._policy.lease / 3
        self._check_at = now + self._policy.heed
        self._is_stopping = False
        self._cut_at: float | None = None

    def run(self) -> None:
        """Ask until all is answered; what stops it is raised once all in flight is booked."""
        try:
            while self._is_open():
                self._take_up()
                self._begin()
                self._settle(self._client.results(self._patience()))
                if self._is_open():
                    self._keep_up()
        except Exception:
            self._wind_up()
            raise

    def _is_open(self) -> bool:
        waits = self._ready or self._held or self._pausing or self._under_way
        return bool(waits) or not self._is_last_slice

    def _take_up(self) -> None:
        """Have questions ready for all that may be sent, and look after those that other processes hold."""
        while len(self._ready) < self._capacity and not self._is_last_slice:
            questions = self._questions.next_slice()
            self._is_last_slice = not questions
            self._ready.extend(questions)
        if self._held and time.monotonic() >= self._look_at:
            held, self._held = self._held, []
            answers = attempts.look_up(digests=[question.digest for question in held])
            self._ready.extend(question for question in held if question.digest not in answers)
            self._deliver([(question, answers[question.digest]) for question in held if question.digest in answers])

    def _begin(self) -> None:
        """Write attempts for as many questions as there is room for, and send them."""
        while self._ready and self._under_way < self._capacity and time.monotonic() >= self._begin_at:
            count = min(self._capacity - self._under_way, len(self._ready))
            questions = [self._ready.popleft() for _number in range(count)]
            begun = attempts.begin(context=self._context, questions=questions)
            self._client.send(begun.started)
            self._under_way += len(begun.started)
            self._ready.extendleft(reversed(begun.unstarted))
            self._hold(begun.held)
            if begun.unstarted:
                self._begin_at = time.monotonic() + begun.wait * (1 + 0.2 * self._rng.random())
            by_digest = {question.digest: question for question in questions}
            self._deliver([(by_digest[digest], answer) for digest, answer in begun.answers.items()])

    def _settle(self, results: list[Result]) -> None:
        """Book what has come back, deliver the answers, and see to it that the rest is asked again."""
        unsent: list[StartedAttempt] = []
        finished: list[tuple[StartedAttempt, Verdict]] = []
        for result in results:
            match result:
                case (started, None):
                    unsent.append(started)
                case (started, sent):
                    finished.append((started, self._judge(started, sent)))
                case Question():
                    self._pausing -= 1
                    self._ready.append(result)
        self._under_way -= len(unsent) + len(finished)
        if unsent:
            attempts.withdraw(context=self._context, attempts=unsent)
            self._ready.extendleft(started.question for started in reversed(unsent))
            self._begin_at = time.monotonic() + self._client.rest_seconds()
        if finished:
            answers = attempts.finish(context=self._context, finished=finished)
            self._begin_at = min(self._begin_at, time.monotonic() + self._client.rest_seconds())
            for started, verdict in finished:
                if started.attempt not in answers:
                    self._ask_again(started.question, verdict)
            self._deliver(
                [(one.question, answers[one.attempt]) for one, _verdict in finished if one.attempt in answers]
            )
        for result in results:
            if isinstance(result, Exception):
                raise result

    def _judge(self, started: StartedAttempt, sent: SendResult) -> Verdict:
        return replies.judge(
            sent,
            question=started.question,
            bound=started.bound,
            failures=self._failures.get(started.question.digest, 0),
            invalid_answers=started.invalid_answers,
            policy=self._policy,
        )

    def _ask_again(self, question: Question, verdict: Verdict) -> None:
        if self._is_stopping:
            return
        if verdict.settled:  # our lease had run out, and whoever has the question now has not answered it yet
            self._hold([question])
        elif verdict.problem:
            self._failures[question.digest] = 0
            self._ready.append(question)
        else:
            failures = self._failures.get(question.digest, 0) + 1
            self._failures[question.digest] = failures
            seconds = retry_policy.delay(
                tries=failures, retry_after=verdict.sent.retry_after, policy=self._policy, rng=self._rng
            )
            self._pausing += 1
            self._client.hand_back_later(question, seconds)

    def _hold(self, questions: list[Question]) -> None:
        if questions:
            self._held.extend(questions)
            self._look_at = time.monotonic() + self._policy.poll

    def _deliver(self, answers: list[tuple[Question, Answer]]) -> None:
        """Deliver answers that are stored; if one cannot be delivered, the others still are."""
        failure: Exception | None = None
        for question, answer in answers:
            try:
                self._questions.deliver(question, answer)
            except Exception as error:  # noqa: BLE001 - raised below
                failure = failure or error
        if failure is not None:
            raise failure

    def _patience(self) -> float:
        """Return for how many seconds there is nothing to do unless a reply comes."""
        moments = [self._renew_at]
        if self._check is not None and self._cut_at is None:
            moments.append(self._check_at)
        if self._cut_at is not None:
            moments.append(self._cut_at)
        if self._held:
            moments.append(self._look_at)
        if self._ready and self._under_way < self._capacity:
            moments.append(self._begin_at)
        return min(moments) - time.monotonic()

    def _keep_up(self) -> None:
        """Renew our leases well before they run out, and look whether the job is to stop."""
        now = time.monotonic()
        if now >= self._renew_at:
            self._renew_at = now + self._policy.lease / 3
            attempts.renew(context=self._context)
        if self._check is not None and self._cut_at is None and now >= self._check_at:
            self._check_at = now + self._policy.heed
            try:
                self._check()
            except Exception:
                self._cut_at = now + (0.0 if self._context.endpoint.is_free else self._policy.grace)
                raise

    def _wind_up(self) -> None:
        """Send nothing more, book what is in flight when it comes, and let others ask what we will not."""
        self._is_stopping = True
        self._client.stop()
        while self._under_way:
            self._ready.clear()
            self._held.clear()
            if self._cut_at is not None and time.monotonic() >= self._cut_at:
                self._cut_at = float("inf")
                self._client.cut_off()
            with suppress(Exception):  # the first failure is the one that is raised
                self._settle(self._client.results(self._patience()))
                self._keep_up()
        with suppress(Exception):
            attempts.release(context=self._context)
