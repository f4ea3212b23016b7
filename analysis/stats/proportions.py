"""Proportions and paired differences of two proportions, with intervals that are valid for small samples.

Both kinds of interval are score intervals: they stay in range, and they exist for proportions of 0 and 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import scipy
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Proportion:
    """A proportion with its confidence interval.

    Attributes
    ----------
    estimate, low, high : float
        The proportion and the ends of its interval; NaN if `n` is 0.
    count, n : int
        Number of successes, and of trials.
    """

    estimate: float
    low: float
    high: float
    count: int
    n: int


@dataclass(frozen=True)
class PairedDifference:
    """The difference between two proportions of the same units, first minus second.

    Attributes
    ----------
    estimate, low, high : float
        The difference and the ends of its interval; NaN if `n` is 0.
    first, second : Proportion
        The two proportions.
    n : int
        Number of units.
    """

    estimate: float
    low: float
    high: float
    first: Proportion
    second: Proportion
    n: int


def wilson(count: int, n: int, *, level: float = 0.95) -> Proportion:
    """Compute a proportion with its Wilson score interval.

    Parameters
    ----------
    count, n : int
        Number of successes, and of trials.
    level : float
        Confidence level of the interval, 0.95 by default.

    Raises
    ------
    ValueError
        If `count` is not between 0 and `n`, or `level` not between 0 and 1.

    References
    ----------
    Wilson, Probable inference, the law of succession, and statistical inference (1927). JASA 22, 209-212.

    Examples
    --------
    >>> share = wilson(8, 10)
    >>> round(share.low, 3), round(share.high, 3)
    (0.49, 0.943)
    """
    z = _quantile(level)
    if not 0 <= count <= n:
        msg = f"of {n} things, {count} cannot be"
        raise ValueError(msg)
    if n == 0:
        nan = float("nan")
        return Proportion(nan, nan, nan, 0, 0)
    share = count / n
    middle = share + z * z / (2 * n)
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # Set the exact bounds: rounding could leave a proportion of 0 outside its own interval.
    low = 0.0 if count == 0 else (middle - reach) / scale
    high = 1.0 if count == n else (middle + reach) / scale
    return Proportion(share, low, high, count, n)


def effective_wilson(share: float, variance: float, freedom: float, *, level: float = 0.95) -> tuple[float, float]:
    """Compute the score interval of a proportion of clustered units, with the effective sample size.

    Parameters
    ----------
    share : float
        The proportion, from 0 to 1.
    variance : float
        Variance of the proportion, computed over clusters. A proportion of 0 or 1 has no observable variance; the
        sample size is then the number of clusters.
    freedom : float
        Degrees of freedom of the variance: number of clusters minus one.
    level : float
        Confidence level of the interval, 0.95 by default.

    Returns
    -------
    low, high : float
        NaN with less than one degree of freedom, or if the variance is 0 and the proportion is neither 0 nor 1.

    References
    ----------
    Korn and Graubard, Confidence intervals for proportions with small expected number of positive counts estimated
    from survey data (1998). Survey Methodology 24, 193-201, for the effective sample size; with Wilson's interval in
    place of Clopper and Pearson's, as in Dean and Pagano, Evaluating confidence interval methods for binomial
    proportions in clustered surveys (2015), Journal of Survey Statistics and Methodology 3, 484-503.
    """
    z = _quantile(level)
    if not freedom >= 1 or not variance >= 0:
        return float("nan"), float("nan")
    spread = share * (1 - share)
    if spread <= 0:
        n = freedom + 1
    elif variance > 0:
        n = spread / variance
    else:
        return float("nan"), float("nan")
    # With few clusters the variance is uncertain: the ratio of Student's quantile to the normal one reduces the sample
    # size.
    n *= (z / float(scipy.special.stdtrit(freedom, 0.5 + level / 2))) ** 2
    middle = share + z * z / (2 * n)
    reach = z * math.sqrt(spread / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low = 0.0 if share <= 0 else (middle - reach) / scale
    high = 1.0 if share >= 1 else (middle + reach) / scale
    return low, high


def planned_width(clusters: float, per_cluster: float, correlation: float, *, level: float = 0.95) -> float:
    """Compute the width that the interval of a proportion of clustered trials will have, if the proportion is one half.

    One half is the proportion with the widest interval, so the interval of any other proportion is narrower.

    Parameters
    ----------
    clusters, per_cluster : float
        Number of clusters, and of trials in each of them.
    correlation : float
        Intraclass correlation of the trials of a cluster, from 0 (independent) to 1 (all equal).
    level : float
        Confidence level of the interval, 0.95 by default.

    Returns
    -------
    float
        Width of the score interval with the effective number of trials; NaN without trials.

    References
    ----------
    Kish, Survey sampling (1965), for the design effect 1 + (m - 1) rho of clusters of m trials.

    Examples
    --------
    >>> round(planned_width(100, 5, 0.3), 3)
    0.129
    """
    z = _quantile(level)
    if clusters <= 0 or per_cluster <= 0:
        return float("nan")
    n = clusters * per_cluster / (1 + (per_cluster - 1) * correlation)
    # The ends of Wilson's interval of a proportion of one half.
    return z / math.sqrt(n + z * z)


def paired_difference(first: ArrayLike, second: ArrayLike, *, level: float = 0.95) -> PairedDifference:
    """Compute how much more often an event occurred in a first condition than in a second, for the same units.

    Parameters
    ----------
    first, second : array_like of bool, shape (n,)
        Whether the event occurred for each unit in each condition.
    level : float
        Confidence level of the interval, 0.95 by default.

    Returns
    -------
    PairedDifference
        With Newcombe's interval for paired data (method 10): combines the score intervals of both proportions and their
        correlation, with a continuity correction.

    Raises
    ------
    ValueError
        If the two have different lengths, or `level` is not between 0 and 1.

    References
    ----------
    Newcombe, Improved confidence intervals for the difference between binomial proportions based on paired data
    (1998). Statistics in Medicine 17, 2635-2650.
    """
    a, b = np.asarray(first, dtype=np.bool_), np.asarray(second, dtype=np.bool_)
    if a.shape != b.shape or a.ndim != 1:
        msg = f"both conditions need one value a thing, they have shapes {a.shape} and {b.shape}"
        raise ValueError(msg)
    in_both, only_first = int(np.sum(a & b)), int(np.sum(a & ~b))
    only_second, neither = int(np.sum(~a & b)), int(np.sum(~a & ~b))
    return paired_difference_of_counts(in_both, only_first, only_second, neither, level=level)


def paired_difference_of_counts(
    in_both: int, only_first: int, only_second: int, neither: int, *, level: float = 0.95
) -> PairedDifference:
    """Compute `paired_difference` from the four counts of the contingency table."""
    n = in_both + only_first + only_second + neither
    first, second = wilson(in_both + only_first, n, level=level), wilson(in_both + only_second, n, level=level)
    if n == 0:
        nan = float("nan")
        return PairedDifference(nan, nan, nan, first, second, 0)
    difference = (only_first - only_second) / n
    phi = _corrected_phi(in_both, only_first, only_second, neither)
    down = _joined(first.estimate - first.low, second.high - second.estimate, phi)
    up = _joined(first.high - first.estimate, second.estimate - second.low, phi)
    return PairedDifference(difference, difference - down, difference + up, first, second, n)


def _corrected_phi(in_both: int, only_first: int, only_second: int, neither: int) -> float:
    """Compute the correlation between the two conditions; if positive, with continuity correction."""
    margins = (in_both + only_first) * (only_second + neither) * (in_both + only_second) * (only_first + neither)
    if not margins:
        return 0.0
    cross = float(in_both * neither - only_first * only_second)
    if cross > 0:
        cross = max(cross - (in_both + only_first + only_second + neither) / 2, 0.0)
    return cross / math.sqrt(margins)


def _joined(of_first: float, of_second: float, phi: float) -> float:
    # Not below 0: rounding can leave a tiny negative square.
    return math.sqrt(max(of_first**2 - 2 * phi * of_first * of_second + of_second**2, 0.0))


def _quantile(level: float) -> float:
    if not 0.0 < level < 1.0:
        msg = f"the level of an interval lies between 0 and 1, it is {level}"
        raise ValueError(msg)
    return NormalDist().inv_cdf(0.5 + level / 2)
