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

from ..models import Endpoint
from . import addresses, bridge, claims, costs, ledger, pacing, replies
from .claims import Asker, EndpointNotAllowedError
from .errors import GatewayError
from .ledger import BudgetError, BudgetExceededError
from .requests import Answer, Question, Request, RequestError, prepare
from .wave import Wave, compose

__all__ = [
    "Answer",
    "BudgetError",
    "BudgetExceededError",
    "EndpointNotAllowedError",
    "Estimate",
    "GatewayError",
    "Request",
    "RequestError",
    "complete",
    "complete_many",
    "estimate",
]

DEFAULT = pacing.Policy()
OnAnswer = Callable[[Answer], None]


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
    bounds = [compose(question, endpoint, None)[2] for digest, question in questions.items() if digest not in known]
    prompt, completion = sum(bound.prompt for bound in bounds), sum(bound.completion for bound in bounds)
    cost = costs.price(endpoint=endpoint, prompt=prompt, completion=completion)
    return Estimate(len(requests), len(requests) - len(bounds), prompt, completion, cost, endpoint.currency)


def complete_many(
    *,
    endpoint: Endpoint,
    requests: Sequence[Request],
    study: Study | None,
    purpose: str,
    on_answer: OnAnswer | None = None,
    policy: pacing.Policy = DEFAULT,
    rng: random.Random | None = None,
    resolver: addresses.Resolver = addresses.system_resolver,
) -> list[Answer]:
    """Ask a model many questions, as many at once as the endpoint allows, and return the answers in the same order.

    Parameters
    ----------
    endpoint, requests
        Whom to ask what. Equal requests are sent once.
    study
        Who pays; None only for an operator's check of an endpoint.
    purpose
        What for, in a word or two ("write", "judge"); kept with the call.
    on_answer
        Called in this thread with each `Answer` once it is stored, in the order in which they come; `Answer.index` is
        its place in `requests`. If it raises (a cancelled run), nothing more is sent, what is in flight is brought
        home and booked, and the exception goes on to the caller.

    Returns
    -------
    list of Answer
        One for each request. A question that failed for good has `fault` and `error` set: failures of the server or
        the network are asked again when the same is asked another time; an answer that did not fit its schema five
        times is stored as a failure and is not.

    Raises
    ------
    GatewayError
        Nothing could be asked, or not all (`BudgetExceededError`): what was answered until then is stored.
    RuntimeError
        Called inside a transaction: what is sent must be on record even if the caller rolls back.
    """
    rng = rng or random.Random()
    return bridge.run(
        lambda call: _complete(call, endpoint, requests, study, purpose, on_answer, policy, rng, resolver)
    )


async def complete(
    *,
    endpoint: Endpoint,
    request: Request,
    study: Study | None,
    purpose: str,
    policy: pacing.Policy = DEFAULT,
    rng: random.Random | None = None,
    resolver: addresses.Resolver = addresses.system_resolver,
) -> Answer:
    """Ask one question from asynchronous code; otherwise as `complete_many`."""
    rng = rng or random.Random()
    answers = await _complete(bridge.in_django, endpoint, [request], study, purpose, None, policy, rng, resolver)
    return answers[0]


async def _complete(
    call: bridge.Call,
    endpoint: Endpoint,
    requests: Sequence[Request],
    study: Study | None,
    purpose: str,
    on_answer: OnAnswer | None,
    policy: pacing.Policy,
    rng: random.Random,
    resolver: addresses.Resolver,
) -> list[Answer]:
    answers: list[Answer | None] = [None] * len(requests)
    places: dict[str, list[int]] = {}
    questions: dict[str, Question] = {}
    for index, request in enumerate(requests):
        question = prepare(endpoint=endpoint, request=request)
        questions.setdefault(question.digest, question)
        places.setdefault(question.digest, []).append(index)

    def deliver(question: Question, answer: Answer) -> None:
        for index in places[question.digest]:
            # Only one of several equal requests was sent.
            own = answer.at(index, cached=answer.cached or index != places[question.digest][0])
            answers[index] = own
            if on_answer is not None:
                on_answer(own)

    def from_store() -> list[Question]:
        known = claims.look_up(digests=list(questions))
        for digest, answer in known.items():
            deliver(questions[digest], answer)
        return [question for digest, question in questions.items() if digest not in known]

    missing = await call(from_store)
    if missing:
        await call(_admit, endpoint, study)
        asker = Asker(uuid4(), endpoint, study, purpose, policy)
        sender = replies.Sender(endpoint=endpoint, resolver=resolver)
        await Wave(asker=asker, sender=sender, deliver=deliver, call=call, rng=rng).run(missing)
    return [answer for answer in answers if answer is not None]


def _admit(endpoint: Endpoint, study: Study | None) -> None:
    if study is None:
        return
    if not endpoint.is_allowed:
        raise EndpointNotAllowedError(_("The endpoint “%s” is not allowed. An operator can allow it.") % endpoint)
    study.refresh_from_db(fields=["llm_budget", "currency"])
    ledger.admit(study=study, endpoint=endpoint)
