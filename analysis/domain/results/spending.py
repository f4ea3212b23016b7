"""Time and money as key figures: how long a response or a judgment takes, and what it costs (crowdrag25, Table 1)."""

from collections.abc import Iterator, Sequence

import numpy as np

from analysis.stats.bootstrap import Statistic, weighted_mean
from analysis.stats.weighted import weighted_quantile, weighted_ratio
from crowdrag.studies import money

from ..inputs import Inputs, Wage
from .margins import Resampling, cells, with_reason
from .schema import NOTE, Row

HOUR, MINUTE = 3600, 60
MINUTES = "min"
NO_TOPIC = "no interval: a questionnaire holds pairs of many topics"


def writing(inputs: Inputs, resampling: Resampling) -> Iterator[Row]:
    """Time and pay of responses, where logs and payments say them."""
    topic = resampling.places(inputs.responses)
    place = np.array([process.response for process in inputs.processes], dtype=np.int64)
    # Active minutes lead: a page left open over night is in the others.
    for name, measure in (("active_minutes_per_response", "active_seconds"), ("minutes_per_response", "seconds")):
        minutes = np.array([_or_nan(process.measures.get(measure)) / MINUTE for process in inputs.processes])
        n = int(np.sum(~np.isnan(minutes)))
        if n:
            data = (minutes, topic[place], resampling.topics)
            yield _row(f"{name}_median", weighted_quantile(*data, 0.5), n, MINUTES, resampling, statistic="median")
            yield _row(f"{name}_mean", weighted_mean(*data), n, MINUTES, resampling)
    wages = [wage for wage in inputs.wages if wage.response >= 0]
    if wages:
        of = topic[np.array([wage.response for wage in wages], dtype=np.int64)]
        yield from _money("response", "writing", wages, of, inputs.currency, resampling)


def judging(inputs: Inputs, votes: int, labels: int) -> Iterator[Row]:
    """Time and pay of questionnaires, of a judgment and of a gold label; their parts have many topics: no intervals.

    `votes` are judgments that count, `labels` the labels that they give.
    """
    questionnaires = inputs.counts.get("questionnaires", 0)
    if not questionnaires:
        return
    of_one = (len(inputs.main.unit) + inputs.main.repeated) / questionnaires
    yield _plain("questionnaires", questionnaires, questionnaires, "")
    yield _plain("judgments_per_questionnaire", of_one, questionnaires, "")
    if inputs.seconds:
        each = float(np.mean(inputs.seconds)) / MINUTE
        yield _plain("minutes_per_questionnaire", each, len(inputs.seconds), MINUTES)
        yield _plain("minutes_per_judgment", each / of_one, len(inputs.seconds), MINUTES)
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
    """Pay for one, with the platform's fee and tax, and for an hour."""
    pay = np.array([_major(wage.pay, currency) for wage in wages])
    charges = np.array([np.nan if wage.charges is None else _major(wage.charges, currency) for wage in wages])
    # No pay per hour follows from a few seconds of work.
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


def _row(name: str, found: Statistic, n: int, unit: str, resampling: Resampling, *, statistic: str = "mean") -> Row:
    interval = resampling.interval(found)
    return with_reason({"name": name, "unit": unit} | cells(interval, n), statistic, interval.clusters)


def _plain(name: str, value: float, n: int, unit: str) -> Row:
    row: Row = {"name": name, "value": value, "low": None, "high": None, "n": n, "unit": unit}
    return row if isinstance(value, int) else row | {NOTE: NO_TOPIC}


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else float(value)


def _major(amount: int, currency: str) -> float:
    """An amount as people write it: 250 cents are 2.5 dollars."""
    return float(amount) / 10.0 ** money.minor_digits(currency)
