"""Rank correlations: of judgments from contingency tables, and of many short lists at once (design 7.2, 7.4, 7.6).

Judgments have few values. A rank correlation depends only on how often each value of one variable occurs together with
each value of the other. These tables are additive over topics: a resample of topics is a weighted sum of them.

References: Kendall, The Treatment of Ties in Ranking Problems (1945), for tau-b; Spearman's rho is Pearson's
correlation of mid-ranks.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from analysis.stats.bootstrap import Floats

#: Maps tables of shape (n, n_values, n_values) to correlations of shape (n,); NaN if undefined.
Correlation = Callable[[Floats], Floats]


class CorrelationUndefinedError(ValueError):
    """A correlation cannot be computed from these data."""


class TooFewUnitsError(CorrelationUndefinedError):
    """Fewer than two units have both values."""


class ConstantError(CorrelationUndefinedError):
    """One of the variables is constant: the correlation is 0/0."""


def cross_tables(
    first: ArrayLike, second: ArrayLike, topic: ArrayLike, *, topics: int, values: int
) -> NDArray[np.float64]:
    """Count pairs of values by topic.

    Parameters
    ----------
    first, second : array_like of int, shape (n_units,)
        Two values of each unit, as indices in their domain in ascending order, from 0. Negative: missing; units with a
        missing value are ignored.
    topic : array_like of int, shape (n_units,)
        The topic of each unit, from 0.
    topics, values : int
        Number of topics and of values; some may not occur.

    Returns
    -------
    ndarray of shape (n_topics, n_values, n_values)

    Raises
    ------
    ValueError
        If the lists have different lengths, or an index is out of range.
    """
    x, y, t = (np.asarray(array, dtype=np.int64) for array in (first, second, topic))
    if not x.shape == y.shape == t.shape or x.ndim != 1:
        msg = f"first, second and topic must be equally long, they have shapes {x.shape}, {y.shape} and {t.shape}"
        raise ValueError(msg)
    is_known = (x >= 0) & (y >= 0)
    x, y, t = x[is_known], y[is_known], t[is_known]
    if np.any(x >= values) or np.any(y >= values) or np.any((t < 0) | (t >= topics)):
        msg = f"a value lies outside 0 to {values - 1}, or a topic outside 0 to {topics - 1}"
        raise ValueError(msg)
    cells = np.bincount((t * values + x) * values + y, minlength=topics * values * values)
    return cells.reshape(topics, values, values).astype(np.float64)


def tau_b(tables: Floats) -> Floats:
    """Compute Kendall's tau-b of each table: concordant minus discordant pairs, relative to the pairs without ties.

    Parameters
    ----------
    tables : ndarray of shape (n, n_values, n_values)
        How often each value of the first variable occurs with each value of the second, both in ascending order.

    Returns
    -------
    ndarray of shape (n,)
        From -1 to 1; NaN if a variable is constant or there are fewer than two units.
    """
    total = tables.sum(axis=(1, 2))
    concordant = (tables * _beyond(tables)).sum(axis=(1, 2))
    discordant = (tables * _beyond(tables[:, :, ::-1])[:, :, ::-1]).sum(axis=(1, 2))
    pairs = total * (total - 1) / 2
    untied = [pairs - (sums * (sums - 1) / 2).sum(axis=1) for sums in (tables.sum(axis=2), tables.sum(axis=1))]
    return _ratio(concordant - discordant, untied[0], untied[1])


def rho(tables: Floats) -> Floats:
    """Compute Spearman's rho of each table: Pearson's correlation of mid-ranks.

    Parameters
    ----------
    tables : ndarray of shape (n, n_values, n_values)
        As for `tau_b`.

    Returns
    -------
    ndarray of shape (n,)
        From -1 to 1; NaN if a variable is constant or there are fewer than two units.
    """
    total = tables.sum(axis=(1, 2))
    sums = (tables.sum(axis=2), tables.sum(axis=1))
    # Mid-ranks minus the mean rank; the constant 1/2 of both cancels.
    x, y = (np.cumsum(s, axis=1) - s / 2 - total[:, None] / 2 for s in sums)
    covariance = np.einsum("rij,ri,rj->r", tables, x, y)
    return _ratio(covariance, (sums[0] * x**2).sum(axis=1), (sums[1] * y**2).sum(axis=1))


def of_tables(tables: ArrayLike, statistic: Correlation) -> float:
    """Compute a correlation over all units.

    Parameters
    ----------
    tables : array_like, shape (n_topics, n_values, n_values)
        From `cross_tables`.
    statistic : callable
        `tau_b` or `rho`.

    Raises
    ------
    TooFewUnitsError
        If fewer than two units have both values.
    ConstantError
        If a variable is constant.

    Examples
    --------
    >>> round(of_tables(cross_tables([0, 1, 2], [0, 2, 2], [0, 0, 0], topics=1, values=3), tau_b), 4)
    0.8165
    """
    table = np.asarray(tables, dtype=np.float64).sum(axis=0)
    if table.sum() < 2:
        raise TooFewUnitsError("fewer than two pairs have judgments on both: judge the same pairs on both")
    if np.count_nonzero(table.sum(axis=0)) < 2 or np.count_nonzero(table.sum(axis=1)) < 2:
        raise ConstantError("all values of one of the two are equal: a correlation needs different values")
    return float(statistic(table[None])[0])


def resampled(tables: Floats, weights: Floats, statistic: Correlation) -> Floats:
    """Compute a correlation in every resample of topics.

    Parameters
    ----------
    tables : ndarray of shape (n_topics, n_values, n_values)
        From `cross_tables`.
    weights : ndarray of shape (resamples, n_topics)
        From `analysis.stats.bootstrap.resample_weights`; a topic drawn twice counts twice.
    statistic : callable
        `tau_b` or `rho`.

    Returns
    -------
    ndarray of shape (resamples,)
        NaN if undefined.
    """
    values = tables.shape[-1]
    return statistic((weights @ tables.reshape(len(tables), -1)).reshape(-1, values, values))


def _beyond(tables: Floats) -> Floats:
    """Count the units with both a larger first and a larger second value than each cell."""
    beyond = np.zeros_like(tables)
    sums = tables[:, ::-1, ::-1].cumsum(axis=1).cumsum(axis=2)[:, ::-1, ::-1]
    beyond[:, :-1, :-1] = sums[:, 1:, 1:]
    return beyond


def _ratio(covariance: Floats, first: Floats, second: Floats) -> Floats:
    scale = np.sqrt(first * second)
    ratio: Floats = np.divide(covariance, scale, out=np.full(scale.shape, np.nan), where=scale > 0)
    return ratio


def spearman(first: ArrayLike, second: ArrayLike) -> Floats:
    """Compute Spearman's rho along the last axis: Pearson's correlation of mid-ranks.

    Parameters
    ----------
    first, second : array_like, shape (..., n)
        Values of the same units. A unit with NaN in either list is ignored in that pair of lists, so lists of different
        lengths can be stacked.

    Returns
    -------
    ndarray of shape (...)
        From -1 to 1; NaN if fewer than two units have both values, or if one of the lists is constant.

    Raises
    ------
    ValueError
        If the shapes differ.

    References
    ----------
    Spearman, The proof and measurement of association between two things, American Journal of Psychology 15 (1904).

    Examples
    --------
    >>> spearman([[1, 2, 3], [1, 2, 3]], [[10, 30, 20], [5, 5, 5]]).tolist()
    [0.5, nan]
    """
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if x.shape != y.shape or x.ndim < 1:
        msg = f"both lists must have the same shape, they have {x.shape} and {y.shape}"
        raise ValueError(msg)
    missing = np.isnan(x) | np.isnan(y)
    ranks = [_centred_ranks(values, missing) for values in (x, y)]
    covariance = (ranks[0] * ranks[1]).sum(axis=-1)
    scale = np.sqrt((ranks[0] ** 2).sum(axis=-1) * (ranks[1] ** 2).sum(axis=-1))
    correlation: Floats = np.divide(covariance, scale, out=np.full(scale.shape, np.nan), where=scale > 0)
    return np.clip(correlation, -1.0, 1.0)


def _centred_ranks(values: Floats, missing: np.ndarray) -> Floats:
    """Compute mid-ranks minus their mean; 0 if missing."""
    if not values.shape[-1]:
        return values
    n = (~missing).sum(axis=-1, keepdims=True)
    ranks = scipy.stats.rankdata(np.where(missing, np.nan, values), axis=-1, nan_policy="omit")
    centred: Floats = np.where(missing, 0.0, ranks - (n + 1) / 2)
    return centred
