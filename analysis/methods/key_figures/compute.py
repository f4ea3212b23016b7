"""Key figures of a study: numbers of items, time and cost (crowdrag25, Table 1)."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from analysis.enums import Split
from analysis.stats.bootstrap import NOT_NEGATIVE, Statistic, bootstrap, resample_weights, weighted_mean
from analysis.stats.judgments import canonical
from analysis.stats.weighted import weighted_quantile, weighted_ratio
from crowdrag.studies import money

from ...inputs.arrays import Inputs, Response, Wage
from ...tables.rows import NOTE, Row, number
from ..agreement.compute import Mask
from ..context import Context, Tables
from ..fits import Fitted
from ..response_groups import Resampling, cells, with_reason
from ..settings import AnalysisSettings, named_rng

HOUR, MINUTE = 3600, 60
MINUTES = "min"
NO_TOPIC = "no interval: questionnaires contain pairs of many topics"


def writing(inputs: Inputs, resampling: Resampling) -> Iterator[Row]:
    """Yield time and pay of responses, if logs and payments exist."""
    topic = resampling.places(inputs.responses)
    response_index = np.array([process.response for process in inputs.processes], dtype=np.int64)
    # Active minutes come first: the other measure includes pages left open overnight.
    for name, measure in (("active_minutes_per_response", "active_seconds"), ("minutes_per_response", "seconds")):
        minutes = np.array([_or_nan(process.measures.get(measure)) / MINUTE for process in inputs.processes])
        n = int(np.sum(~np.isnan(minutes)))
        if n:
            data = (minutes, topic[response_index], resampling.topics)
            yield _row(f"{name}_median", weighted_quantile(*data, 0.5), n, MINUTES, resampling, statistic="median")
            yield _row(f"{name}_mean", weighted_mean(*data), n, MINUTES, resampling)
    wages = [wage for wage in inputs.wages if wage.response >= 0]
    if wages:
        of = topic[np.array([wage.response for wage in wages], dtype=np.int64)]
        yield from _money("response", "writing", wages, of, inputs.currency, resampling)


def judging(inputs: Inputs, votes: int, labels: int) -> Iterator[Row]:
    """Yield time and pay per questionnaire, judgment and gold label.

    `votes` is the number of valid judgments, `labels` that of their labels. A questionnaire covers many topics, so
    there are no intervals.
    """
    questionnaires = inputs.counts.get("questionnaires", 0)
    if not questionnaires:
        return
    of_one = (len(inputs.main.unit) + inputs.main.repeated) / questionnaires
    yield _plain("questionnaires", questionnaires, questionnaires, "")
    yield _plain("judgments_per_questionnaire", of_one, questionnaires, "")
    if inputs.seconds:
        minutes = float(np.mean(inputs.seconds)) / MINUTE
        yield _plain("minutes_per_questionnaire", minutes, len(inputs.seconds), MINUTES)
        yield _plain("minutes_per_judgment", minutes / of_one, len(inputs.seconds), MINUTES)
    wages = [wage for wage in inputs.wages if wage.response < 0]
    if not wages:
        return
    nowhere = np.zeros(len(wages), dtype=np.int64)
    one = Resampling({"": 0}, np.ones((1, 1)))
    for row in _money("questionnaire", "judging", wages, nowhere, inputs.currency, one):
        yield row | {NOTE: NO_TOPIC}
    costs = [wage.pay + wage.charges for wage in wages if wage.charges is not None]
    if len(costs) == len(wages) and len(wages) == questionnaires:
        total = _major(sum(costs), inputs.currency)
        yield _plain("cost_per_judgment", total / votes, votes, inputs.currency)
        yield _plain("cost_per_label", total / labels, labels, inputs.currency)


def _money(
    of_what: str, work: str, wages: Sequence[Wage], topic: np.ndarray, currency: str, resampling: Resampling
) -> Iterator[Row]:
    """Yield pay per unit of work, including the platform's fee and tax, and per hour."""
    pay = np.array([_major(wage.pay, currency) for wage in wages])
    charges = np.array([np.nan if wage.charges is None else _major(wage.charges, currency) for wage in wages])
    # A few seconds of work give no meaningful hourly rate.
    hours = np.array([
        np.nan if money.is_too_short(wage.seconds) else _or_nan(wage.seconds) / HOUR for wage in wages
    ])  # fmt: skip
    clusters = resampling.topics
    yield _row(f"pay_per_{of_what}", weighted_mean(pay, topic, clusters), len(pay), currency, resampling)
    if n := int(np.sum(~np.isnan(charges))):
        cost = weighted_mean(pay + charges, topic, clusters)
        yield _row(f"cost_per_{of_what}", cost, n, currency, resampling)
    if n := int(np.sum(~np.isnan(hours))):
        rate = weighted_ratio(pay, hours, topic, clusters)
        yield _row(f"hourly_rate_{work}", rate, n, currency, resampling)


