"""Tests of paired differences, effect sizes, and correction for multiple testing (design 7.3).

Wilcoxon's signed-rank test of differences by topic, the matched-pairs rank-biserial correlation as its effect size, and
the Benjamini-Hochberg adjustment within a table of tests.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from analysis.stats.bootstrap import Floats

#: With fewer nonzero differences, no two-sided p-value can be below 0.05: 2 / 2**5 = 0.0625.
FEWEST = 6
# Maximum number of tied differences for the exact test, as in scipy.
_ENUMERATED = 13
# Differences of grades that are equal up to rounding are ties.
_EQUAL = 1e-9


class TooFewDifferencesError(ValueError):
    """Too few differences are nonzero for a significant result."""


@dataclass(frozen=True)
class SignedRank:
    """Wilcoxon's signed-rank test.

    Attributes
    ----------
    statistic : float
        The smaller of the sums of the ranks of positive and of negative differences.
    p : float
        Two-sided p-value.
    exact : bool
        Whether p comes from the exact distribution; otherwise from the normal approximation with tie correction.
    n : int
        Number of nonzero differences, which were ranked.
    zeros : int
        Number of zero differences, which were dropped.
    """

    statistic: float
    p: float
    exact: bool
    n: int
    zeros: int


def signed_rank(difference: ArrayLike, of: str = "topic") -> SignedRank:
    """Test whether paired differences are symmetric about zero.

    Parameters
    ----------
    difference : array_like, shape (n,)
        One difference per topic. NaN and zeros are dropped (Wilcoxon's method). The rest is ranked by absolute value;
        ties (within 1e-9) get their mean rank.
    of : str
        Unit of a difference in the error message: a topic, a question.

    Returns
    -------
    SignedRank
        p is exact with up to 50 differences without ties, and with up to 13 with ties. Otherwise it comes from the
        normal approximation with tie correction and without continuity correction, as
        ``scipy.stats.wilcoxon(method="auto")`` chooses.

    Raises
    ------
    TooFewDifferencesError
        If fewer than six differences are nonzero; the message distinguishes none from few.

    References
    ----------
    Wilcoxon, Individual comparisons by ranking methods (1945). Biometrics Bulletin 1, 80-83.
    """
    differences = _defined_differences(difference)
    ranked = differences[differences != 0]
    zeros = differences.size - ranked.size
    if not ranked.size:
        reason = f"no {of} has a difference" if zeros else f"no {of} has values on both sides"
        raise TooFewDifferencesError(f"{reason}: there is nothing to test")
    if ranked.size < FEWEST:
        untied = f"1 {of} has a difference" if ranked.size == 1 else f"{ranked.size} {of}s have a difference"
        msg = f"only {untied}: with fewer than {FEWEST}, p cannot be below 0.05"
        raise TooFewDifferencesError(msg)
    tied = np.unique(np.abs(ranked)).size < ranked.size
    if tied and ranked.size <= _ENUMERATED:
        return SignedRank(*_enumerated(ranked), exact=True, n=int(ranked.size), zeros=int(zeros))
    test = scipy.stats.wilcoxon(ranked, zero_method="wilcox", correction=False, method="auto")
    exact = not tied and ranked.size <= 50
    return SignedRank(float(test.statistic), float(test.pvalue), exact, int(ranked.size), int(zeros))


def rank_biserial(difference: ArrayLike, weights: Floats | None = None) -> Floats:
    """Compute the matched-pairs rank-biserial correlation of differences.

    The sum of the ranks of positive differences minus that of negative ones, divided by the sum of all ranks, without
    zeros. 1 if all differences are positive, 0 if both signs balance, -1 if all are negative.

    Parameters
    ----------
    difference : array_like, shape (n,) or (resamples, n)
        One difference per topic; NaN and zeros are dropped.
    weights : ndarray of shape (resamples, n), optional
        How often each topic was drawn (`bootstrap.resample_weights`). Default: once. A topic drawn twice counts as two
        topics with equal differences.

    Returns
    -------
    ndarray of shape (resamples,)
        NaN if no differences remain.

    References
    ----------
    Kerby, The simple difference formula (2014). Comprehensive Psychology 3, 11.IT.3.1; King and Minium, Statistical
    Reasoning in Psychology and Education (2003).

    Examples
    --------
    >>> rank_biserial([1.0, 2.0, -3.0, 4.0]).tolist()  # ranks 1, 2, -3, 4
    [0.4]
    """
    d = np.atleast_2d(np.asarray(difference, dtype=np.float64))
    w = np.ones(d.shape) if weights is None else weights
    # Differences that are equal in all resamples are sorted only once.
    order = np.argsort(np.where(np.isnan(d), np.inf, np.abs(d)), axis=1, kind="stable")
    d = np.take_along_axis(d, order, axis=1)
    w = w[:, order[0]] if len(order) == 1 else np.take_along_axis(w, order, axis=1)
    d, w = np.broadcast_arrays(d, w)
    size, sign = np.abs(d), np.sign(d)
    counts = np.where(np.isnan(d) | (size <= _EQUAL), 0.0, w)
    total = np.cumsum(counts, axis=1)
    # The mean rank of a run of ties: half of the count before it plus the count up to its end, plus one half.
    begins = np.ones(size.shape, dtype=bool)
    begins[:, 1:] = ~(np.diff(size, axis=1) <= _EQUAL)
    ends = np.ones(size.shape, dtype=bool)
    ends[:, :-1] = begins[:, 1:]
    before = np.maximum.accumulate(np.where(begins, total - counts, 0.0), axis=1)
    upto = np.minimum.accumulate(np.where(ends, total, np.inf)[:, ::-1], axis=1)[:, ::-1]
    ranks = counts * (before + upto + 1.0) / 2.0
    rank_sum = ranks.sum(axis=1)
    balance: Floats = (np.where(counts > 0, sign, 0.0) * ranks).sum(axis=1)
    correlation: Floats = np.divide(balance, rank_sum, out=np.full(rank_sum.shape, np.nan), where=rank_sum > 0)
    return correlation


def adjusted(p: ArrayLike) -> Floats:
    """Adjust the p-values of a table of tests for the false discovery rate (Benjamini and Hochberg).

    Parameters
    ----------
    p : array_like, shape (n,)
        NaN: no test was made. NaN is ignored and stays NaN.

    Returns
    -------
    ndarray of shape (n,)
        The procedure rejects the tests with adjusted p at most q at the rate q.

    Raises
    ------
    ValueError
        If a p-value is not between 0 and 1.

    References
    ----------
    Benjamini and Hochberg, Controlling the false discovery rate (1995). JRSS B 57, 289-300.
    """
    p_values = np.asarray(p, dtype=np.float64)
    adjusted_p = np.full(p_values.shape, np.nan)
    is_known = ~np.isnan(p_values)
    if is_known.any():
        adjusted_p[is_known] = scipy.stats.false_discovery_control(p_values[is_known], method="bh")
    return adjusted_p


def _enumerated(difference: Floats) -> tuple[float, float]:
    """Compute the statistic and exact two-sided p from all sign combinations, faster than scipy."""
    ranks = scipy.stats.rankdata(np.abs(difference))
    positive, negative = (float(ranks[side].sum()) for side in (difference > 0, difference < 0))
    smaller = min(positive, negative)
    sums = np.zeros(1)
    for rank in ranks:
        sums = np.concatenate([sums, sums + rank])
    return smaller, min(1.0, 2.0 * float(np.mean(sums <= smaller)))


def _defined_differences(difference: ArrayLike) -> Floats:
    """Return the differences that are not NaN, rounded so that ties are exactly equal."""
    d = np.asarray(difference, dtype=np.float64)
    if d.ndim != 1:
        msg = f"there must be one difference a topic, not an array of shape {d.shape}"
        raise ValueError(msg)
    return np.round(d[~np.isnan(d)] / _EQUAL) * _EQUAL
