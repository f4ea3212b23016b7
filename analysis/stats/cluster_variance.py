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

import numpy as np
import scipy
from numpy.typing import NDArray

from analysis.stats.bootstrap import Floats

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms whose sum is, to first order, the statistic's deviation from its true value.

    Attributes
    ----------
    topic : ndarray of int, shape (n_terms,)
    first, second : ndarray of int, shape (n_terms,), or None
        The two judges whom a term compares, in either order. `second` is None if each term belongs to one judge. Both
        are None if the judges were chosen rather than sampled (experts, a model): the variance is then over topics
        only.
    value : ndarray of shape (n_terms,)
        The value of each term; the values sum to about 0.
    least : int
        The minimum number of sampled judges for an interval. With two judges it has one degree of freedom, and some
        statistics need more judges than the default.
    """

    topic: Ints
    first: Ints | None
    second: Ints | None
    value: Floats
    least: int = 3

    @property
    def topics(self) -> int:
        """The number of topics."""
        return len(np.unique(self.topic))

    @property
    def judges(self) -> int:
        """The number of judges; 0 if they were chosen rather than sampled."""
        return len(np.unique(np.concatenate(self._who)))

    @property
    def _who(self) -> list[Ints]:
        return [judges for judges in (self.first, self.second) if judges is not None] or [np.empty(0, dtype=np.int64)]

    def over_topics(self) -> float:
        """Compute the variance over topics; NaN with fewer than two."""
        clusters = self.topics
        return _squares(self.value, self.topic) * clusters / (clusters - 1) if clusters > 1 else float("nan")

    def over_judges(self) -> float:
        """Compute the variance over judges; 0 if they were chosen rather than sampled, NaN with fewer than two."""
        if self.first is None:
            return 0.0
        clusters = self.judges
        squares = _squares(np.tile(self.value, len(self._who)), np.concatenate(self._who))
        if self.second is not None:
            squares -= _squares(self.value, _pairs(self.first, self.second))
        return max(squares, 0.0) * clusters / (clusters - 1) if clusters > 1 else float("nan")

    def of_both(self) -> float:
        """Compute the overlap of both variances: the terms that share a topic and a judge."""
        if self.first is None:
            return 0.0
        width = 1 + max(int(judges.max(initial=0)) for judges in self._who)
        cells = np.concatenate([self.topic * width + judges for judges in self._who])
        squares = _squares(np.tile(self.value, len(self._who)), cells)
        if self.second is not None:
            pairs = _pairs(self.first, self.second)
            squares -= _squares(self.value, self.topic * (1 + int(pairs.max(initial=0))) + pairs)
        return squares


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
    first = [part.first for part in parts if part.first is not None]
    second = [part.second for part in parts if part.second is not None]
    return Terms(
        topic=np.concatenate([part.topic for part in parts]),
        first=np.concatenate(first) if len(first) == len(parts) else None,
        second=np.concatenate(second) if len(second) == len(parts) else None,
        value=np.concatenate([weight * part.value for part, weight in zip(parts, weights, strict=True)]),
        least=max(part.least for part in parts),
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
    return total, min(terms.topics, terms.judges if terms.first is not None else terms.topics) - 1.0


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
    too_few = terms.first is not None and terms.judges < terms.least
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


def _squares(values: Floats, cluster: Ints) -> float:
    """Sum the squares of the cluster sums."""
    _names, index = np.unique(cluster, return_inverse=True)
    return float(np.square(np.bincount(index, weights=values)).sum())


def _pairs(first: Ints, second: Ints) -> Ints:
    """Number the unordered pairs."""
    low, high = np.minimum(first, second), np.maximum(first, second)
    _names, index = np.unique(low * (1 + int(high.max(initial=0))) + high, return_inverse=True)
    return np.asarray(index, dtype=np.int64)