def _row(
    name: str, statistic_function: Statistic, n: int, unit: str, resampling: Resampling, *, statistic: str = "mean"
) -> Row:
    interval = resampling.interval(statistic_function, bounds=NOT_NEGATIVE)
    return with_reason({"name": name, "unit": unit} | cells(interval, n), statistic, interval.clusters)


def _plain(name: str, value: float, n: int, unit: str) -> Row:
    row: Row = {"name": name, "value": value, "low": None, "high": None, "n": n, "unit": unit}
    return row if isinstance(value, int) else row | {NOTE: NO_TOPIC}


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else float(value)


def _major(amount: int, currency: str) -> float:
    """Convert minor units to major units: 250 cents are 2.5 dollars."""
    return float(amount) / 10.0 ** money.minor_digits(currency)


COUNTS = "no interval: a ratio of two total counts"
JUDGES = "no interval: the value also depends on which judges share a pair, and resampling topics does not cover that"
ONE_VOTE = "no pair has two judgments or more, and a single judgment is always a majority"


def compute_tables(analysed: Context) -> Tables:
    """Compute the key figures."""
    rows = key_figure_rows(
        analysed.inputs,
        analysed.main,
        masks=analysed.masks,
        settings=analysed.settings,
        seed=analysed.seed,
    )
    return {"key_figures": rows}


def key_figure_rows(
    inputs: Inputs, fitted: Fitted, *, masks: dict[str, Mask], settings: AnalysisSettings, seed: int
) -> list[Row]:
    """Make the rows of counts, and of means with their intervals."""
    resampling = Resampling.of(inputs.responses, settings, seed)
    rows = [
        *_writing(inputs, settings, seed),
        *writing(inputs, resampling),
        *_judging(inputs, fitted, masks),
    ]
    return [row if "unit" in row else row | {"unit": ""} for row in rows]


def _writing(inputs: Inputs, settings: AnalysisSettings, seed: int) -> Iterator[Row]:
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
    yield from judging(inputs, votes, labels)


def _differentiable(masks: dict[str, Mask]) -> Row:
    """Compute the share of differentiable pairs among those judged by several people."""
    name, told_apart = "differentiable_share", masks[Split.DIFFERENTIABLE]
    labelled = told_apart | masks[Split.MINIMAL]
    if not labelled.any():
        return {"name": name, "value": None, "low": None, "high": None, "n": 0, NOTE: ONE_VOTE}
    value = float(np.mean(told_apart[labelled]))
    return {"name": name, "value": value, "low": None, "high": None, "n": int(labelled.sum()), NOTE: JUDGES}


def _count(name: str, value: int) -> Row:
    return {"name": name, "value": value, "low": None, "high": None, "n": value}


def _quotient(name: str, above: int, below: int) -> Row:
    return {"name": name, "value": above / below, "low": None, "high": None, "n": below, NOTE: COUNTS}


def _mean_words(name: str, responses: list[Response], settings: AnalysisSettings, seed: int) -> Row:
    if not responses:
        return {"name": name, "value": None, "low": None, "high": None, "n": 0, "note": "there are no such responses"}
    topics, topic = np.unique([response.topic for response in responses], return_inverse=True)
    weights = resample_weights(len(topics), settings.resamples, named_rng(seed, "topics of responses"))
    words = [float(response.words) for response in responses]
    interval = bootstrap(weighted_mean(words, topic, len(topics)), weights)
    return {
        "name": name,
        "value": number(interval.estimate),
        "low": number(interval.low),
        "high": number(interval.high),
        "n": len(responses),
    }
