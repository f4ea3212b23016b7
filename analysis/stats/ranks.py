"""Rank intervals: the uncertainty of grades, by resampling their comparisons (design 7.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from analysis.stats.bootstrap import Floats
from analysis.stats.bradley_terry import BradleyTerrySettings, Tallies, fit, tally

# Approximate number of problems in one batch; resamples are fitted in batches.
_PROBLEMS_AT_ONCE = 4_000


@dataclass(frozen=True, eq=False)
class RankIntervals:
    """Bootstrap intervals of the grades.

    Attributes
    ----------
    low, high : ndarray of shape (n_problems, n_items)
        The interval of an item's grade in the share `level` of the resamples, rounded outwards to grades that occurred.
        NaN for items without comparisons, and in problems with a single comparison, whose resamples are all equal.
    level : float
        The share of resamples in the interval.
    resamples : int
        Number of resamples.
    not_converged : int
        Number of fits that did not converge, over all problems and resamples; 0 is expected.
    """

    low: Floats
    high: Floats
    level: float
    resamples: int
    not_converged: int


def rank_intervals(
    problem: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    outcome: ArrayLike,
    *,
    rng: np.random.Generator,
    weight: ArrayLike | None = None,
    problems: int | None = None,
    items: int | None = None,
    resamples: int = 1000,
    level: float = 0.95,
    settings: BradleyTerrySettings | None = None,
) -> RankIntervals:
    """Bootstrap the grades of every problem over its comparisons.

    Each resample draws as many comparisons (presented pairs with their label) of a problem as it has, with replacement,
    and refits the grades. An item without comparisons in a resample is graded by its dummy comparisons alone.

    Parameters
    ----------
    problem, first, second, outcome, weight, problems, items
        As for `analysis.stats.bradley_terry.tally`.
    rng : numpy.random.Generator
        Source of random draws.
    resamples : int
        Number of resamples.
    level : float
        The share of resamples in the intervals.
    settings : BradleyTerrySettings, optional
        The model's constants.

    Returns
    -------
    RankIntervals

    Raises
    ------
    ValueError
        If `level` is not between 0 and 1 or there are no resamples; and for all errors of `tally`.

    Examples
    --------
    The first response wins twice against each of the others; the order of the others is uncertain.

    >>> first, second, outcome = [0, 0, 1, 0, 0], [1, 2, 2, 1, 2], [-1, -1, 0, -1, -1]
    >>> sure = rank_intervals([0] * 5, first, second, outcome, rng=np.random.default_rng(0))
    >>> bool(sure.low[0, 0] > sure.low[0, 1])
    True
    """
    if resamples < 1 or not 0.0 < level < 1.0:
        msg = f"a bootstrap needs at least one resample and a level between 0 and 1, not {resamples} and {level}"
        raise ValueError(msg)
    data = tally(problem, first, second, outcome, weight=weight, problems=problems, items=items)
    p = np.asarray(problem, dtype=np.int64)
    order = np.argsort(p, kind="stable")
    p, i, j = p[order], np.asarray(first)[order], np.asarray(second)[order]
    y = np.asarray(outcome, dtype=np.float64)[order]
    w = np.ones(len(p)) if weight is None else np.asarray(weight, dtype=np.float64)[order]
    n_problems, n_items = data.present.shape
    sizes = np.bincount(p, minlength=n_problems)
    begin = (np.cumsum(sizes) - sizes)[p]
    point = fit(data, settings=settings).merit
    grades = []
    not_converged = 0
    sampled_count = 0
    while sampled_count < resamples:
        count = min(resamples - sampled_count, max(1, _PROBLEMS_AT_ONCE // n_problems))
        resampled_rows = begin + np.floor(rng.random((count, len(p))) * sizes[p]).astype(np.int64)
        problem_index = (np.arange(count)[:, None] * n_problems + p).ravel()
        flat = resampled_rows.ravel()
        total = count * n_problems
        sample = tally(problem_index, i[flat], j[flat], y[flat], weight=w[flat], problems=total, items=n_items)
        present = np.tile(data.present, (count, 1))
        start = np.tile(point, (count, 1))
        fitted = fit(Tallies(sample.wins, sample.ties, present), settings=settings, start=start, errors=False)
        not_converged += int((~fitted.converged).sum())
        grades.append(fitted.grade.reshape(count, n_problems, n_items))
        sampled_count += count
    tail = (1.0 - level) / 2.0
    sampled = np.concatenate(grades)
    has_interval = data.present & (sizes[:, None] > 1)
    low = np.where(has_interval, np.quantile(sampled, tail, axis=0, method="lower"), np.nan)
    high = np.where(has_interval, np.quantile(sampled, 1.0 - tail, axis=0, method="higher"), np.nan)
    return RankIntervals(low, high, level, resamples, not_converged)
