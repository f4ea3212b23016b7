"""Estimates for a job of many calls before anything is sent: tokens, cost and duration.

Estimates of cost are upper bounds; those of time are not: an answer seldom uses all tokens that it may have, and no
tokeniser makes as many tokens as a text has bytes. So an endpoint's speed is measured on its latest answers: the share
of allowed tokens that is used, the duration of a call, of a token read and of a token written, the number of concurrent
calls, and how often a question was sent.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from math import ceil
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from crowdrag.studies.models import Study

from . import gateway, ledger
from .enums import AttemptState, Fault
from .models import Attempt, Endpoint
from .requests import output_limit

# An endpoint's speed is measured on this many of its latest answers.
RECENT_ANSWERS: Final = 50


@dataclass(frozen=True)
class Speed:
    """The measured speed of an endpoint."""

    prompt: float  # seconds per token that it reads
    completion: float  # seconds per token that it writes
    overlap: float = 1.0  # mean number of concurrent calls: 1 if answers come one by one
    read: float = 1.0  # tokens read per token of the upper bound; 1 if unknown
    written: float = 1.0  # tokens written per token that an answer may have; 1 if unknown
    asks: float = 1.0  # how often a question was sent until its answer fitted
    call: float = 0.0  # seconds per call, whatever its size: the network, a queue

    def seconds(self, *, calls: float, prompt_tokens: float, completion_tokens: float) -> float:
        """Return how long these calls take with these total numbers of tokens."""
        tokens = self.prompt * prompt_tokens + self.completion * completion_tokens
        return (self.call * calls + tokens) / self.overlap

    def seconds_within(self, *, calls: float, prompt_tokens: float, completion_tokens: float) -> float:
        """Return the expected duration of calls whose tokens have these upper bounds."""
        read, written = self.read * prompt_tokens, self.written * completion_tokens
        return self.asks * self.seconds(calls=calls, prompt_tokens=read, completion_tokens=written)

    def at_once(self, calls: int, endpoint: Endpoint) -> "Speed":
        """Return the speed at the endpoint's full concurrency, considering that the last round is seldom full.

        A remote server can answer more at once than were sent lately: with a concurrency of eight, nine calls take as
        long as sixteen. A local model shares its processor among them, so its measured speed is used as it is.
        """
        if endpoint.is_local or calls <= 0:
            return self
        at_once = max(1.0, min(max(self.overlap, endpoint.slots), calls))
        return replace(self, overlap=calls / ceil(calls / at_once))


def measure_speed(endpoint: Endpoint, purpose: str) -> Speed | None:
    """Return the speed of an endpoint's latest answers: for this purpose, else for any; None if there are none."""
    answered = (
        Attempt.objects.filter(
            endpoint=endpoint, state=AttemptState.ANSWERED, latency__gt=0, prompt_tokens__gt=0, ended_at__isnull=False
        )
        .select_related("call")
        .order_by("-id")
    )
    attempts = list(answered.filter(call__purpose=purpose)[:RECENT_ANSWERS]) or list(answered[:RECENT_ANSWERS])
    if not attempts:
        return None
    tokens = np.array([(row.prompt_tokens, row.completion_tokens or 0) for row in attempts], dtype=np.float64)
    latency = np.array([row.latency for row in attempts], dtype=np.float64)
    # An attempt is recorded before it is sent, when a slot is free.
    ends = [row.ended_at.timestamp() for row in attempts if row.ended_at is not None]
    # A clock may be set back, and servers may answer in no time.
    busy = max(_busy_seconds(np.array(ends), latency), float(latency.max()))
    call, prompt, completion = _seconds_a_call_and_token(tokens, latency)
    read, written = _shares(attempts, endpoint)
    calls = [row.call_id for row in attempts if row.call_id is not None]
    asks = len(calls) / len(set(calls)) if calls else 1.0
    return Speed(prompt, completion, max(float(latency.sum()) / busy, 1.0), read, written, asks, call)


