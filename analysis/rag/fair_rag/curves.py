"""The paper's curves, their slopes and areas, with intervals by query (fair_rag, Table 1, Figures 4 and 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.ranking import tradeoff
from analysis.stats.bootstrap import Floats, Interval, percentile_interval

from .query_measures import Point

Ints = NDArray[np.int64]

#: By name: what is measured over what, fields of `Point`. 4a, 4c, 4b, 5a, 5b, 5c.
CURVES: dict[str, tuple[str, str]] = {
    "DR": ("disparity_normalised", "relevance_normalised"),
    "DU": ("disparity_normalised", "utility_normalised"),
    "RU": ("relevance_normalised", "utility_normalised"),
    "DA": ("disparity_normalised", "attribution"),
    "RA": ("relevance_normalised", "attribution"),
    "DD": ("disparity_normalised", "attributed_normalised"),
}
_EDGES = np.array(tradeoff.EDGES)
_BINS = _EDGES.size - 1


@dataclass(frozen=True, eq=False)
class Curve:
    """Runs of one curve: one query with one alpha each.

    Attributes
    ----------
    x, y : ndarray, shape (n_runs,)
        NaN runs are out.
    query : ndarray of int, shape (n_runs,)
        Which query, a column of the resamples' weights.
    left_out : int
    """

    x: Floats
    y: Floats
    query: Ints
    left_out: int

    @property
    def bins(self) -> Ints:
        """The interval of each run; what rounding puts beyond an end is in the last one."""
        return np.clip(np.searchsorted(_EDGES, self.x, side="right") - 1, 0, _BINS - 1)


@dataclass(frozen=True)
class Step:
    """A curve within one interval: the mean of its runs."""

    start: float
    end: float
    x: float
    y: Interval
    n: int


def curve(name: str, points: Sequence[Point], place: dict[str, int]) -> Curve:
    """Take the sampled rankings' points of a curve.

    Parameters
    ----------
    name : str
        Of `CURVES`.
    points : sequence of Point
        Of one retriever, or several; only sampled rankings are runs.
    place : dict of str to int
        The column of each query.
    """
    over, of = CURVES[name]
    runs = [point for point in points if point.rank == "sampled"]
    x = np.array([getattr(point, over) for point in runs], dtype=np.float64)
    y = np.array([getattr(point, of) for point in runs], dtype=np.float64)
    query = np.array([place[point.query] for point in runs], dtype=np.int64)
    there = ~(np.isnan(x) | np.isnan(y))
    return Curve(x[there], y[there], query[there], int((~there).sum()))


def slope(runs: Curve, weights: Floats) -> Interval:
    """The slope of the least-squares line, queries resampled.

    Parameters
    ----------
    runs : Curve
    weights : ndarray, shape (resamples, n_queries)
        From `bootstrap.resample_weights`.

    Returns
    -------
    Interval
        NaN where x does not vary.
    """
    # Centred, so that little is lost where runs lie close together.
    x, y = (each - each.mean() if each.size else each for each in (runs.x, runs.y))
    n, sx, sy, sxx, sxy = (
        weights @ np.bincount(runs.query, weights=each, minlength=weights.shape[1])
        for each in (np.ones(x.size), x, y, x * x, x * y)
    )
    spread = n * sxx - sx * sx
    drawn = np.divide(n * sxy - sx * sy, spread, out=np.full(n.shape, np.nan), where=spread > 1e-12 * np.maximum(n, 1))
    estimate = tradeoff.line(runs.x, runs.y).slope
    return percentile_interval(estimate, drawn, clusters=_clusters(runs))


def area(runs: Curve, weights: Floats) -> Interval:
    """The area under the curve through the intervals' means, queries resampled.

    Parameters
    ----------
    runs, weights
        As for `slope`.

    Returns
    -------
    Interval
        NaN with runs in fewer than two intervals; resamples of which that is so are left out and counted.
    """
    n, x, y = (_binned(runs, each, weights) for each in (np.ones(runs.x.size), runs.x, runs.y))
    there = n > 0
    drawn = np.full(len(weights), np.nan)
    # Resamples with runs in the same intervals are computed together: there are at most 2^5 kinds.
    kinds, kind = np.unique(there, axis=0, return_inverse=True)
    for number, held in enumerate(kinds):
        if held.sum() < 2:
            continue
        rows = np.flatnonzero(kind.reshape(-1) == number)
        at, mean = (each[np.ix_(rows, held)] / n[np.ix_(rows, held)] for each in (x, y))
        ends = np.minimum(0.0, at[:, :1]), np.maximum(1.0, at[:, -1:])
        drawn[rows] = np.trapezoid(
            np.hstack([mean[:, :1], mean, mean[:, -1:]]), np.hstack([ends[0], at, ends[1]]), axis=1
        )
    return percentile_interval(tradeoff.area(runs.x, runs.y), drawn, clusters=_clusters(runs))


def steps(runs: Curve, weights: Floats) -> list[Step]:
    """The curve itself: the mean of each interval that holds runs, with its interval by query."""
    one = np.ones((1, weights.shape[1]))
    n, x, y = (_binned(runs, each, one)[0] for each in (np.ones(runs.x.size), runs.x, runs.y))
    drawn_n, drawn_y = (_binned(runs, each, weights) for each in (np.ones(runs.x.size), runs.y))
    found = []
    for place in np.flatnonzero(n > 0):
        some = drawn_n[:, place] > 0
        drawn = drawn_y[some, place] / drawn_n[some, place]
        own = np.unique(runs.query[runs.bins == place]).size
        mean = percentile_interval(float(y[place] / n[place]), drawn, clusters=own)
        found.append(
            Step(float(_EDGES[place]), float(_EDGES[place + 1]), float(x[place] / n[place]), mean, int(n[place]))
        )
    return found


def _binned(runs: Curve, values: Floats, weights: Floats) -> Floats:
    """Sums of values by interval in each resample; shape (resamples, n_intervals)."""
    queries = weights.shape[1]
    sums = np.bincount(runs.query * _BINS + runs.bins, weights=values, minlength=queries * _BINS)
    return np.asarray(weights @ sums.reshape(queries, _BINS))


def _clusters(runs: Curve) -> int:
    return int(np.unique(runs.query).size)
