"""Intervals over topics and judges: the variance of a sum of terms that share topics and judges.

Both the topics and the judges are random samples: other topics, or other people, would give another estimate. A
statistic that compares judgments, such as alpha, is a sum over pairs of judges of a unit. Two terms are correlated if
they share their topic or a judge. The variance is the sum of the products of all correlated terms. These are terms that
share a topic, plus those that share a judge, minus those that share both, which would count twice. A pair of judges
belongs to both judges, so its own product is also subtracted once. Alternatives are biased (docs/methods/intervals.md).
Resampling topics and judges independently (the pigeonhole bootstrap) counts the variance of a single judgment three
times, so its intervals are too wide. Resampling only topics ignores the judges, so its intervals are too narrow.

References: Cameron, Gelbach and Miller, Robust inference with multiway clustering (2011), Journal of Business &
Economic Statistics 29, 238-249; Aronow, Samii and Assenova, Cluster-robust variance estimation for dyadic data
(2015), Political Analysis 23, 564-577; Owen, The pigeonhole bootstrap (2007), Annals of Applied Statistics 1,
386-411.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from analysis.stats.bootstrap import Floats

Ints = NDArray[np.int64]
Numbers = NDArray[np.int32]  # half the width of an index: there may be many millions


@dataclass(frozen=True, eq=False)
class Clusters:
    """The topic and the judges of each possible term, and the clusters that the terms belong to.

    Finding clusters takes a sort of all terms, so terms of several statistics of the same judgments share them.

    Attributes
    ----------
    topic : ndarray of int, shape (n,)
    first, second : ndarray of int, shape (n,), or None
        The two judges whom a term compares, in either order. `second` is None if each term belongs to one judge. Both
        are None if the judges were chosen rather than sampled (experts, a model): the variance is then over topics
        only.
    """

    topic: Ints
    first: Ints | None
    second: Ints | None

    @property
    def who(self) -> list[Ints]:
        """The judges of each term: none, one or two."""
        return [judges for judges in (self.first, self.second) if judges is not None]

    @cached_property
    def pairs(self) -> Numbers:
        """Numbers of the unordered pairs of judges."""
        assert self.first is not None
        assert self.second is not None
        low, high = np.minimum(self.first, self.second), np.maximum(self.first, self.second)
        return _number(low * (1 + int(high.max(initial=0))) + high)

    @cached_property
    def topics_and_pairs(self) -> Numbers:
        """Numbers of the topics with each unordered pair of judges."""
        return _number(self.topic * (1 + int(self.pairs.max(initial=0))) + self.pairs)

    @cached_property
    def topics_and_judges(self) -> list[Numbers]:
        """Numbers of the topics with each judge; those of the first and of the second judges."""
        width = 1 + max(int(judges.max(initial=0)) for judges in self.who)
        cells = _number(np.concatenate([self.topic * width + judges for judges in self.who]))
        return np.split(cells, len(self.who))


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms whose sum is, to first order, the statistic's deviation from its true value.

    Attributes
    ----------
    clusters : Clusters
    value : ndarray of shape (n_terms,)
        The value of each term; the values sum to about 0.
    index : ndarray of int, shape (n_terms,), or None
        The index of each term in `clusters`; None if the terms are all of them, in their order.
    least : int
        The minimum number of sampled judges for an interval. With two judges it has one degree of freedom, and some
        statistics need more judges than the default.
    """

    clusters: Clusters
    value: Floats
    index: Numbers | None = None
    least: int = 3

    @classmethod
    def of(cls, topic: Ints, first: Ints | None, second: Ints | None, value: Floats, *, least: int = 3) -> Terms:
        """Return terms with clusters of their own; see `Clusters`."""
        return cls(Clusters(topic, first, second), value, least=least)

    @property
    def topic(self) -> Ints:
        """The topic of each term, shape (n_terms,)."""
        return self._of(self.clusters.topic)

    @property
    def first(self) -> Ints | None:
        """The first judge of each term, shape (n_terms,); None if the judges were chosen."""
        return None if self.clusters.first is None else self._of(self.clusters.first)

    @property
    def second(self) -> Ints | None:
        """The second judge of each term, shape (n_terms,); None if a term belongs to one judge or to none."""
        return None if self.clusters.second is None else self._of(self.clusters.second)

    @cached_property
    def topics(self) -> int:
        """The number of topics."""
        return _count([self.topic])

    @cached_property
    def judges(self) -> int:
        """The number of judges; 0 if they were chosen rather than sampled."""
        return _count([self._of(judges) for judges in self.clusters.who])

    def over_topics(self) -> float:
        """Compute the variance over topics; NaN with fewer than two."""
        clusters = self.topics
        return self._squares([self.clusters.topic]) * clusters / (clusters - 1) if clusters > 1 else float("nan")

    def over_judges(self) -> float:
        """Compute the variance over judges; 0 if they were chosen rather than sampled, NaN with fewer than two."""
        if self.clusters.first is None:
            return 0.0
        clusters = self.judges
        squares = self._squares(self.clusters.who)
        if self.clusters.second is not None:
            squares -= self._squares([self.clusters.pairs])
        return max(squares, 0.0) * clusters / (clusters - 1) if clusters > 1 else float("nan")

    def of_both(self) -> float:
        """Compute the overlap of both variances: the terms that share a topic and a judge."""
        if self.clusters.first is None:
            return 0.0
        squares = self._squares(self.clusters.topics_and_judges)
        if self.clusters.second is not None:
            squares -= self._squares([self.clusters.topics_and_pairs])
        return squares

    def _of(self, column: NDArray[Any]) -> NDArray[Any]:
        return column if self.index is None else column[self.index]

    def _squares(self, clusters: Sequence[NDArray[Any]]) -> float:
        """Sum the squares of the cluster sums; each term belongs to one cluster of each list of numbers."""
        numbers = [self._of(column) for column in clusters]
        if len(numbers) == 1:
            return _sum_of_squares(self.value, numbers[0])
        return _sum_of_squares(np.tile(self.value, len(numbers)), np.concatenate(numbers))