def _busy_seconds(ends: NDArray[np.float64], latency: NDArray[np.float64]) -> float:
    """Return the seconds in which at least one call was in flight."""
    order = np.argsort(ends - latency)
    begins, ends = (ends - latency)[order], ends[order]
    # A call counts from the time when all earlier calls had ended.
    earlier = np.maximum.accumulate(np.append(begins[0], ends[:-1]))
    return float(np.maximum(ends - np.maximum(begins, earlier), 0.0).sum())


def _seconds_a_call_and_token(tokens: NDArray[np.float64], latency: NDArray[np.float64]) -> tuple[float, float, float]:
    """Fit seconds per call and per token by non-negative least squares, scaled to the measured total time."""
    from scipy.optimize import nnls  # imported when needed: it takes a while

    sizes = np.column_stack([np.ones(len(tokens)), tokens])
    seconds, _residual = nnls(sizes, latency)
    fitted = float(sizes.sum(axis=0) @ seconds)
    call, prompt, completion = (seconds * (float(latency.sum()) / fitted if fitted > 0 else 0.0)).tolist()
    return call, prompt, completion


def _shares(attempts: Sequence[Attempt], endpoint: Endpoint) -> tuple[float, float]:
    """Return the shares of their token bounds that calls read and wrote; 1 if no call still has its question."""
    read = written = most_read = most_written = 0
    for attempt in attempts:
        request: dict[str, Any] | None = attempt.call.request if attempt.call is not None else None
        if request is None:
            continue
        limit = output_limit(request["parameters"], endpoint)
        bound = ledger.bound_tokens(messages=request["messages"], extra=request["schema"], completion=limit)
        read += attempt.prompt_tokens or 0
        written += attempt.completion_tokens or 0
        most_read += bound.prompt_tokens
        most_written += bound.completion_tokens
    return (read / most_read if most_read else 1.0), (written / most_written if most_written else 1.0)


# A retry may help: then a unit is tried again, and stored answers are reused.
TRANSIENT_FAULTS: Final = frozenset(
    {Fault.UNREACHABLE, Fault.TIMEOUT, Fault.CUT, Fault.BUSY, Fault.SERVER, Fault.GARBAGE, Fault.LOST}
)


class UnansweredError(RuntimeError):
    """A server failed temporarily; its answers so far are stored."""


@dataclass(frozen=True)
class Forecast:
    """The estimate of a job: maximum tokens and cost, and the duration, if known.

    `sampled` is the number of requests on which the estimate is based, if there are more than that.
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
    count: int | None = None,
    calls: int | None = None,
) -> Forecast:
    """Return the estimate of these requests; nothing is sent.

    Parameters
    ----------
    requests
        The requests, or an even sample of them.
    count
        The number of things to be created or judged, if it differs from the number of requests.
    calls
        The total number of requests, if `requests` are a sample.
    """
    estimate = gateway.estimate(endpoint=endpoint, requests=requests)
    sampled = len(requests) if calls is not None and calls > len(requests) else None
    if sampled and calls:
        estimate = estimate.scaled(calls)
    problem = ""
    try:
        ledger.admit(study=study, endpoint=endpoint)
    except gateway.GatewayError as error:
        problem = str(error)
    left = None if endpoint.is_free else ledger.remaining(study=study)
    open_calls = estimate.requests - estimate.stored
    speed = measure_speed(endpoint, purpose)
    seconds = None
    if speed is not None:
        tokens = {"prompt_tokens": estimate.prompt_tokens, "completion_tokens": estimate.completion_tokens}
        seconds = speed.at_once(open_calls, endpoint).seconds_within(calls=open_calls, **tokens)
    return Forecast(len(requests) if count is None else count, estimate, seconds, left, problem, sampled)


def describe_wait(endpoint: Endpoint) -> str:
    """Return what a run does before the first answer arrives."""
    return f"Waiting for the first answer from {endpoint}"


def check_answered(endpoint: Endpoint, answers: Sequence[gateway.Answer]) -> None:
    """Raise `UnansweredError` if a server failed temporarily, so that the unit of work is tried again."""
    if failed := [answer for answer in answers if answer.fault in TRANSIENT_FAULTS]:
        raise UnansweredError(f"{endpoint} did not answer {len(failed)} of {len(answers)}: {failed[0].error}")
