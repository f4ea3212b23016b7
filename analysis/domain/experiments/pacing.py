"""How long an order would take: by what its generator lately took for the tokens that it read and wrote."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import numpy as np

from crowdrag.llm.domain import forecasts
from crowdrag.llm.enums import AttemptState
from crowdrag.llm.models import Attempt, Endpoint
from crowdrag.runs.domain import progress
from crowdrag.runs.enums import RunState
from crowdrag.runs.models import Run

from .experiment import Estimate


@dataclass(frozen=True)
class Pace:
    """What a generator takes.

    Attributes
    ----------
    prompt, completion : float
        Seconds a token that it reads, and one that it writes; 0 where nothing tells the one from the other.
    overlap : float
        How many calls were on their way at once, on average: answers that come one by one are 1.
    """

    prompt: float
    completion: float
    overlap: float = 1.0

    def seconds(self, found: Estimate) -> float:
        """How long an estimate's prompts take."""
        return (self.prompt * found.prompt_tokens + self.completion * found.completion_tokens) / self.overlap


def of_endpoint(endpoint: Endpoint, purpose: str) -> Pace | None:
    """The pace of an endpoint's latest answers: for this purpose, else for any; None where it never answered."""
    answered = Attempt.objects.filter(
        endpoint=endpoint, state=AttemptState.ANSWERED, latency__gt=0, prompt_tokens__gt=0, ended_at__isnull=False
    ).order_by("-id")
    fields = "prompt_tokens", "completion_tokens", "latency", "started_at", "ended_at"
    own = answered.filter(call__purpose=purpose)
    rows = list(own.values_list(*fields)[: forecasts.RECENT]) or list(answered.values_list(*fields)[: forecasts.RECENT])
    if not rows:
        return None
    tokens = np.array([(prompt, completion or 0) for prompt, completion, *_others in rows], dtype=np.float64)
    latency = np.array([row[2] for row in rows], dtype=np.float64)
    spans = [(begun, ended) for *_numbers, begun, ended in rows if ended is not None]
    # A clock may be set back, and servers answer in no time.
    busy = max(progress.busy(spans, gap=timedelta()).total_seconds(), float(latency.max()))
    return _fitted(tokens, latency, max(float(latency.sum()) / busy, 1.0))


def _fitted(tokens: np.ndarray, latency: np.ndarray, overlap: float) -> Pace:
    """Seconds a token by least squares, none below 0, so that all together take what they took."""
    from scipy.optimize import nnls  # imported when needed: it takes a while

    (prompt, completion), _residual = nnls(tokens, latency)
    fitted = float(tokens.sum(axis=0) @ (prompt, completion))
    scale = float(latency.sum()) / fitted if fitted > 0 else 0.0
    return Pace(float(prompt) * scale, float(completion) * scale, overlap)


def of_runs(kind: str, generator: str) -> Pace | None:
    """The pace of the latest run of this kind by this generator that asked for something, all its other work included.

    Tokens of what was kept from before took no time. None where there is no such run.
    """
    runs = Run.objects.filter(
        kind=kind, state=RunState.DONE, parameters__generator=generator, summary__usage__calls__gt=0,
        resumed_at__isnull=True,
    )  # fmt: skip
    run = runs.newest_first().first()
    if run is None or run.started_at is None or run.finished_at is None:
        return None
    usage = run.summary["usage"]
    share = usage["calls"] / (usage["calls"] + usage.get("stored", 0))
    tokens = share * (usage["prompt_tokens"] + usage["completion_tokens"])
    if tokens <= 0:
        return None
    each = (run.finished_at - run.started_at).total_seconds() / tokens
    return Pace(each, each)
