"""The paper's trade-off curves, slopes and areas, with intervals by query (fair_rag, Table 1, Figures 4 and 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.ranking import tradeoff
from analysis.stats.bootstrap import Floats, Interval, percentile_interval

from .query_measures import Point

Ints = NDArray[np.int64]

#: By name, the fields of `Point` on the x and y axes. Figures 4a, 4c, 4b, 5a, 5b, 5c.
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
        Without NaN runs.
    query : ndarray of int, shape (n_runs,)
        Query of each run, as a column of the resampling weights.
    left_out : int
        Number of runs left out because of NaN.
    """

    x: Floats
    y: Floats
    query: Ints
    left_out: int

    @property
    def bins(self) -> Ints:
        """Interval of each run; values beyond an end by rounding are in the nearest interval."""
        return np.clip(np.searchsorted(_EDGES, self.x, side="right") - 1, 0, _BINS - 1)


@dataclass(frozen=True)
class Step:
    """A curve within one interval: the mean of its runs."""

    start: float
    end: float
    x: float
    y: Interval
    n: int


def curve(name: str, points: Sequence[Point], query_index: dict[str, int]) -> Curve:
    """Return the runs of a curve: its points with sampled rankings.

    Parameters
    ----------
    name : str
        A key of `CURVES`.
    points : sequence of Point
        Of one or several retrievers; only sampled rankings are runs.
    query_index : dict of str to int
        Column of each query in the resampling weights.
    """
    x_name, of = CURVES[name]
    runs = [point for point in points if point.rank == "sampled"]
    x = np.array([getattr(point, x_name) for point in runs], dtype=np.float64)
    y = np.array([getattr(point, of) for point in runs], dtype=np.float64)
    query = np.array([query_index[point.query] for point in runs], dtype=np.int64)
    is_known = ~(np.isnan(x) | np.isnan(y))
    return Curve(x[is_known], y[is_known], query[is_known], int((~is_known).sum()))


def slope(runs: Curve, weights: Floats) -> Interval:
    """Return the slope of the least-squares line with an interval from resampling queries.

    Parameters
    ----------
    runs : Curve
    weights : ndarray, shape (resamples, n_queries)
        From `bootstrap.resample_weights`.

    Returns
    -------
    Interval
        NaN if x does not vary.
    """
    # Centred, to keep precision if the runs are close together.
    x, y = (values - values.mean() if values.size else values for values in (runs.x, runs.y))
    n, sx, sy, sxx, sxy = (
        weights @ np.bincount(runs.query, weights=values, minlength=weights.shape[1])
        for values in (np.ones(x.size), x, y, x * x, x * y)
    )
    spread = n * sxx - sx * sx
    slopes = np.divide(n * sxy - sx * sy, spread, out=np.full(n.shape, np.nan), where=spread > 1e-12 * np.maximum(n, 1))
    estimate = tradeoff.line(runs.x, runs.y).slope
    return percentile_interval(estimate, slopes, clusters=_clusters(runs))


def area(runs: Curve, weights: Floats) -> Interval:
    """Return the area under the curve through the means of the intervals, with an interval from resampling queries.

    Parameters
    ----------
    runs, weights
        As for `slope`.

    Returns
    -------
    Interval
        NaN if the runs lie in fewer than two intervals; resamples with that problem are left out and counted.
    """
    n, x, y = (_binned(runs, values, weights) for values in (np.ones(runs.x.size), runs.x, runs.y))
    has_runs = n > 0
    areas = np.full(len(weights), np.nan)
    # Resamples with runs in the same intervals are computed together: there are at most 2^5 patterns.
    kinds, kind = np.unique(has_runs, axis=0, return_inverse=True)
    for number, is_filled in enumerate(kinds):
        if is_filled.sum() < 2:
            continue
        rows = np.flatnonzero(kind.reshape(-1) == number)
        centres, mean = (values[np.ix_(rows, is_filled)] / n[np.ix_(rows, is_filled)] for values in (x, y))
        ends = np.minimum(0.0, centres[:, :1]), np.maximum(1.0, centres[:, -1:])
        areas[rows] = np.trapezoid(
            np.hstack([mean[:, :1], mean, mean[:, -1:]]), np.hstack([ends[0], centres, ends[1]]), axis=1
        )
    return percentile_interval(tradeoff.area(runs.x, runs.y), areas, clusters=_clusters(runs))


def steps(runs: Curve, weights: Floats) -> list[Step]:
    """Return the curve: the mean of each interval with runs, with a confidence interval from resampling queries."""
    unit_weights = np.ones((1, weights.shape[1]))
    n, x, y = (_binned(runs, values, unit_weights)[0] for values in (np.ones(runs.x.size), runs.x, runs.y))
    drawn_n, drawn_y = (_binned(runs, values, weights) for values in (np.ones(runs.x.size), runs.y))
    results = []
    for bin_index in np.flatnonzero(n > 0):
        is_drawn = drawn_n[:, bin_index] > 0
        means = drawn_y[is_drawn, bin_index] / drawn_n[is_drawn, bin_index]
        queries = np.unique(runs.query[runs.bins == bin_index]).size
        mean = percentile_interval(float(y[bin_index] / n[bin_index]), means, clusters=queries)
        results.append(
            Step(
                float(_EDGES[bin_index]),
                float(_EDGES[bin_index + 1]),
                float(x[bin_index] / n[bin_index]),
                mean,
                int(n[bin_index]),
            )
        )
    return results


def _binned(runs: Curve, values: Floats, weights: Floats) -> Floats:
    """Return the sums of values by interval in each resample; shape (resamples, n_intervals)."""
    queries = weights.shape[1]
    sums = np.bincount(runs.query * _BINS + runs.bins, weights=values, minlength=queries * _BINS)
    return np.asarray(weights @ sums.reshape(queries, _BINS))


def _clusters(runs: Curve) -> int:
    return int(np.unique(runs.query).size)
