"""Bootstrap over topics (the cluster bootstrap), vectorised over resamples (design 7.2).

A resample of topics is a row of multinomial counts: how often each topic was drawn. A statistic that is a function of
sums over topics can be computed for all resamples at once, with these counts as weights. Draw the counts once and use
them for every dimension: differences between dimensions are then computed from the same resamples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from analysis.stats.proportions import effective_wilson

Floats = NDArray[np.float64]

#: The range of a statistic, to which its interval is clipped.
Bounds = tuple[float, float]
UNBOUNDED: Bounds = (-np.inf, np.inf)
NOT_NEGATIVE: Bounds = (0.0, np.inf)
SHARE: Bounds = (0.0, 1.0)
CORRELATION: Bounds = (-1.0, 1.0)

#: Maps weights of shape (resamples, n_clusters) to values of shape (resamples, ...).
Statistic = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Interval:
    """A point estimate with its confidence interval.

    Attributes
    ----------
    estimate, low, high : float
        The sample statistic and the ends of its interval. The ends are NaN without an interval: if there are fewer than
        two clusters, or if the statistic is undefined in every resample.
    level : float
        Coverage: the share of studies whose interval should contain the true value.
    resamples : int
        The number of resamples.
    undefined : int
        The number of resamples in which the statistic was undefined (NaN) and which were dropped.
    clusters : int
        The number of resampled clusters (topics).
    """

    estimate: float
    low: float
    high: float
    level: float
    resamples: int
    undefined: int
    clusters: int

    @property
    def has_ends(self) -> bool:
        """Whether there is an interval."""
        return not (np.isnan(self.low) or np.isnan(self.high))


def resample_weights(clusters: int, resamples: int, rng: np.random.Generator) -> Floats:
    """Draw the number of times each cluster appears in each resample.

    Parameters
    ----------
    clusters : int
        Number of clusters (topics). A resample consists of `clusters` draws with equal probability.
    resamples : int
        Number of resamples.
    rng : numpy.random.Generator
        Source of random draws.

    Returns
    -------
    ndarray of shape (resamples, clusters)
        Counts (as floats, ready for matrix products); each row sums to `clusters`.

    Raises
    ------
    ValueError
        If there are no clusters or no resamples.
    """
    if clusters < 1 or resamples < 1:
        msg = f"a bootstrap needs at least one cluster and one resample, not {clusters} and {resamples}"
        raise ValueError(msg)
    return rng.multinomial(clusters, np.full(clusters, 1.0 / clusters), size=resamples).astype(np.float64)


def median_resamples(values: ArrayLike, resamples: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw medians of resamples with replacement, without drawing the resamples.

    The rank of the k-th smallest of n draws with replacement from n sorted values is the k-th smallest of n uniform
    numbers, times n, rounded up. That order statistic has the Beta(k, n - k + 1) distribution, and given it, the next
    one is the smallest of n - k numbers above it (David and Nagaraja, Order Statistics, 2003, sections 2.1 and 2.5).
    So the medians have the same distribution as those of drawn resamples, in time that does not grow with n.

    Parameters
    ----------
    values : array_like, shape (n,)
        The sample, without NaN; at least one value.
    resamples : int
        The number of medians.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of float, shape (resamples,)
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    n = len(ordered)
    lower = (n + 1) // 2
    first = rng.beta(lower, n - lower + 1, size=resamples)
    ranks = [first]
    if n % 2 == 0:
        ranks.append(first + (1.0 - first) * rng.beta(1, n - lower, size=resamples))
    picked = [ordered[np.clip(np.ceil(n * rank).astype(np.int64), 1, n) - 1] for rank in ranks]
    return np.asarray(np.mean(picked, axis=0), dtype=np.float64)


def percentile_interval(
    estimate: float,
    samples: ArrayLike,
    *,
    clusters: int,
    level: float = 0.95,
    share: bool = False,
    bounds: Bounds = UNBOUNDED,
) -> Interval:
    """Compute the interval of a statistic from its resampled values, corrected for the number of clusters.

    Resampling n clusters underestimates the variance by the factor (n - 1) / n, and percentiles correspond to a normal
    distribution instead of Student's t. The interval therefore uses percentiles further out, which correct for both
    (expanded percentiles). With fewer than 15 clusters the resamples have too few distinct values for that. The
    interval is then a t interval with the standard deviation of the resamples.

    Parameters
    ----------
    estimate : float
        The sample statistic; NaN if it is undefined.
    samples : array_like, shape (resamples,)
        The statistic in each resample. NaN marks undefined values, which are dropped and counted.
    clusters : int
        The number of resampled clusters. With one cluster, all resamples are equal: the interval is NaN, not a point.
        It is also NaN if the statistic is the same in all resamples, because its variance cannot then be estimated.
    level : float
        Coverage: the share of studies whose interval should contain the true value, 0.95 by default.
    share : bool
        Whether the statistic is a proportion, from 0 to 1. It then gets a Wilson interval with the effective sample
        size, which also exists for proportions of 0 and 1.
    bounds : (float, float)
        The range of the statistic; the interval is clipped to it.

    Returns
    -------
    Interval

    Raises
    ------
    ValueError
        If `level` is not between 0 and 1.

    References
    ----------
    Hesterberg, What teachers should know about the bootstrap (2015). The American Statistician 69, 371-386, section
    5.3.
    """
    if not 0.0 < level < 1.0:
        msg = f"the level of an interval lies between 0 and 1, it is {level}"
        raise ValueError(msg)
    values = np.asarray(samples, dtype=np.float64)
    defined = values[~np.isnan(values)]
    low = high = float("nan")
    if defined.size and clusters > 1 and not np.isnan(estimate):
        spread = float(defined.std())
        if share:
            low, high = effective_wilson(estimate, spread**2 * clusters / (clusters - 1), clusters - 1, level=level)
        elif spread <= 1e-9 * max(1.0, abs(estimate)):
            pass
        elif clusters < _FEW:
            reach = small_sample_factor(clusters, level=level) * scipy.special.ndtri(0.5 + level / 2) * spread
            low, high = float(estimate - reach), float(estimate + reach)
        else:
            reach = small_sample_factor(clusters, level=level) * scipy.special.ndtri(0.5 + level / 2)
            tail = scipy.special.ndtr(-reach)
            low, high = (float(end) for end in np.quantile(defined, [tail, 1.0 - tail]))
            # With skewed resamples the estimate can be outside the percentiles; the interval must contain it.
            low, high = min(low, float(estimate)), max(high, float(estimate))
    low, high = (float(end) for end in np.clip((low, high), *bounds))
    return Interval(float(estimate), low, high, level, values.size, values.size - defined.size, clusters)


#: With fewer clusters, the resamples have too few distinct values for percentiles.
_FEW = 15


def small_sample_factor(clusters: int, *, level: float = 0.95) -> float:
    """Compute how much wider an interval of few clusters must be than the bootstrap's.

    Resampling n clusters underestimates the variance by the factor (n - 1) / n, and percentiles correspond to a normal
    distribution instead of Student's t. Both matter with few clusters, for example for a person with three topics.
    Deviations from the estimate, multiplied by this factor, give the width of the t interval of a mean.

    Parameters
    ----------
    clusters : int
        The number of clusters in the statistic.
    level : float
        The share of resamples in the interval.

    Returns
    -------
    float
        Above 1, and close to 1 for many clusters: 9.2 for two, 1.9 for four, 1.2 for ten, 1.05 for forty. NaN for fewer
        than two.

    References
    ----------
    Hesterberg, What teachers should know about the bootstrap (2015). The American Statistician 69, 371-386, on the
    narrowness of percentile intervals and t intervals with bootstrap standard errors.
    """
    if clusters < 2:
        return float("nan")
    # Their distributions in scipy.stats check and broadcast for half a millisecond what these give at once.
    student = scipy.special.stdtrit(clusters - 1, 0.5 + level / 2) / scipy.special.ndtri(0.5 + level / 2)
    return float(np.sqrt(clusters / (clusters - 1)) * student)


def resampled_mean(values: ArrayLike, cluster: ArrayLike, weights: Floats) -> Floats:
    """Compute the mean of values that can differ between resamples.

    Parameters
    ----------
    values : array_like, shape (n,) or (n, resamples)
        The values, either fixed or one column per resample (for example, refitted grades). NaN is ignored.
    cluster : array_like of int, shape (n,)
        The cluster of each value.
    weights : ndarray of shape (resamples, n_clusters)
        How often each cluster was drawn.

    Returns
    -------
    ndarray of shape (resamples,)
        NaN if a resample has no values.
    """
    value = np.asarray(values, dtype=np.float64)
    if value.ndim == 1:
        return weighted_mean(value, cluster, weights.shape[1])(weights)
    resampled = weights[:, np.asarray(cluster, dtype=np.int64)].T
    is_known = ~np.isnan(value)
    n = (resampled * is_known).sum(axis=0)
    sums = (resampled * np.where(is_known, value, 0.0)).sum(axis=0)
    means: Floats = np.divide(sums, n, out=np.full(n.shape, np.nan), where=n > 0)
    return means


def bootstrap(
    statistic: Statistic,
    weights: Floats,
    *,
    level: float = 0.95,
    share: bool = False,
    bounds: Bounds = UNBOUNDED,
) -> Interval:
    """Compute the estimate and interval of a statistic of weighted clusters.

    Parameters
    ----------
    statistic : callable
        Maps weights of shape (resamples, n_clusters) to values of shape (resamples,); NaN if undefined. Its value at
        weights of 1 is the estimate.
    weights : ndarray of shape (resamples, n_clusters)
        From `resample_weights`.
    level, share, bounds
        As for `percentile_interval`.

    Returns
    -------
    Interval

    Examples
    --------
    The mean of six values of three topics, with resampled topics:

    >>> weights = resample_weights(3, 1000, np.random.default_rng(0))
    >>> mean = bootstrap(weighted_mean([1, 2, 3, 4, 5, 6], [0, 0, 1, 1, 2, 2], 3), weights)
    >>> mean.estimate, bool(mean.low < 3.5 < mean.high), mean.clusters
    (3.5, True, 3)
    """
    estimate = statistic(np.ones((1, weights.shape[1])))[0]
    clusters = _holding(statistic, weights.shape[1], estimate)
    return percentile_interval(estimate, statistic(weights), clusters=clusters, level=level, share=share, bounds=bounds)


def _holding(statistic: Statistic, clusters: int, estimate: float) -> int:
    """Count informative clusters: those that define the statistic alone, or else change it when they are left out."""
    alone, changed = 0, 0
    for begin in range(0, clusters, _AT_ONCE):
        unit_weights = np.eye(clusters)[begin : begin + _AT_ONCE]
        alone += int(np.count_nonzero(~np.isnan(statistic(unit_weights))))
        changed += int(np.count_nonzero(statistic(1.0 - unit_weights) != estimate))
    return alone or changed


# Number of clusters that are left out at a time.
_AT_ONCE = 500


def weighted_mean(values: ArrayLike, cluster: ArrayLike, clusters: int) -> Statistic:
    """Return the mean of values as a statistic of cluster weights.

    Parameters
    ----------
    values : array_like, shape (n,)
        The values; NaN is ignored.
    cluster : array_like of int, shape (n,)
        The cluster of each value, from 0 to ``clusters - 1``.
    clusters : int
        Number of clusters.

    Returns
    -------
    callable
        For `bootstrap`. The mean of a resample without values is NaN.
    """
    value = np.asarray(values, dtype=np.float64)
    index = np.asarray(cluster, dtype=np.int64)
    is_known = ~np.isnan(value)
    sums = np.bincount(index[is_known], weights=value[is_known], minlength=clusters)
    counts = np.bincount(index[is_known], minlength=clusters).astype(np.float64)

    def statistic(weights: Floats) -> Floats:
        n = weights @ counts
        means: Floats = np.divide(weights @ sums, n, out=np.full(n.shape, np.nan), where=n > 0)
        return means

    return statistic
