"""The cost of fairness: ranking quality and utility against disparity (fair_rag, section 5, Tables 1 and 2).

A run is one query ranked with one fairness parameter. It has a normalised disparity and a quality (relevance, utility
or attribution). Runs whose disparity or quality is NaN are dropped and counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

#: The five disparity intervals of the paper's Table 2; the last one includes its upper end.
EDGES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
# Smaller differences are rounding errors.
_ALIKE = 1e-12


@dataclass(frozen=True)
class Line:
    """The regression line through runs (Table 1, slope).

    Attributes
    ----------
    slope, standard_error : float
        NaN if disparity does not vary.
    n : int
        Number of runs in the regression.
    left_out : int
    """

    slope: float
    standard_error: float
    n: int
    left_out: int


@dataclass(frozen=True, eq=False)
class Intervals:
    """Utility in disparity intervals compared with the deterministic baseline (Table 2).

    Attributes
    ----------
    edges : ndarray, shape (n_intervals + 1,)
    n : ndarray of int, shape (n_intervals,)
    mean, difference : ndarray, shape (n_intervals,)
        Mean utility, and its difference to the baseline's mean; NaN without runs.
    p : ndarray, shape (n_intervals,)
        Of Student's unpaired t-test against the baseline; NaN if one side has fewer than two runs or nothing varies.
    baseline : float
    left_out : int
    """

    edges: Floats
    n: NDArray[np.int64]
    mean: Floats
    difference: Floats
    p: Floats
    baseline: float
    left_out: int


def line(disparity: ArrayLike, quality: ArrayLike) -> Line:
    """Fit the regression line of quality on disparity by least squares: a steeper line is a stronger trade-off.

    Parameters
    ----------
    disparity, quality : array_like, shape (n_runs,)

    Returns
    -------
    Line

    Examples
    --------
    >>> line([0.0, 0.5, 1.0], [0.1, 0.2, 0.3]).slope
    0.2
    """
    x, y, left_out = _runs(disparity, quality)
    if x.size < 2 or np.ptp(x) == 0:
        return Line(float("nan"), float("nan"), x.size, left_out)
    regression = scipy.stats.linregress(x, y)
    return Line(round(float(regression.slope), 15), float(regression.stderr), x.size, left_out)


def curve(disparity: ArrayLike, quality: ArrayLike, *, edges: ArrayLike = EDGES) -> tuple[Floats, Floats]:
    """Compute the mean quality and the mean disparity of each disparity interval.

    Returns
    -------
    (ndarray, ndarray)
        Disparity (ascending) and quality of the intervals that contain runs.
    """
    x, y, _ = _runs(disparity, quality)
    bin_index, count = _placed(x, np.asarray(edges, dtype=np.float64))
    n = np.bincount(bin_index, minlength=count)
    is_filled = n > 0
    sums = (np.bincount(bin_index, weights=array, minlength=count) for array in (x, y))
    centre, mean = (array[is_filled] / n[is_filled] for array in sums)
    return centre, mean


def area(disparity: ArrayLike, quality: ArrayLike, *, edges: ArrayLike = EDGES) -> float:
    """Compute the area under the curve of quality over disparity from 0 to 1 (Table 1, AUC).

    The curve connects the interval means with straight lines; it is constant before the first and after the last mean.

    Returns
    -------
    float
        NaN with runs in fewer than two intervals, because one point is not a curve.

    Examples
    --------
    >>> area([0.1, 0.9], [0.5, 0.5])
    0.5
    """
    points, mean = curve(disparity, quality, edges=edges)
    if points.size < 2:
        return float("nan")
    return float(np.trapezoid([mean[0], *mean, mean[-1]], [min(0.0, points[0]), *points, max(1.0, points[-1])]))


def by_interval(
    disparity: ArrayLike, utility: ArrayLike, baseline: ArrayLike, *, edges: ArrayLike = EDGES
) -> Intervals:
    """Compare utility in disparity intervals with the deterministic baseline, unpaired as in the paper (Table 2).

    Parameters
    ----------
    disparity, utility : array_like, shape (n_runs,)
    baseline : array_like, shape (n_queries,)
        Utility of the deterministic ranking of each query; NaN is dropped.
    edges : array_like, shape (n_intervals + 1,)

    Returns
    -------
    Intervals

    Raises
    ------
    ValueError
        If there is no baseline value.
    """
    x, y, left_out = _runs(disparity, utility)
    base = np.asarray(baseline, dtype=np.float64)
    base = base[~np.isnan(base)]
    if not base.size:
        raise ValueError("there is no baseline to compare with: rank the queries deterministically too")
    bounds = np.asarray(edges, dtype=np.float64)
    bin_index, count = _placed(x, bounds)
    groups = [y[bin_index == index] for index in range(count)]
    mean = np.array([group.mean() if group.size else np.nan for group in groups])
    return Intervals(
        edges=bounds,
        n=np.array([group.size for group in groups], dtype=np.int64),
        mean=mean,
        difference=mean - base.mean(),
        p=np.array([_unpaired(group, base) for group in groups]),
        baseline=float(base.mean()),
        left_out=left_out,
    )


def paired(first: ArrayLike, second: ArrayLike) -> tuple[float, float, int]:
    """Compare two fairness parameters by Student's t-test, paired by query (fair_rag, section 4).

    Parameters
    ----------
    first, second : array_like, shape (n_queries,)
        Queries with NaN on one side are dropped.

    Returns
    -------
    (float, float, int)
        Statistic, p-value and number of queries; NaN if fewer than two remain or the differences do not vary.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape:
        msg = f"paired by query: {a.shape} and {b.shape} are not equally long"
        raise ValueError(msg)
    difference = (a - b)[~np.isnan(a - b)]
    if difference.size < 2 or np.ptp(difference) <= _ALIKE:
        return float("nan"), float("nan"), int(difference.size)
    test = scipy.stats.ttest_1samp(difference, 0.0)
    return float(test.statistic), float(test.pvalue), int(difference.size)


def _unpaired(group: Floats, base: Floats) -> float:
    if min(group.size, base.size) < 2:
        return float("nan")
    # From means and deviations: scipy's other form only warns if all values of a group are equal.
    spreads = [float(sample.std(ddof=1)) for sample in (group, base)]
    if max(spreads) <= _ALIKE:
        return float("nan")
    test = scipy.stats.ttest_ind_from_stats(group.mean(), spreads[0], group.size, base.mean(), spreads[1], base.size)
    return float(test.pvalue)


def _runs(disparity: ArrayLike, quality: ArrayLike) -> tuple[Floats, Floats, int]:
    x, y = np.asarray(disparity, dtype=np.float64), np.asarray(quality, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1:
        msg = f"a disparity and a quality a run, not {x.shape} and {y.shape}"
        raise ValueError(msg)
    is_known = ~(np.isnan(x) | np.isnan(y))
    return x[is_known], y[is_known], int((~is_known).sum())


def _placed(x: Floats, edges: Floats) -> tuple[NDArray[np.int64], int]:
    """Return the interval of each value; values beyond the ends (by rounding) belong to the first or last interval."""
    count = edges.size - 1
    return np.clip(np.searchsorted(edges, x, side="right") - 1, 0, count - 1), count