def combined(parts: Sequence[Terms], weights: Sequence[float]) -> Terms:
    """Combine the terms of a weighted sum of statistics of the same topics and judges: a mean or a difference.

    If judges were chosen in one of the parts, they count as chosen in the result.

    Raises
    ------
    ValueError
        If there are no parts, or the number of weights differs from the number of parts.
    """
    if not parts or len(parts) != len(weights):
        msg = f"there must be a weight for each statistic, not {len(weights)} for {len(parts)}"
        raise ValueError(msg)
    value = np.concatenate([weight * part.value for part, weight in zip(parts, weights, strict=True)])
    least = max(part.least for part in parts)
    if all(part.clusters is parts[0].clusters and part.index is not None for part in parts):
        index = np.concatenate([part.index for part in parts if part.index is not None])
        return Terms(parts[0].clusters, value, index, least)
    first = [part.first for part in parts if part.first is not None]
    second = [part.second for part in parts if part.second is not None]
    return Terms.of(
        np.concatenate([part.topic for part in parts]),
        np.concatenate(first) if len(first) == len(parts) else None,
        np.concatenate(second) if len(second) == len(parts) else None,
        value,
        least=least,
    )


def variance(terms: Terms) -> tuple[float, float]:
    """Compute the variance of a statistic over topics and judges, and its degrees of freedom.

    Returns
    -------
    variance, freedom : float
        NaN with fewer than two topics or fewer than two sampled judges. The variance is at least the variance over
        topics: the sum of the estimates can be smaller by chance, but the true variance cannot.
    """
    topics, judges = terms.over_topics(), terms.over_judges()
    total = max(topics + judges - terms.of_both(), topics)
    return total, min(terms.topics, terms.judges if terms.clusters.first is not None else terms.topics) - 1.0


def interval_of(
    estimate: float, terms: Terms, *, level: float = 0.95, upper_bound: float | None = None
) -> tuple[float, float]:
    """Compute the confidence interval of a statistic from its terms, with quantiles of Student's t distribution.

    Parameters
    ----------
    estimate : float
        The statistic of the sample.
    terms : Terms
    level : float
        Coverage: the share of studies whose interval should contain the true value.
    upper_bound : float, optional
        An upper bound of the statistic, 1 for alpha; the lower bound is its negative. The interval is then symmetric in
        the logarithm of the distance to the upper bound, and stays below it.

    Returns
    -------
    low, high : float
        NaN with fewer than two topics or fewer sampled judges than required. NaN if the terms do not vary, because
        their variance cannot then be estimated. Also NaN if the lower end would be below the lower bound: with two or
        three topics the interval is uninformative.

    Raises
    ------
    ValueError
        If `level` is not between 0 and 1.
    """
    if not 0.0 < level < 1.0:
        msg = f"the level of an interval lies between 0 and 1, it is {level}"
        raise ValueError(msg)
    nan = float("nan")
    spread, freedom = variance(terms)
    too_few = terms.clusters.first is not None and terms.judges < terms.least
    if too_few or not spread > _NOTHING or np.isnan(estimate):
        return nan, nan
    reach = float(scipy.special.stdtrit(freedom, 0.5 + level / 2)) * float(np.sqrt(spread))
    if upper_bound is None:
        return estimate - reach, estimate + reach
    headroom = upper_bound - estimate
    if not headroom > 0:
        return nan, nan
    # Limits the exponent: beyond this distance, the exact value does not matter.
    low = upper_bound - headroom * float(np.exp(min(reach / headroom, 100.0)))
    return (low, upper_bound - headroom * float(np.exp(-reach / headroom))) if low >= -upper_bound else (nan, nan)


# Smaller variances are rounding errors of terms that do not vary.
_NOTHING = 1e-18


#: Numbers up to this many times as many as there are terms are counted as they are; others are sorted first.
_SPARSE = 4


def _sum_of_squares(values: Floats, cluster: NDArray[Any]) -> float:
    """Sum the squares of the cluster sums, clusters in the order of their numbers."""
    if int(cluster.max(initial=0)) > _SPARSE * len(cluster) + 1000:
        cluster = _number(cluster)
    sums = np.bincount(cluster, weights=values)
    occupied = np.zeros(len(sums), dtype=bool)
    occupied[cluster] = True
    return float(np.square(sums[occupied]).sum())


def _count(columns: Sequence[NDArray[Any]]) -> int:
    """Count the distinct numbers."""
    largest = max((int(column.max(initial=0)) for column in columns), default=0)
    if largest > _SPARSE * sum(map(len, columns)) + 1000:
        return len(np.unique(np.concatenate(columns)))
    occupied = np.zeros(largest + 1, dtype=bool)
    for column in columns:
        occupied[column] = True
    return int(np.count_nonzero(occupied))


def _number(names: Ints) -> Numbers:
    """Number distinct integers from 0 in ascending order."""
    _names, index = np.unique(names, return_inverse=True)
    return index.astype(np.int32)
