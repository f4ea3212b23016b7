"""How long an order would take: by what its generator lately took for the tokens that it read and wrote."""

from __future__ import annotations

from dataclasses import dataclass

from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run, RunQuerySet
from crowdrag.llm.forecasts import Speed

from .experiment import Estimate

#: In the summary of a run: what it was estimated to ask for when it was planned.
EXPECTED = "expected"


@dataclass(frozen=True)
class Share:
    """What part of its estimate a run asked for: tokens that it read, and that it wrote."""

    prompt: float
    completion: float


def seconds(speed: Speed, found: Estimate, share: Share | None = None) -> float:
    """How long an estimate's prompts probably take.

    Parameters
    ----------
    speed : Speed
    found : Estimate
        Its upper bound of what is written is brought down to what answers lately had of what they might have.
    share : Share, optional
        What an earlier run asked for of its estimate; then nothing else is brought down.
    """
    likely = found.likely or found
    calls = found.calls * share.prompt if share else likely.calls
    if share is None:
        share = Share(likely.prompt_tokens / max(found.prompt_tokens, 1), speed.written * _ratio(likely, found))
    return speed.asks * speed.seconds(
        calls=calls,
        prompt_tokens=share.prompt * found.prompt_tokens,
        completion_tokens=share.completion * found.completion_tokens,
    )


def _ratio(likely: Estimate, found: Estimate) -> float:
    return likely.completion_tokens / max(found.completion_tokens, 1)


def expected(found: Estimate) -> dict[str, int]:
    """What a run's summary keeps of its estimate."""
    return {"prompt_tokens": found.prompt_tokens, "completion_tokens": found.completion_tokens}


def share_of_latest(kind: str, generator: str) -> Share | None:
    """What part of its estimate the latest run of this kind by this generator asked for; None where there is none."""
    run = _done(kind, generator).filter(summary__has_key=EXPECTED).newest_first().first()
    if run is None:
        return None
    usage, most = run.summary["usage"], run.summary[EXPECTED]
    if not most["prompt_tokens"] or not most["completion_tokens"]:
        return None
    return Share(usage["prompt_tokens"] / most["prompt_tokens"], usage["completion_tokens"] / most["completion_tokens"])


def of_runs(kind: str, generator: str) -> Speed | None:
    """The speed of the latest run of this kind by this generator that asked for something, all its other work included.

    Tokens of what was kept from before took no time. None where there is no such run.
    """
    run = _done(kind, generator).filter(resumed_at__isnull=True).newest_first().first()
    if run is None or run.started_at is None or run.finished_at is None:
        return None
    usage = run.summary["usage"]
    share = usage["calls"] / (usage["calls"] + usage.get("stored", 0))
    tokens = share * (usage["prompt_tokens"] + usage["completion_tokens"])
    if tokens <= 0:
        return None
    each = (run.finished_at - run.started_at).total_seconds() / tokens
    return Speed(each, each)


def _done(kind: str, generator: str) -> RunQuerySet:
    return Run.objects.filter(
        kind=kind, state=RunState.DONE, parameters__generator=generator, summary__usage__calls__gt=0
    )
