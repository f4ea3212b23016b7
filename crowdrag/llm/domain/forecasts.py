"""What a job of many calls would come to before anything is sent, and when it is to be tried again."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from django.utils.translation import gettext as _

from crowdrag.studies.models import Study

from ..enums import Fault
from ..models import Endpoint
from . import gateway, ledger, speeds

# What another try may mend: then a unit is tried again, and what was answered comes from the store.
PASSING: Final = frozenset(
    {Fault.UNREACHABLE, Fault.TIMEOUT, Fault.CUT, Fault.BUSY, Fault.SERVER, Fault.GARBAGE, Fault.LOST}
)


class UnansweredError(RuntimeError):
    """A server failed for now; what it answered until then is stored."""


@dataclass(frozen=True)
class Forecast:
    """What a job would come to: at most so many tokens and so much money, and how long, if that is known.

    `sampled` says of how many requests it was reckoned, where there are more than that.
    """

    wanted: int
    estimate: gateway.Estimate
    seconds: float | None
    left: Decimal | None
    problem: str
    sampled: int | None = None

    @property
    def is_over_budget(self) -> bool:
        """Whether it may stop at the budget."""
        return self.left is not None and self.estimate.cost > self.left


def forecast(
    *,
    study: Study,
    endpoint: Endpoint,
    requests: Sequence[gateway.Request],
    purpose: str,
    wanted: int | None = None,
    calls: int | None = None,
) -> Forecast:
    """Return what asking would come to; nothing is sent.

    Parameters
    ----------
    requests
        What is asked, or an even sample of it.
    wanted
        How many things are wanted, where that is another number than that of the requests.
    calls
        How many requests there are in all, where `requests` are a sample.
    """
    estimate = gateway.estimate(endpoint=endpoint, requests=requests)
    sampled = len(requests) if calls is not None and calls > len(requests) else None
    if sampled and calls:
        estimate = _scaled(estimate, calls)
    problem = ""
    try:
        ledger.admit(study=study, endpoint=endpoint)
    except gateway.GatewayError as error:
        problem = str(error)
    left = None if endpoint.is_free else ledger.left(study=study)
    open_calls = estimate.requests - estimate.stored
    speed = speeds.of(endpoint, purpose)
    seconds = None
    if speed is not None:
        seconds = speed.at_once(open_calls, endpoint).seconds_within(
            calls=open_calls,
            prompt_tokens=estimate.prompt_tokens,
            completion_tokens=estimate.completion_tokens,
        )
    return Forecast(len(requests) if wanted is None else wanted, estimate, seconds, left, problem, sampled)


def waiting(endpoint: Endpoint, seconds: float = 0.0) -> str:
    """Say what a run does before the first answer comes, and for how long."""
    if seconds < 1:
        return _("Waiting for the first answer of %s") % endpoint
    said = _("Waiting for the first answer of %(endpoint)s, for %(seconds)d s so far")
    return said % {"endpoint": endpoint, "seconds": seconds}


def check_answered(endpoint: Endpoint, answers: Sequence[gateway.Answer]) -> None:
    """Raise where a server failed for now, so that a unit of work is tried again.

    Raises
    ------
    UnansweredError
    """
    if passing := [answer for answer in answers if answer.fault in PASSING]:
        raise UnansweredError(f"{endpoint} did not answer {len(passing)} of {len(answers)}: {passing[0].error}")


def _scaled(estimate: gateway.Estimate, calls: int) -> gateway.Estimate:
    factor = Decimal(calls) / max(estimate.requests, 1)
    return replace(
        estimate,
        requests=calls,
        stored=int(estimate.stored * factor),
        prompt_tokens=int(estimate.prompt_tokens * factor),
        completion_tokens=int(estimate.completion_tokens * factor),
        cost=estimate.cost * factor,
    )
