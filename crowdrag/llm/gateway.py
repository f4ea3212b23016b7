"""The gateway: every call to a language model goes through here (docs/adr/0010).

A question that was answered before is answered from the store and costs nothing, so every job can be killed and
started again. Answers are committed one by one; what is in flight when a process dies stays in the ledger as unknown,
charged at its upper bound.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from uuid import uuid4

from django.utils.translation import gettext as _

from crowdrag.studies.models import Study

from . import addresses, claims, event_loop, ledger, replies, retry_policy
from .concurrency import CallContext, EndpointNotAllowedError
from .dispatcher import Dispatcher, compose
from .errors import GatewayError
from .ledger import BudgetError, BudgetExceededError
from .models import Endpoint
from .requests import Answer, LazyRequests, Question, Request, RequestError, prepare

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
    known = claims.look_up(digests=list(questions))
    bounds = [compose(question, endpoint, None)[1] for digest, question in questions.items() if digest not in known]
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
        else after `Policy.grace`. It is booked as unknown, at its upper bound.

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
    rng = rng or random.Random()
    return event_loop.run(
        lambda call: _complete(call, endpoint, requests, study, purpose, on_answer, check, policy, rng, resolver)
    )


async def complete(
    *,
    endpoint: Endpoint,
    request: Request,
    study: Study | None,
    purpose: str,
    policy: retry_policy.RetryPolicy = DEFAULT_POLICY,
    rng: random.Random | None = None,
    resolver: addresses.Resolver = addresses.system_resolver,
) -> Answer:
    """Ask one question from asynchronous code; otherwise as `complete_many`."""
    rng = rng or random.Random()
    answers = await _complete(
        event_loop.run_in_django, endpoint, [request], study, purpose, None, None, policy, rng, resolver
    )
    return answers[0]


async def _complete(
    call: event_loop.RunInCaller,
    endpoint: Endpoint,
    requests: Sequence[Request],
    study: Study | None,
    purpose: str,
    on_answer: OnAnswer | None,
    check: Check | None,
    policy: retry_policy.RetryPolicy,
    rng: random.Random,
    resolver: addresses.Resolver,
) -> list[Answer]:
    sought = _PendingRequests(endpoint, requests, on_answer, lambda: _admit(endpoint, study))
    if first := await call(sought.more):
        asker = CallContext(uuid4(), endpoint, study, purpose, policy)
        sender = replies.Sender(endpoint=endpoint, resolver=resolver)
        wave = Dispatcher(
            asker=asker, sender=sender, deliver=sought.deliver, more=sought.more, call=call, rng=rng, check=check
        )
        await wave.run(first)
    return [answer for answer in sought.answers if answer is not None]


class _PendingRequests:
    """What was asked for, taken up in slices: whatever is stored is answered, the rest is what to ask."""

    def __init__(
        self, endpoint: Endpoint, requests: Sequence[Request], on_answer: OnAnswer | None, admit: Callable[[], None]
    ) -> None:
        self._endpoint = endpoint
        self._requests = requests
        self._on_answer = on_answer
        self._admit = admit
        self._is_admitted = False
        self._next = 0
        self._size = max(SLICE, endpoint.concurrency)
        self._places: dict[str, list[int]] = {}
        self.answers: list[Answer | None] = [None] * len(requests)

    def more(self) -> list[Question]:
        """Return the next questions that must be asked; none only where there are no more."""
        while self._next < len(self._requests):
            questions = self._slice()
            known = claims.look_up(digests=list(questions))
            for digest, answer in known.items():
                self.deliver(questions[digest], answer)
            if missing := [question for digest, question in questions.items() if digest not in known]:
                if not self._is_admitted:
                    self._admit()
                    self._is_admitted = True
                return missing
        return []

    def deliver(self, question: Question, answer: Answer) -> None:
        """Give an answer to all who asked for it."""
        places = self._places[question.digest]
        for index in places:
            # Only one of several equal requests was sent.
            own = answer.at(index, cached=answer.cached or index != places[0])
            self.answers[index] = own
            if self._on_answer is not None:
                self._on_answer(own)

    def _slice(self) -> dict[str, Question]:
        """Prepare the next slice; of equal questions the first stands for all, whenever the others come."""
        questions: dict[str, Question] = {}
        end = min(self._next + self._size, len(self._requests))
        for index in range(self._next, end):
            question = prepare(endpoint=self._endpoint, request=self._requests[index])
            places = self._places.setdefault(question.digest, [])
            places.append(index)
            if len(places) == 1:
                questions[question.digest] = question
            elif (answer := self.answers[places[0]]) is not None:
                own = answer.at(index, cached=True)
                self.answers[index] = own
                if self._on_answer is not None:
                    self._on_answer(own)
        self._next = end
        return questions


def _admit(endpoint: Endpoint, study: Study | None) -> None:
    if study is None:
        return
    if not endpoint.is_allowed:
        raise EndpointNotAllowedError(_("The endpoint “%s” is not allowed. An operator can allow it.") % endpoint)
    study.refresh_from_db(fields=["llm_budget", "currency"])
    ledger.admit(study=study, endpoint=endpoint)
