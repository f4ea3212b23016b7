"""Bootstrap over topics (the cluster bootstrap), vectorised over resamples (design 7.2).

A resample of topics is a row of multinomial counts: how often each topic was drawn. A statistic that can be
computed from sums over topics is then computed for all resamples at once, from these counts as weights.
Draw the counts once and use them for every dimension: differences between dimensions then rest on the same
resamples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from analysis.stats.proportions import effective_wilson

Floats = NDArray[np.float64]

#: From weights of shape (resamples, n_clusters) to values of shape (resamples, ...).
Statistic = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Interval:
    """A point estimate with its interval.

    Attributes
    ----------
    estimate, low, high : float
        The statistic of the data and the ends of its interval. The ends are NaN where no interval can be said:
        with fewer than two clusters, or where the statistic is undefined in every resample.
    level : float
        The share of studies whose interval is to hold the true value.
    resamples : int
        How many resamples were drawn.
    undefined : int
        In how many of them the statistic was undefined (NaN): these were dropped.
    clusters : int
        How many clusters (topics) were resampled.
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
        """Whether an interval can be said."""
        return not (np.isnan(self.low) or np.isnan(self.high))


def resample_weights(clusters: int, resamples: int, rng: np.random.Generator) -> Floats:
    """Draw how often each cluster stands in each resample.

    Parameters
    ----------
    clusters : int
        Number of clusters (topics), each drawn with equal probability, `clusters` draws a resample.
    resamples : int
        Number of resamples.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    ndarray of shape (resamples, clusters)
        Counts (as floats, ready for matrix products); each row sums to `clusters`.

    Raises
    ------
    ValueError
        If there is no cluster or no resample.
    """
    if clusters < 1 or resamples < 1:
        msg = f"a bootstrap needs at least one cluster and one resample, not {clusters} and {resamples}"
        raise ValueError(msg)
    return rng.multinomial(clusters, np.full(clusters, 1.0 / clusters), size=resamples).astype(np.float64)


