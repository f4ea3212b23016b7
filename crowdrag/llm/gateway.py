"""The gateway: every call to a language model goes through here (docs/adr/0010, 0032, 0040).

A question that was answered before is answered from the store and costs nothing, so every job can be killed and
restarted. For all others:

1. The calling thread turns each request into a question (`requests`), looks its answer up in the store, and hands it
   to an `exchange`, which it shares with other threads of this process.
2. There, `attempts` claims questions, holds the money (`ledger`) and records the attempts, in one transaction.
3. `client` sends them from its event loop, and `replies` interprets each reply.
4. `attempts` books them and stores the answers, in one transaction; then the calling thread gets the answers.

Attempts in flight when a process dies stay in the ledger as unknown, charged at their upper bound.
"""

import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import islice

from crowdrag.studies.models import Study

from . import GatewayError, addresses, attempts, exchange, ledger
from .attempts import EndpointNotAllowedError, prefetch_limit
from .ledger import BudgetError, BudgetExceededError
from .models import Endpoint
from .requests import Answer, Question, Request, RequestError, compose, prepare
from .retry_policy import RetryPolicy

__all__ = [
    "Answer", "BudgetError", "BudgetExceededError", "EndpointNotAllowedError", "Estimate", "GatewayError", "Request",
    "RequestError", "complete_many", "estimate", "has_room",
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


def has_room(name: str) -> bool:
    """Return whether this process has fewer open questions to an endpoint than it sends and records ahead at once."""
    return exchange.has_room(name)


def complete_many(
    *,
    endpoint: Endpoint,
    requests: Iterable[Request | None],
    study: Study | None,
    purpose: str,
    on_answer: Callable[[Answer], None] | None = None,
    check: Callable[[], None] | None = None,
    idle: Callable[[], AbstractContextManager[object]] = nullcontext,
    policy: RetryPolicy = DEFAULT_POLICY,
    resolver: addresses.Resolver = addresses.system_resolver,
) -> list[Answer]:
    """Send many questions to a model, within the endpoint's concurrency, and return the answers in the same order.

    Several threads of a process may do this at once. For the same endpoint, study and purpose they share the
    endpoint's slots without waiting for each other, and equal requests of different threads are sent once.

    Parameters
    ----------
    endpoint, requests
        The endpoint and the requests. Equal requests are sent once. The requests are read one after the other, in this
        thread, shortly before they are sent: a generator may create each when it is read. It may yield None while it
        has no further request until more answers arrive: then it is read again after the next answer.
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
        booked as unknown, at their upper bound. Questions that other threads ask too are not affected.
    idle
        Makes a context in which this thread waits: it may let another thread work meanwhile.

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
        What the endpoint, the budget or the database refuses ends the calls of all threads that share them.
    RuntimeError
        Called inside a transaction: what is sent must be on record even if the caller rolls back. Or the requests wait
        for an answer and none is to come.
    """
    caller = _Caller(endpoint, study, purpose, policy, resolver, requests, on_answer, check, idle)
    caller.run()
    return [answer for answer in caller.answers if answer is not None]


class _Caller:
    """One use of the gateway: it prepares requests, looks them up, and delivers the answers, in the calling thread."""

    def __init__(
        self,
        endpoint: Endpoint,
        study: Study | None,
        purpose: str,
        policy: RetryPolicy,
        resolver: addresses.Resolver,
        requests: Iterable[Request | None],
        on_answer: Callable[[Answer], None] | None,
        check: Callable[[], None] | None,
        idle: Callable[[], AbstractContextManager[object]],
    ) -> None:
        self._endpoint, self._study, self._purpose = endpoint, study, purpose
        self._policy, self._resolver = policy, resolver
        self._requests = iter(requests)
        self._on_answer, self._check, self._idle = on_answer, check, idle
        # Twice what the exchange records at once, so that it never waits for this thread.
        self._most_open = 2 * (endpoint.slots + prefetch_limit(endpoint.slots))
        self._indexes: dict[str, list[int]] = {}  # positions of the requests of a question, by its digest
        self.answers: list[Answer | None] = []
        self._delivered = 0
        self._is_exhausted = False  # all requests are read
        self._is_admitted = False
        self._exchange: exchange.Exchange | None = None
        self._seat = exchange.Seat()
        self._check_at = time.monotonic() + policy.heed if check else float("inf")
        self._cut_at = float("inf")

    def run(self) -> None:
        """Run until all requests are answered; an error is raised once all attempts in flight are booked."""
        try:
            while True:
                self._take_up()
                if self._is_exhausted and self._seat.is_empty:
                    return
                self._wait(self._check_at)
                self._deliver(self._seat.take())
                if not (self._is_exhausted and self._seat.is_empty):
                    self._seat.check()
                self._look()
        except Exception:
            if self._exchange is not None:
                self._wind_up(self._exchange)
            raise
        finally:
            if self._exchange is not None:
                exchange.leave(self._exchange, self._seat)

    def _wait(self, until: float) -> None:
        if self._exchange is None or self._seat.is_empty:
            raise RuntimeError("The requests wait for an answer, but no question is open.")
        if self._seat.answers.empty():
            with self._idle():
                self._exchange.wait(self._seat, until - time.monotonic())

    def _take_up(self) -> None:
        """Read requests, deliver stored answers, and ask the rest, until enough questions are open."""
        while len(self._seat.open) < self._most_open and not self._is_exhausted:
            requests, is_waiting = self._read()
            delivered = self._delivered
            questions = self._prepare(requests)
            stored = attempts.look_up(digests=list(questions)) if questions else {}
            self._ask([question for digest, question in questions.items() if digest not in stored])
            self._deliver(stored)
            if is_waiting and self._delivered == delivered:
                return

    def _read(self) -> tuple[list[Request], bool]:
        """Read a slice of requests; also return whether there are no more until an answer arrives."""
        size, requests = max(SLICE, self._endpoint.slots), list[Request]()
        for request in islice(self._requests, size):
            if request is None:
                return requests, True
            requests.append(request)
        self._is_exhausted = len(requests) < size
        return requests, False

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
                self._set_answer(indexes[-1], exchange.as_stored(answer))
        return questions

    def _ask(self, questions: list[Question]) -> None:
        if not questions:
            return
        if not self._is_admitted:
            self._admit()
        if self._exchange is None:
            self._exchange, self._seat = exchange.join(
                endpoint=self._endpoint, study=self._study, purpose=self._purpose, policy=self._policy,
                resolver=self._resolver,
            )  # fmt: skip
        self._exchange.submit(self._seat, questions)

    def _admit(self) -> None:
        """Check once, before anything is sent, that the study may use the endpoint."""
        if (study := self._study) is not None:
            if not self._endpoint.is_allowed:
                raise EndpointNotAllowedError(
                    f"The endpoint “{self._endpoint}” is not allowed. An operator can allow it."
                )
            study.refresh_from_db(fields=["llm_budget", "currency"])
            ledger.admit(study=study, endpoint=self._endpoint)
        self._is_admitted = True

    def _deliver(self, answers: dict[str, Answer]) -> None:
        """Deliver stored answers, by digest, to all requests; if one delivery fails, the others still happen."""
        failure: Exception | None = None
        for digest, answer in answers.items():
            try:
                for number, index in enumerate(self._indexes[digest]):
                    # Only the first of several equal requests was sent.
                    self._set_answer(index, exchange.as_stored(answer) if number else answer)
            except Exception as error:  # noqa: BLE001 - raised below
                failure = failure or error
        if failure is not None:
            raise failure

    def _set_answer(self, index: int, answer: Answer) -> None:
        self.answers[index] = answer = replace(answer, index=index)
        self._delivered += 1
        if self._on_answer is not None:
            self._on_answer(answer)

    def _look(self) -> None:
        """Check whether the job is to stop."""
        now = time.monotonic()
        if self._check is not None and now >= self._check_at:
            self._check_at = now + self._policy.heed
            try:
                self._check()
            except Exception:
                self._cut_at = now + (0.0 if self._endpoint.is_free else self._policy.grace)
                raise

    def _wind_up(self, joined: exchange.Exchange) -> None:
        """Send nothing more, wait until attempts in flight are booked, and release the rest."""
        digests = joined.withdraw(self._seat)
        while self._seat.open:
            if time.monotonic() >= self._cut_at:
                self._cut_at = float("inf")
                joined.cut_off(self._seat)
            with suppress(Exception):  # the first failure is the one that is raised
                self._wait(self._cut_at)
                self._deliver(self._seat.take())
        with suppress(Exception):
            self._deliver(self._seat.take())
        with suppress(Exception):
            joined.release(self._seat, digests)
