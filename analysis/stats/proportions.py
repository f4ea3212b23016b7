"""Proportions and differences between two proportions of the same things, with intervals that hold for few of them.

Both intervals are scores: they stay within their bounds, and say something where nothing or everything happened.
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
    """A share with its interval.

    Attributes
    ----------
    estimate, low, high : float
        The share and the ends of its interval; NaN of nothing.
    count, n : int
        How many of how many.
    """

    estimate: float
    low: float
    high: float
    count: int
    n: int


@dataclass(frozen=True)
class PairedDifference:
    """The difference between two shares of the same things, the first less the second.

    Attributes
    ----------
    estimate, low, high : float
        The difference and the ends of its interval; NaN of nothing.
    first, second : Proportion
        The two shares.
    n : int
        How many things.
    """

    estimate: float
    low: float
    high: float
    first: Proportion
    second: Proportion
    n: int


def wilson(count: int, n: int, *, level: float = 0.95) -> Proportion:
    """A share with its score interval.

    Parameters
    ----------
    count, n : int
        How many of how many.
    level : float
        Of the interval, 0.95 by default.

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
    # What is exact is said exactly: rounding would leave a share of 0 outside its own interval.
    low = 0.0 if count == 0 else (middle - reach) / scale
    high = 1.0 if count == n else (middle + reach) / scale
    return Proportion(share, low, high, count, n)


def effective_wilson(share: float, variance: float, freedom: float, *, level: float = 0.95) -> tuple[float, float]:
    """The score interval of a share of things that go together, as a sample of as many independent ones would have it.

    Parameters
    ----------
    share : float
        From 0 to 1.
    variance : float
        Of the share, with what goes together counted together. At a share of 0 or 1, where none can be seen, the
        clusters count as things.
    freedom : float
        Degrees of freedom of the variance; one less than the number of clusters.
    level : float
        Of the interval, 0.95 by default.

    Returns
    -------
    low, high : float
        NaN with less than one degree of freedom, or without a variance where the share is neither 0 nor 1.

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
    # Few clusters say little of the variance: what Student's quantile exceeds the normal one by makes the sample
    # smaller.
    n *= (z / float(scipy.stats.t.ppf(0.5 + level / 2, freedom))) ** 2
    middle = share + z * z / (2 * n)
    reach = z * math.sqrt(spread / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low = 0.0 if share <= 0 else (middle - reach) / scale
    high = 1.0 if share >= 1 else (middle + reach) / scale
    return low, high


def paired_difference(first: ArrayLike, second: ArrayLike, *, level: float = 0.95) -> PairedDifference:
    """How much more often something happened in a first condition than in a second, to the same things.

    Parameters
    ----------
    first, second : array_like of bool, shape (n,)
        Whether it happened to each thing in each condition.
    level : float
        Of the interval, 0.95 by default.

    Returns
    -------
    PairedDifference
        With Newcombe's interval for paired data (his method 10): the score intervals of both shares, put together
        with the correlation between them, of which a part is taken back for continuity.

    Raises
    ------
    ValueError
        If the two are not of one length, or `level` not between 0 and 1.

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
    """As `paired_difference`, from the four counts of the table."""
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
    """The correlation between the two conditions; where positive, corrected for continuity."""
    margins = (in_both + only_first) * (only_second + neither) * (in_both + only_second) * (only_first + neither)
    if not margins:
        return 0.0
    cross = float(in_both * neither - only_first * only_second)
    if cross > 0:
        cross = max(cross - (in_both + only_first + only_second + neither) / 2, 0.0)
    return cross / math.sqrt(margins)


def _joined(of_first: float, of_second: float, phi: float) -> float:
    # Not below nought: rounding can leave a tiny negative square.
    return math.sqrt(max(of_first**2 - 2 * phi * of_first * of_second + of_second**2, 0.0))


def _quantile(level: float) -> float:
    if not 0.0 < level < 1.0:
        msg = f"the level of an interval lies between 0 and 1, it is {level}"
        raise ValueError(msg)
    return NormalDist().inv_cdf(0.5 + level / 2)
