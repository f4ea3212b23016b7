"""The gateway: every call to a language model goes through here (docs/adr/0010, 0032).

A question that was answered before is answered from the store and costs nothing, so every job can be killed and
restarted. For all others, a loop in the calling thread does this until all are answered:

1. `requests` turns each request into a question; `attempts` looks its answer up in the store.
2. `attempts` claims questions, holds the money (`ledger`) and records the attempts, in one transaction.
3. `client` sends them from its event loop.
4. `replies` interprets each reply.
5. `attempts` books them and stores the answers, in one transaction; then the answers are delivered.

Attempts in flight when a process dies stay in the ledger as unknown, charged at their upper bound.
"""

import heapq
import random
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import count, islice
from uuid import uuid4

from crowdrag.studies.models import Study

from . import GatewayError, addresses, attempts, ledger, replies
from .attempts import CallContext, EndpointNotAllowedError, Outcome, StartedAttempt, prefetch_limit
from .client import Client, Result
from .enums import Fault
from .ledger import BudgetError, BudgetExceededError
from .models import Endpoint
from .requests import Answer, Question, Request, RequestError, compose, prepare
from .retry_policy import RetryPolicy

__all__ = [
    "Answer", "BudgetError", "BudgetExceededError", "EndpointNotAllowedError", "Estimate", "GatewayError", "Request",
    "RequestError", "complete_many", "estimate",
]  # fmt: skip

DEFAULT_POLICY = RetryPolicy()
# This many questions are prepared and looked up at once, or as many as the endpoint takes: enough to be efficient, and
# few enough that the first are sent at once and attempts in flight are not kept waiting.
SLICE = 64


@dataclass(frozen=True)
class Estimate:
    """Upper bounds of tokens and cost of a set of requests, without those already stored."""

    requests: int
    stored: int
    prompt_tokens: int
    completion_tokens: int
    cost: Decimal
    currency: str

    def scaled(self, requests: int) -> "Estimate":
        """Return the estimate for this many requests, of which the current ones are an even sample."""
        factor = Decimal(requests) / max(self.requests, 1)
        prompt, completion = int(self.prompt_tokens * factor), int(self.completion_tokens * factor)
        return Estimate(requests, int(self.stored * factor), prompt, completion, self.cost * factor, self.currency)


def estimate(*, endpoint: Endpoint, requests: Iterable[Request]) -> Estimate:
    """Return the maximum cost of these requests; nothing is sent."""
    prepared = [prepare(endpoint=endpoint, request=request) for request in requests]
    questions = {question.digest: question for question in prepared}
    known = attempts.look_up(digests=list(questions))
    bounds = [compose(question, endpoint)[1] for digest, question in questions.items() if digest not in known]
    prompt = sum(bound.prompt_tokens for bound in bounds)
    completion = sum(bound.completion_tokens for bound in bounds)
    cost = ledger.price(endpoint=endpoint, prompt=prompt, completion=completion)
    return Estimate(len(prepared), len(prepared) - len(bounds), prompt, completion, cost, endpoint.currency)


def complete_many(
    *,
    endpoint: Endpoint,
    requests: Iterable[Request],
    study: Study | None,
    purpose: str,
    on_answer: Callable[[Answer], None] | None = None,
    check: Callable[[], None] | None = None,
    policy: RetryPolicy = DEFAULT_POLICY,
    resolver: addresses.Resolver = addresses.system_resolver,
) -> list[Answer]:
    """Send many questions to a model, within the endpoint's concurrency, and return the answers in the same order.

    Parameters
    ----------
    endpoint, requests
        The endpoint and the requests. Equal requests are sent once. The requests are read one after the other, in this
        thread, shortly before they are sent: a generator may create each when it is read.
    study
        The study that pays; None only for an operator's check of an endpoint.
    purpose
        The purpose, in a word or two ("write", "judge"); stored with the call.
    on_answer
        Called in this thread with each `Answer` once it is stored, in order of arrival; `Answer.index` is its position
        in `requests`. If it raises (a cancelled run), nothing more is sent, attempts in flight are awaited and booked,
        and the exception is passed on to the caller.
    check
        Called in this thread twice a second, also while no answer arrives. If it raises (a cancelled run), the same
        happens, but attempts in flight are aborted: at once if calls are free, else after `RetryPolicy.grace`. They are
        booked as unknown, at their upper bound.

    Returns
    -------
    list of Answer
        One for each request. A question that failed for good has `fault` and `error`. After failures of the server or
        the network, a later call sends it again; an answer that did not fit its schema five times is stored as a
        failure.

    Raises
    ------
    GatewayError
        Nothing could be sent, or not all (`BudgetExceededError`, a `RequestError` further on); answers are stored.
    RuntimeError
        Called inside a transaction: what is sent must be on record even if the caller rolls back.
    """
    exchange = _Exchange(CallContext(uuid4(), endpoint, study, purpose, policy), requests, on_answer, check)
    exchange.run(resolver)
    return [answer for answer in exchange.answers if answer is not None]


