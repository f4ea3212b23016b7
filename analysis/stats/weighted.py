"""Statistics of weighted clusters for the bootstrap, other than the mean: ratios, quantiles and rank correlations.

Each function returns a `Statistic`. It maps weights of shape (resamples, n_clusters), how often each cluster was drawn,
to one value per resample. That value equals the statistic of the data with each cluster repeated as often as it was
drawn.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.stats.bootstrap import Floats, Statistic

Ints = NDArray[np.int64]

#: Maximum number of weights in memory: resamples are processed in parts, so that large studies fit.
_AT_ONCE = 4_000_000
#: Equal values are counted together if they occur at least this often on average.
_FEW = 4


def weighted_ratio(numerator: ArrayLike, denominator: ArrayLike, cluster: ArrayLike, clusters: int) -> Statistic:
    """Return the ratio of two sums as a statistic: a mean over parts of the sampled units, such as statements.

    Parameters
    ----------
    numerator, denominator : array_like, shape (n,)
        The summands; if either is NaN, both are ignored.
    cluster : array_like of int, shape (n,)
        The cluster of each pair, from 0 to ``clusters - 1``.
    clusters : int
        Number of clusters.

    Returns
    -------
    callable
        For `bootstrap`. NaN if the sum of the denominator is 0.
    """
    above, below = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    is_known = ~(np.isnan(above) | np.isnan(below))
    index = np.asarray(cluster, dtype=np.int64)[is_known]
    above_sums = np.bincount(index, weights=above[is_known], minlength=clusters)
    below_sums = np.bincount(index, weights=below[is_known], minlength=clusters)

    def statistic(weights: Floats) -> Floats:
        total = weights @ below_sums
        ratios: Floats = np.divide(weights @ above_sums, total, out=np.full(total.shape, np.nan), where=total != 0)
        return ratios

    return statistic


def weighted_sd(values: ArrayLike, cluster: ArrayLike, clusters: int) -> Statistic:
    """Return the standard deviation (divisor n - 1) as a statistic. NaN is ignored; NaN with fewer than two values.

    Parameters and result are those of `analysis.stats.bootstrap.weighted_mean`.
    """
    value, index = _known(values, cluster)
    # Centred, because sums of squares of large numbers lose precision.
    value = value - (value.mean() if value.size else 0.0)
    counts = np.bincount(index, minlength=clusters).astype(np.float64)
    sums = np.bincount(index, weights=value, minlength=clusters)
    squares = np.bincount(index, weights=value**2, minlength=clusters)

    def statistic(weights: Floats) -> Floats:
        n, total = weights @ counts, weights @ sums
        mean = np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 1)
        spread = np.maximum(weights @ squares - n * mean**2, 0.0)
        variance: Floats = np.divide(spread, n - 1, out=np.full(n.shape, np.nan), where=n > 1)
        return np.sqrt(variance)

    return statistic


def weighted_quantile(values: ArrayLike, cluster: ArrayLike, clusters: int, quantile: float) -> Statistic:
    """Return a quantile as a statistic, linearly interpolated (numpy's default; Hyndman and Fan's type 7).

    Parameters
    ----------
    values : array_like, shape (n,)
        NaN is ignored.
    cluster, clusters
        As in `weighted_ratio`.
    quantile : float
        From 0 to 1; 0.5 is the median.

    Returns
    -------
    callable
        For `bootstrap`; weights must be integers. NaN for a resample without values.

    Raises
    ------
    ValueError
        If `quantile` is not between 0 and 1.

    References
    ----------
    Hyndman and Fan, Sample quantiles in statistical packages, The American Statistician 50 (1996).
    """
    if not 0.0 <= quantile <= 1.0:
        msg = f"a quantile lies between 0 and 1, it is {quantile}"
        raise ValueError(msg)
    value, index = _known(values, cluster)
    value, counts_of = _ordered(value, index, clusters)

    def statistic(weights: Floats) -> Floats:
        quantiles = np.full(len(weights), np.nan)
        if not value.size:
            return quantiles
        for part in _parts(len(weights), value.size):
            upto = np.cumsum(counts_of(weights[part]), axis=1)
            n = upto[:, -1]
            position = np.maximum(n - 1, 0) * quantile
            below = np.floor(position)
            low, high = (
                value[np.minimum((upto <= rank[:, None]).sum(axis=1), value.size - 1)]
                for rank in (below, np.minimum(below + 1, np.maximum(n - 1, 0)))
            )
            quantiles[part] = np.where(n > 0, low + (position - below) * (high - low), np.nan)
        return quantiles

    return statistic


def quantile_has_interval(quantile: float, clusters: int, *, level: float = 0.95) -> bool:
    """Check whether an interval of a quantile can have the required coverage.

    The interval lies between the smallest and the largest value. It therefore misses the true quantile if all values
    are on one side of it. This is too frequent with fewer clusters than log((1 - level) / 2) / log(max(q, 1 - q)), 6
    for a median.

    Parameters
    ----------
    quantile : float
        Between 0 and 1; 0.5 is the median.
    clusters : int
        The number of clusters with a value.
    level : float
        Coverage: the share of studies whose interval should contain the true value, 0.95 by default.

    Raises
    ------
    ValueError
        If `quantile` or `level` is not between 0 and 1.

    Examples
    --------
    >>> quantile_has_interval(0.5, 5), quantile_has_interval(0.5, 6)
    (False, True)
    """
    if not 0.0 < quantile < 1.0 or not 0.0 < level < 1.0:
        msg = f"a quantile and a level lie between 0 and 1, they are {quantile} and {level}"
        raise ValueError(msg)
    return bool(clusters >= np.log((1.0 - level) / 2.0) / np.log(max(quantile, 1.0 - quantile)))


def weighted_spearman(first: ArrayLike, second: ArrayLike, cluster: ArrayLike, clusters: int) -> Statistic:
    """Return Spearman's rho of two measures of the same units as a statistic; equal values share their mean rank.

    Parameters
    ----------
    first, second : array_like, shape (n,)
        Pairs in which either value is NaN are ignored.
    cluster, clusters
        As in `weighted_ratio`.

    Returns
    -------
    callable
        For `bootstrap`; weights must be integers. NaN with fewer than two drawn pairs, or if all drawn values of one
        measure are equal.

    References
    ----------
    Spearman, The proof and measurement of association between two things (1904).
    """
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    is_known = ~(np.isnan(x) | np.isnan(y))
    index = np.asarray(cluster, dtype=np.int64)[is_known]
    rank_of = [_ranker(values[is_known]) for values in (x, y)]

    def statistic(weights: Floats) -> Floats:
        correlations = np.full(len(weights), np.nan)
        if not index.size:
            return correlations
        for part in _parts(len(weights), index.size):
            counts = weights[part][:, index]
            a, b = (rank(counts) for rank in rank_of)
            # The mean rank is known: (n + 1) / 2.
            middle = (counts.sum(axis=1, keepdims=True) + 1) / 2
            a, b = a - middle, b - middle
            spread = np.sqrt((counts * a**2).sum(axis=1) * (counts * b**2).sum(axis=1))
            covariance = (counts * a * b).sum(axis=1)
            correlations[part] = np.divide(covariance, spread, out=np.full(spread.shape, np.nan), where=spread > 0)
        return correlations

    return statistic


def _ordered(value: Floats, index: Ints, clusters: int) -> tuple[Floats, Statistic]:
    """Sort the values, and return how to count their draws: from weights to shape (resamples, n_values).

    If few values are distinct, as for counts, equal values are merged.
    """
    distinct, rank = np.unique(value, return_inverse=True)
    if _FEW * distinct.size <= value.size and distinct.size * clusters <= _AT_ONCE:
        cells = np.bincount(index * distinct.size + rank, minlength=clusters * distinct.size)
        counts = cells.reshape(clusters, distinct.size).astype(np.float64)
        return distinct, lambda weights: weights @ counts
    order = np.argsort(value, kind="stable")
    ordered = index[order]
    return value[order], lambda weights: weights[:, ordered]


class _ranker:  # noqa: N801 -- used as a function
    """Ranks of values, each repeated as often as its weight says."""

    def __init__(self, values: Floats) -> None:
        self.order = np.argsort(values, kind="stable")
        ordered = values[self.order]
        self.starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if values.size else np.empty(0, int)
        self.sizes = np.diff(np.r_[self.starts, values.size])

    def __call__(self, counts: Floats) -> Floats:
        of_value = np.add.reduceat(counts[:, self.order], self.starts, axis=1)
        ranks = np.cumsum(of_value, axis=1) - (of_value - 1) / 2
        value_ranks = np.empty_like(counts)
        value_ranks[:, self.order] = np.repeat(ranks, self.sizes, axis=1)
        return value_ranks


def _known(values: ArrayLike, cluster: ArrayLike) -> tuple[Floats, Ints]:
    value = np.asarray(values, dtype=np.float64)
    is_known = ~np.isnan(value)
    return value[is_known], np.asarray(cluster, dtype=np.int64)[is_known]


def _parts(resamples: int, size: int) -> list[slice]:
    step = max(1, _AT_ONCE // max(size, 1))
    return [slice(start, start + step) for start in range(0, resamples, step)]
