"""Intervals over topics and judges: the variance of a sum of terms that share topics and judges.

Judgments are made on topics by judges, and both are draws: other topics, and other people, would have given another
figure. What compares judgments, such as alpha, is a sum over pairs of judges of a unit. Two terms go together if they
share their topic or a judge, and the variance is the sum of the products of all terms that do: those that share a
topic, plus those that share a judge, less those that share both, which would be counted twice. A pair of judges
belongs to both of them, so what it adds is taken off once too. Resamples that draw topics and judges independently
(the pigeonhole bootstrap) count what lies in a single judgment three times and are too wide; resamples of topics
alone leave out the judges and are too narrow (docs/methods/intervals.md).

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
    """The terms whose sum is, to first order, a statistic's distance from its true value.

    Attributes
    ----------
    topic : ndarray of int, shape (n_terms,)
    first, second : ndarray of int, shape (n_terms,), or None
        The two judges whom a term compares, in either order; `second` is None where each term is of one judge. Both
        are None where the judges were chosen, not drawn (experts, a model): then the variance is over topics alone.
    value : ndarray of shape (n_terms,)
        What each term adds; they add up to about 0.
    least : int
        Of fewer judges who were drawn there is no interval: of two it has one degree of freedom, and some statistics
        need more.
    """

    topic: Ints
    first: Ints | None
    second: Ints | None
    value: Floats
    least: int = 3

    @property
    def topics(self) -> int:
        """How many topics there are."""
        return len(np.unique(self.topic))

    @property
    def judges(self) -> int:
        """How many judges there are; 0 where they were chosen."""
        return len(np.unique(np.concatenate(self._who)))

    @property
    def _who(self) -> list[Ints]:
        return [judges for judges in (self.first, self.second) if judges is not None] or [np.empty(0, dtype=np.int64)]

    def over_topics(self) -> float:
        """The variance over topics; NaN of fewer than two."""
        clusters = self.topics
        return _squares(self.value, self.topic) * clusters / (clusters - 1) if clusters > 1 else float("nan")

    def over_judges(self) -> float:
        """The variance over judges; 0 where they were chosen, NaN of fewer than two."""
        if self.first is None:
            return 0.0
        clusters = self.judges
        squares = _squares(np.tile(self.value, len(self._who)), np.concatenate(self._who))
        if self.second is not None:
            squares -= _squares(self.value, _pairs(self.first, self.second))
        return max(squares, 0.0) * clusters / (clusters - 1) if clusters > 1 else float("nan")

    def of_both(self) -> float:
        """What the two hold in common: the terms that share a topic and a judge."""
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
    """The terms of a weighted sum of statistics of the same topics and judges: a mean, or a difference.

    Judges count as chosen if they are in one of the parts.

    Raises
    ------
    ValueError
        If there is no part, or not one weight for each.
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
    """The variance of a statistic over topics and judges, and its degrees of freedom.

    Returns
    -------
    variance, freedom : float
        NaN where there are fewer than two topics, or two judges who were drawn. Never below the variance over topics,
        which the sum of estimates can be by chance and the true variance cannot.
    """
    topics, judges = terms.over_topics(), terms.over_judges()
    total = max(topics + judges - terms.of_both(), topics)
    return total, min(terms.topics, terms.judges if terms.first is not None else terms.topics) - 1.0


def interval_of(
    estimate: float, terms: Terms, *, level: float = 0.95, upper_bound: float | None = None
) -> tuple[float, float]:
    """The interval of a statistic from its terms, with Student's quantile.

    Parameters
    ----------
    estimate : float
        The statistic of the data.
    terms : Terms
    level : float
        The share of studies whose interval is to hold the true value.
    most : float, optional
        A bound that the statistic cannot pass, 1 for alpha; nor can it be below its negative. The interval is then
        symmetric in the logarithm of the distance to the bound, and stays below.

    Returns
    -------
    low, high : float
        NaN where no interval can be said: fewer than two topics, fewer judges who were drawn than asked for, or terms
        that do not vary (what was never seen to vary tells nothing of how much it could). So also where it would reach
        further down than the statistic can be: of two or three topics it says nothing.

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
    reach = float(scipy.stats.t.ppf(0.5 + level / 2, freedom)) * float(np.sqrt(spread))
    if upper_bound is None:
        return estimate - reach, estimate + reach
    headroom = upper_bound - estimate
    if not headroom > 0:
        return nan, nan
    # Of a distance that grows past what there is, nothing more need be known.
    low = upper_bound - headroom * float(np.exp(min(reach / headroom, 100.0)))
    return (low, upper_bound - headroom * float(np.exp(-reach / headroom))) if low >= -upper_bound else (nan, nan)


# A variance that rounding leaves of terms that do not vary.
_NOTHING = 1e-18


def _squares(values: Floats, cluster: Ints) -> float:
    """The sum of the squares of the sums of each cluster."""
    _names, index = np.unique(cluster, return_inverse=True)
    return float(np.square(np.bincount(index, weights=values)).sum())


def _pairs(first: Ints, second: Ints) -> Ints:
    """Numbers of unordered pairs."""
    low, high = np.minimum(first, second), np.maximum(first, second)
    _names, index = np.unique(low * (1 + int(high.max(initial=0))) + high, return_inverse=True)
    return np.asarray(index, dtype=np.int64)