class _Exchange:
    """Turns requests into answers, in the calling thread: only this thread uses the database."""

    def __init__(
        self,
        context: CallContext,
        requests: Iterable[Request],
        on_answer: Callable[[Answer], None] | None,
        check: Callable[[], None] | None,
    ) -> None:
        self._context, self._endpoint, self._policy = context, context.endpoint, context.policy
        self._requests = iter(requests)
        self._on_answer = on_answer
        self._check = check
        self._capacity = self._endpoint.concurrency + prefetch_limit(self._endpoint.concurrency)
        self._indexes: dict[str, list[int]] = {}  # positions of the requests of a question, by its digest
        self.answers: list[Answer | None] = []
        self._is_admitted = False
        self._is_last_slice = False
        self._ready: deque[Question] = deque()
        # Questions to try again, with the earliest time: they failed, or another process is sending the same.
        self._later: list[tuple[float, int, Question]] = []
        self._order = count()
        self._under_way = 0  # attempts that are recorded and not yet booked
        self._failures: Counter[str] = Counter()  # by digest: failures of a question since its last answer
        self._begin_at = now = time.monotonic()
        self._renew_at = now + self._policy.lease / 3
        self._check_at = now + self._policy.heed if check else float("inf")
        self._cut_at = float("inf")

    def run(self, resolver: addresses.Resolver) -> None:
        """Run until all requests are answered; an error is raised once all attempts in flight are booked."""
        self._take_up()
        if not self._ready:
            return
        with Client(endpoint=self._endpoint, policy=self._policy, resolver=resolver) as self._client:
            try:
                while self._ready or self._later or self._under_way or not self._is_last_slice:
                    self._keep_up()
                    self._take_up()
                    self._begin()
                    self._settle(self._client.results(self._patience()))
            except Exception:
                self._wind_up()
                raise

    def _take_up(self) -> None:
        """Prepare questions for all that may be sent; postponed ones may have been answered meanwhile."""
        while len(self._ready) < self._capacity and not self._is_last_slice:
            requests = list(islice(self._requests, max(SLICE, self._endpoint.concurrency)))
            self._is_last_slice = not requests
            self._sort_out(self._prepare(requests))
        due: dict[str, Question] = {}
        while self._later and self._later[0][0] <= time.monotonic():
            _moment, _number, question = heapq.heappop(self._later)
            due[question.digest] = question
        self._sort_out(due)

    def _prepare(self, requests: list[Request]) -> dict[str, Question]:
        """Turn a slice of requests into questions, by digest; equal requests share the question of the first."""
        questions: dict[str, Question] = {}
        for request in requests:
            question = prepare(endpoint=self._endpoint, request=request)
            indexes = self._indexes.setdefault(question.digest, [])
            indexes.append(len(self.answers))
            self.answers.append(None)
            if len(indexes) == 1:
                questions[question.digest] = question
            elif (answer := self.answers[indexes[0]]) is not None:
                self._set_answer(indexes[-1], replace(answer, cached=True))
        return questions

    def _sort_out(self, questions: dict[str, Question]) -> None:
        """Deliver stored answers; queue the other questions for sending."""
        answers = attempts.look_up(digests=list(questions))
        self._deliver(answers)
        missing = [question for digest, question in questions.items() if digest not in answers]
        if missing and not self._is_admitted:
            self._admit()
        self._ready.extend(missing)

    def _admit(self) -> None:
        """Check once, before anything is sent, that the study may use the endpoint."""
        if (study := self._context.study) is not None:
            if not self._endpoint.is_allowed:
                raise EndpointNotAllowedError(
                    f"The endpoint “{self._endpoint}” is not allowed. An operator can allow it."
                )
            study.refresh_from_db(fields=["llm_budget", "currency"])
            ledger.admit(study=study, endpoint=self._endpoint)
        self._is_admitted = True

    def _begin(self) -> None:
        """Record attempts for as many questions as there are free slots, and send them."""
        while self._ready and self._under_way < self._capacity and time.monotonic() >= self._begin_at:
            room = min(self._capacity - self._under_way, len(self._ready))
            questions = [self._ready.popleft() for _number in range(room)]
            begun = attempts.begin(context=self._context, questions=questions)
            self._client.send(begun.started)
            self._under_way += len(begun.started)
            self._ready.extendleft(reversed(begun.unstarted))
            for question in begun.held:
                self._put_off(question, self._policy.poll)
            if begun.unstarted:
                self._begin_at = time.monotonic() + begun.wait * (1 + 0.2 * random.random())
            self._deliver(begun.answers)

    def _settle(self, results: list[Result]) -> None:
        """Book results, deliver the answers, and queue the rest for another attempt."""
        if not results:
            return
        self._under_way -= len(results)
        unsent = [started for started, outcome in results if outcome is None]
        finished = [(started, self._judge(started, outcome)) for started, outcome in results if outcome is not None]
        if unsent:
            attempts.withdraw(context=self._context, attempts=unsent)
            self._ready.extendleft(started.question for started in reversed(unsent))
            self._begin_at = time.monotonic() + self._client.rest_seconds()
        if finished:
            answers = attempts.finish(context=self._context, finished=finished)
            self._begin_at = min(self._begin_at, time.monotonic() + self._client.rest_seconds())
            for started, outcome in finished:
                if started.attempt not in answers:
                    self._ask_again(started.question, outcome)
            digests = {started.attempt: started.question.digest for started, _outcome in finished}
            self._deliver({digests[attempt]: answer for attempt, answer in answers.items()})

    def _judge(self, started: StartedAttempt, outcome: Outcome) -> Outcome:
        failures = self._failures[started.question.digest]
        return replies.judge(started, outcome, failures=failures, policy=self._policy)

    def _ask_again(self, question: Question, outcome: Outcome) -> None:
        if outcome.is_settled:  # our lease had expired; its new holder has not answered yet
            self._put_off(question, self._policy.poll)
        elif outcome.fault == Fault.INVALID:
            del self._failures[question.digest]
            self._ready.append(question)
        else:
            self._failures[question.digest] += 1
            failures = self._failures[question.digest]
            self._put_off(question, self._policy.delay(failures=failures, retry_after=outcome.retry_after))

    def _put_off(self, question: Question, seconds: float) -> None:
        heapq.heappush(self._later, (time.monotonic() + seconds, next(self._order), question))

    def _deliver(self, answers: dict[str, Answer]) -> None:
        """Deliver stored answers, by digest, to all requests; if one delivery fails, the others still happen."""
        failure: Exception | None = None
        for digest, answer in answers.items():
            try:
                for number, index in enumerate(self._indexes[digest]):
                    # Only the first of several equal requests was sent.
                    self._set_answer(index, replace(answer, cached=answer.cached or number > 0))
            except Exception as error:  # noqa: BLE001 - raised below
                failure = failure or error
        if failure is not None:
            raise failure

    def _set_answer(self, index: int, answer: Answer) -> None:
        self.answers[index] = answer = replace(answer, index=index)
        if self._on_answer is not None:
            self._on_answer(answer)

    def _patience(self) -> float:
        """Return the seconds until there is something to do, unless a reply arrives."""
        moments = [self._renew_at, self._check_at, self._cut_at]
        if self._later:
            moments.append(self._later[0][0])
        if self._ready and self._under_way < self._capacity:
            moments.append(self._begin_at)
        return min(moments) - time.monotonic()

    def _keep_up(self) -> None:
        """Renew our leases well before they expire, and check whether the job is to stop."""
        now = time.monotonic()
        if now >= self._renew_at:
            self._renew_at = now + self._policy.lease / 3
            attempts.renew(context=self._context)
        if self._check is not None and now >= self._check_at:
            self._check_at = now + self._policy.heed
            try:
                self._check()
            except Exception:
                self._check_at = float("inf")
                self._cut_at = now + (0.0 if self._endpoint.is_free else self._policy.grace)
                raise

    def _wind_up(self) -> None:
        """Send nothing more, book attempts in flight as they arrive, and release the rest."""
        self._client.stop()
        while self._under_way:
            self._ready.clear()
            self._later.clear()
            if time.monotonic() >= self._cut_at:
                self._cut_at = float("inf")
                self._client.cut_off()
            with suppress(Exception):  # the first failure is the one that is raised
                self._settle(self._client.results(self._patience()))
                self._keep_up()
        with suppress(Exception):
            attempts.release(context=self._context)
