"""Key figures of a study: how much there is of what (crowdrag25, Table 1)."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from analysis.enums import Split
from analysis.stats.bootstrap import bootstrap, resample_weights, weighted_mean
from analysis.stats.orientation import canonical

from ..inputs import Inputs, Response
from . import spending
from .agreement import Mask
from .family import Analysed, Tables
from .fitting import Fitted
from .margins import Resampling
from .schema import NOTE, Row, number
from .settings import Settings, stream

COUNTS = "no interval: one count by another, of all that there are"
JUDGES = "no interval: which judges met on a pair decides too, of which resampled topics tell nothing"
ONE_VOTE = "no pair was judged by two people or more: one vote is always its own majority"


def family(analysed: Analysed) -> Tables:
    """Key figures."""
    rows = key_figure_rows(
        analysed.inputs,
        analysed.main,
        masks=analysed.masks,
        settings=analysed.settings,
        seed=analysed.seed,
    )
    return {"key_figures": rows}


def key_figure_rows(
    inputs: Inputs, fitted: Fitted, *, masks: dict[str, Mask], settings: Settings, seed: int
) -> list[Row]:
    """Counts, and means with their intervals."""
    resampling = Resampling.of(inputs.responses, settings, seed)
    rows = [
        *_writing(inputs, settings, seed),
        *spending.writing(inputs, resampling),
        *_judging(inputs, fitted, masks),
    ]
    return [row if "unit" in row else row | {"unit": ""} for row in rows]


def _writing(inputs: Inputs, settings: Settings, seed: int) -> Iterator[Row]:
    responses = inputs.responses
    yield _count("topics", len({response.topic for response in responses}))
    yield _count("responses", len(responses))
    by_kind = Counter((response.style, response.origin) for response in responses)
    for (style, origin), n in sorted(by_kind.items()):
        yield _count(f"responses_{style}_{origin}", n)
    by_origin: dict[str, set[str]] = {}
    for response in responses:
        by_origin.setdefault(response.origin, set()).add(response.participant)
    for origin, people in sorted(by_origin.items()):
        yield _count(f"writers_{origin}", len(people))
        wrote = sum(response.origin == origin for response in responses)
        yield _quotient(f"responses_per_writer_{origin}", wrote, len(people))
    yield _count("non_responses", sum(response.words < settings.min_words for response in responses))
    full = [response for response in responses if response.words >= settings.min_words]
    yield _mean_words("words_per_response", full, settings, seed)
    for origin in sorted(by_origin):
        yield _mean_words(f"words_per_response_{origin}", [r for r in full if r.origin == origin], settings, seed)


def _judging(inputs: Inputs, fitted: Fitted, masks: dict[str, Mask]) -> Iterator[Row]:
    counts = {name: inputs.counts.get(name) for name in ("expert", "model", "pointwise")}
    others = [_count(f"judgments_{name}", n) for name, n in counts.items() if n]
    if not fitted.fits:
        yield _count("judgments", 0)
        yield from others
        return
    pool = fitted.pool
    pairs = [unit for unit in pool.units if unit[1] >= 0]
    votes = sum(len(fit.unit) for fit in fitted.fits)
    judges = len(np.unique(np.concatenate([fit.coder for fit in fitted.fits])))
    yield _count("topics_judged", len(np.unique(pool.topic)))
    yield _count("responses_judged", len({side for unit in pairs for side in unit[:2]}))
    yield _count("dimensions", len(fitted.fits))
    yield _count("pairs", len(pairs))
    if pairs:
        sides = canonical([unit[0] for unit in pairs], [unit[1] for unit in pairs])
        both = len(pairs) - len(set(zip(sides.low.tolist(), sides.high.tolist(), strict=True)))
        yield _count("pairs_in_both_orders", both)
    if Split.DIFFERENTIABLE in masks:
        yield _differentiable(masks)
    yield _count("judges", judges)
    yield _count("judgments", votes)
    yield _count("judgments_surplus", len(pool.unit) - votes)
    yield _quotient("judgments_per_judge", votes, judges)
    yield from others
    labels = sum(int((fit.counts.sum(axis=1) > 0).sum()) for fit in fitted.fits)
    yield from spending.judging(inputs, votes, labels)


def _differentiable(masks: dict[str, Mask]) -> Row:
    """The share of differentiable pairs, of those that several people judged."""
    name, told_apart = "differentiable_share", masks[Split.DIFFERENTIABLE]
    said = told_apart | masks[Split.MINIMAL]
    if not said.any():
        return {"name": name, "value": None, "low": None, "high": None, "n": 0, NOTE: ONE_VOTE}
    value = float(np.mean(told_apart[said]))
    return {"name": name, "value": value, "low": None, "high": None, "n": int(said.sum()), NOTE: JUDGES}


def _count(name: str, value: int) -> Row:
    return {"name": name, "value": value, "low": None, "high": None, "n": value}


def _quotient(name: str, above: int, below: int) -> Row:
    return {"name": name, "value": above / below, "low": None, "high": None, "n": below, NOTE: COUNTS}


def _mean_words(name: str, responses: list[Response], settings: Settings, seed: int) -> Row:
    if not responses:
        return {"name": name, "value": None, "low": None, "high": None, "n": 0, "note": "there are no such responses"}
    topics, topic = np.unique([response.topic for response in responses], return_inverse=True)
    weights = resample_weights(len(topics), settings.resamples, stream(seed, "topics of responses"))
    words = [float(response.words) for response in responses]
    interval = bootstrap(weighted_mean(words, topic, len(topics)), weights)
    return {
        "name": name,
        "value": number(interval.estimate),
        "low": number(interval.low),
        "high": number(interval.high),
        "n": len(responses),
    }