def percentile_interval(
    estimate: float,
    samples: ArrayLike,
    *,
    clusters: int,
    level: float = 0.95,
    share: bool = False,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Interval:
    """The interval of a statistic from its values in the resamples, as wide as its number of clusters asks for.

    Resampling n clusters understates the variance by the factor (n - 1) / n, and the percentiles are a normal
    distribution's where Student's belongs. So percentiles further out are taken, as much further as makes up for both
    (expanded percentiles). Of fewer than 15 clusters the resamples know too few values for that: the interval is
    Student's, with the standard deviation of the resamples.

    Parameters
    ----------
    estimate : float
        The statistic of the data; NaN if it is undefined.
    samples : array_like, shape (resamples,)
        The statistic in each resample. NaN marks resamples in which it is undefined; they are dropped and counted.
    clusters : int
        How many clusters were resampled. One cluster resampled is always itself: the interval is then NaN, not a
        point. Where the statistic is the same in all resamples it is NaN too: what was never seen to vary tells nothing
        of how much it could.
    level : float
        The share of studies whose interval is to hold the true value, 0.95 by default.
    share : bool
        Whether the statistic is a share, from 0 to 1. Its interval is then Wilson's, of as many independent things as
        vary as much, and there is one where all or none are so.
    bounds : (float, float)
        Between what the statistic lies; its interval goes no further.

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
            reach = small_sample_factor(clusters, level=level) * scipy.stats.norm.ppf(0.5 + level / 2) * spread
            low, high = float(estimate - reach), float(estimate + reach)
        else:
            tail = scipy.stats.norm.sf(
                small_sample_factor(clusters, level=level) * scipy.stats.norm.ppf(0.5 + level / 2)
            )
            low, high = (float(end) for end in np.quantile(defined, [tail, 1.0 - tail]))
            # Of skewed resamples the estimate can stand at their edge: it is in its interval all the same.
            low, high = min(low, float(estimate)), max(high, float(estimate))
    low, high = (float(end) for end in np.clip((low, high), *bounds))
    return Interval(float(estimate), low, high, level, values.size, values.size - defined.size, clusters)


#: Of fewer clusters the resamples hold too few different values for their percentiles to be used.
_FEW = 15


def small_sample_factor(clusters: int, *, level: float = 0.95) -> float:
    """How much further an interval of few clusters must reach than the bootstrap says.

    Resampling n clusters understates the variance by the factor (n - 1) / n, and its percentiles are those of a normal
    distribution where Student's belongs: both matter when somebody was seen on three topics. Deviations from the
    estimate, times this factor, reach as far as the t interval of a mean does.

    Parameters
    ----------
    clusters : int
        How many clusters the statistic rests on.
    level : float
        The share of resamples within the interval.

    Returns
    -------
    float
        Above 1, and near it for many clusters: 9.2 for two, 1.9 for four, 1.2 for ten, 1.05 for forty. NaN for fewer
        than two, of which nothing can be said.

    References
    ----------
    Hesterberg, What teachers should know about the bootstrap (2015). The American Statistician 69, 371-386, on the
    narrowness of percentile intervals and t intervals with bootstrap standard errors.
    """
    if clusters < 2:
        return float("nan")
    student = scipy.stats.t.ppf(0.5 + level / 2, clusters - 1) / scipy.stats.norm.ppf(0.5 + level / 2)
    return float(np.sqrt(clusters / (clusters - 1)) * student)


def resampled_mean(values: ArrayLike, cluster: ArrayLike, weights: Floats) -> Floats:
    """The mean of values that may be others in each resample.

    Parameters
    ----------
    values : array_like, shape (n,) or (n, resamples)
        The values, or those of each resample (say, grades fitted anew); NaN ones are left out.
    cluster : array_like of int, shape (n,)
        The cluster of each.
    weights : ndarray of shape (resamples, n_clusters)
        How often each cluster was drawn.

    Returns
    -------
    ndarray of shape (resamples,)
        NaN where a resample holds no value.
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


def bootstrap(statistic: Statistic, weights: Floats, *, level: float = 0.95, share: bool = False) -> Interval:
    """Estimate and interval of a statistic of weighted clusters.

    Parameters
    ----------
    statistic : callable
        From weights of shape (resamples, n_clusters) to values of shape (resamples,); NaN where undefined. Its value
        at all-one weights is the estimate.
    weights : ndarray of shape (resamples, n_clusters)
        From `resample_weights`.
    level, share
        As for `percentile_interval`.

    Returns
    -------
    Interval

    Examples
    --------
    The mean of six values of three topics, topics resampled:

    >>> weights = resample_weights(3, 1000, np.random.default_rng(0))
    >>> mean = bootstrap(weighted_mean([1, 2, 3, 4, 5, 6], [0, 0, 1, 1, 2, 2], 3), weights)
    >>> mean.estimate, bool(mean.low < 3.5 < mean.high), mean.clusters
    (3.5, True, 3)
    """
    estimate = statistic(np.ones((1, weights.shape[1])))[0]
    clusters = _holding(statistic, weights.shape[1], estimate)
    return percentile_interval(estimate, statistic(weights), clusters=clusters, level=level, share=share)


def _holding(statistic: Statistic, clusters: int, estimate: float) -> int:
    """How many clusters hold something: those that define the statistic alone, or else change it when left out."""
    alone, changed = 0, 0
    for begin in range(0, clusters, _AT_ONCE):
        unit_weights = np.eye(clusters)[begin : begin + _AT_ONCE]
        alone += int(np.count_nonzero(~np.isnan(statistic(unit_weights))))
        changed += int(np.count_nonzero(statistic(1.0 - unit_weights) != estimate))
    return alone or changed


# So many clusters are left out at a time.
_AT_ONCE = 500


def weighted_mean(values: ArrayLike, cluster: ArrayLike, clusters: int) -> Statistic:
    """The mean of values as a statistic of their clusters' weights.

    Parameters
    ----------
    values : array_like, shape (n,)
        The values; NaN ones are left out.
    cluster : array_like of int, shape (n,)
        The cluster of each, from 0 to ``clusters - 1``.
    clusters : int
        Number of clusters.

    Returns
    -------
    callable
        For `bootstrap`. A resample that holds no value has the mean NaN.
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
