"""Groups of responses by style and origin, with statistics, distributions and intervals."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.stats.bootstrap import (
    UNBOUNDED,
    Bounds,
    Floats,
    Interval,
    Statistic,
    bootstrap,
    resample_weights,
    weighted_mean,
)
from analysis.stats.weighted import quantile_has_interval, weighted_quantile, weighted_sd

from ..inputs.arrays import Ints, Response
from ..tables.rows import NOTE, Row, number
from .settings import AnalysisSettings, named_rng

ALL = "all"
#: Order of origins in tables, and in the names of their pairs.
ORIGINS = ("human", "model", "system")
ONE_TOPIC = "an interval needs at least two topics, and values that differ between them"
NO_SPREAD = "no interval: intervals of standard deviations are too unreliable"
FEW_TOPICS = "no interval: there are too few topics for a reliable interval"
NOTHING = "there are no data to measure"


@dataclass(frozen=True, eq=False)
class Resampling:
    """Topics with their bootstrap weights, drawn once for several tables.

    Attributes
    ----------
    topic : dict of str to int
        Index of each topic in the weights.
    weights : ndarray of shape (resamples, n_topics)
    """

    topic: dict[str, int]
    weights: Floats

    @classmethod
    def of(cls, responses: Sequence[Response], settings: AnalysisSettings, seed: int) -> "Resampling":
        """Draw the topics of all valid responses; all tables about responses use the same draw."""
        topics = sorted({response.topic for response in responses})
        if not topics:
            return cls({}, np.ones((1, 0)))
        rng = named_rng(seed, "topics of responses")
        return cls({name: i for i, name in enumerate(topics)}, resample_weights(len(topics), settings.resamples, rng))

    @property
    def topics(self) -> int:
        """Number of topics."""
        return len(self.topic)

    def places(self, responses: Sequence[Response]) -> Ints:
        """Return the topic of each response."""
        return np.array([self.topic[response.topic] for response in responses], dtype=np.int64)

    def interval(self, statistic: Statistic, *, share: bool = False, bounds: Bounds = UNBOUNDED) -> Interval:
        """Compute a statistic with its interval; `share`: whether it is a share; `bounds`: its range."""
        return bootstrap(statistic, self.weights, share=share, bounds=bounds)


def cells(interval: Interval, n: int, name: str = "value") -> Row:
    """Return a statistic with interval and n as cells of a row, with a note if one of them is missing."""
    row: Row = {name: number(interval.estimate), "low": number(interval.low), "high": number(interval.high), "n": n}
    if row[name] is None:
        return row | {"low": None, "high": None, NOTE: NOTHING}
    return row if row["low"] is not None else row | {NOTE: ONE_TOPIC}


def origins_of(responses: Sequence[Response]) -> list[str]:
    """Return the origins of the responses, in the usual order."""
    present = {response.origin for response in responses}
    return [origin for origin in ORIGINS if origin in present] + sorted(present - set(ORIGINS))


def groups(responses: Sequence[Response], styles: Sequence[str]) -> Iterator[tuple[str, str, NDArray[np.bool_]]]:
    """Yield style, origin and a mask of responses: each style, then all; empty groups are left out."""
    of_style = np.array([response.style for response in responses], dtype=object)
    of_origin = np.array([response.origin for response in responses], dtype=object)
    for style in (*styles, ALL):
        for origin in origins_of(responses):
            chosen: NDArray[np.bool_] = (of_origin == origin) & ((of_style == style) | (style == ALL))
            if chosen.any():
                yield style, origin, chosen


#: Probabilities of the quantiles of a distribution.
QUANTILES = {"p05": 0.05, "lower_quartile": 0.25, "median": 0.5, "upper_quartile": 0.75, "p95": 0.95}


def with_reason(row: Row, name: str, topics: int) -> Row:
    """Drop the interval of a distribution's statistic, with the reason, if its coverage would be too low."""
    if row["low"] is None:
        return row
    if name == "sd":
        return row | {"low": None, "high": None, NOTE: NO_SPREAD}
    quantile = QUANTILES.get(name)
    if quantile is not None and not quantile_has_interval(quantile, topics):
        return row | {"low": None, "high": None, NOTE: FEW_TOPICS}
    return row


def statistics(values: Any, topic: Ints, resampling: Resampling) -> dict[str, Statistic]:
    """Return the statistics of a distribution: mean, spread, and the quantiles of a box plot."""
    data = (values, topic, resampling.topics)
    return {
        "mean": weighted_mean(*data),
        "sd": weighted_sd(*data),
        **{name: weighted_quantile(*data, quantile) for name, quantile in QUANTILES.items()},
    }


def distribution_rows(
    key: Row,
    values: Sequence[float] | np.ndarray,
    topic: Ints,
    resampling: Resampling,
    *,
    bounds: Bounds = UNBOUNDED,
) -> list[Row]:
    """Describe the distribution of values over responses: one row for each statistic, with its interval."""
    n = int(np.sum(~np.isnan(np.asarray(values, dtype=np.float64))))
    return [
        with_reason(
            key | {"statistic": name} | cells(interval := resampling.interval(statistic, bounds=bounds), n),
            name,
            interval.clusters,
        )
        for name, statistic in statistics(values, topic, resampling).items()
    ]
