"""Comparison of methods on the same queries: means with intervals by query, paired differences, adjusted tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.stats.bootstrap import percentile_interval, resample_weights
from analysis.stats.significance import TooFewDifferencesError, adjusted, signed_rank

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Mean:
    """A mean over queries with its interval; all NaN without queries, `low` and `high` also NaN with only one."""

    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class Difference:
    """Difference between a method and a baseline, over the queries that both answered.

    Attributes
    ----------
    mean : Mean
        Mean of method minus baseline; resampled by query.
    statistic, p, p_adjusted : float
        Wilcoxon's signed-rank test of the paired differences (for exact match, whose differences all have the same
        size, it is McNemar's test). `p_adjusted` is by Benjamini and Hochberg over all tests of a call. NaN if
        undefined.
    note : str
        Why the test is undefined; "" if it is defined.
    """

    mean: Mean
    statistic: float
    p: float
    p_adjusted: float
    note: str = ""


class Resampled:
    """Resamples of the same queries for all comparisons.

    Parameters
    ----------
    queries : int
    resamples : int
    rng : numpy.random.Generator
    """

    def __init__(self, queries: int, resamples: int, rng: np.random.Generator) -> None:
        self.queries = queries
        self._weights = resample_weights(queries, resamples, rng) if queries else np.empty((resamples, 0))

    def mean(self, values: ArrayLike) -> Mean:
        """Return the mean of one value per query, shape (n_queries,), ignoring NaN, also in resamples.

        If all values are 0 or 1, the mean is treated as a share.
        """
        array = np.asarray(values, dtype=np.float64)
        known = array[~np.isnan(array)]
        return self.ratio(array, np.where(np.isnan(array), np.nan, 1.0), share=bool(np.isin(known, (0.0, 1.0)).all()))

    def ratio(self, above: ArrayLike, below: ArrayLike, *, share: bool = False) -> Mean:
        """Return the sum of one value per query divided by the sum of another, without queries where either is NaN.

        A `share` of documents is such a ratio: queries with more documents count more. NaN if the denominator is 0.
        """
        a, b = (np.asarray(values, dtype=np.float64) for values in (above, below))
        is_known = ~(np.isnan(a) | np.isnan(b))
        n = int(is_known.sum())
        a, b, w = a[is_known], b[is_known], self._weights[:, is_known]
        estimate = _over(a.sum(keepdims=True), b.sum(keepdims=True))[0]
        interval = percentile_interval(estimate, _over(w @ a, w @ b), clusters=n, share=share)
        return Mean(float(estimate), interval.low, interval.high, n)

    def differences(self, values: Mapping[str, Floats], baseline: Floats) -> dict[str, Difference]:
        """Compare each method with the baseline.

        Parameters
        ----------
        values : mapping of str to ndarray, shape (n_queries,)
            By method (and measure): all of them are one family of tests.
        baseline : ndarray, shape (n_queries,)
        """
        return corrected({name: self.difference(method_values, baseline) for name, method_values in values.items()})

    def difference(self, values: Floats, baseline: Floats) -> Difference:
        """Compare one method with the baseline, without adjusting the p-value."""
        gap = values - baseline
        mean = self.mean(gap)
        nan = float("nan")
        try:
            test = signed_rank(gap, of="question")
        except TooFewDifferencesError as error:
            return Difference(mean, nan, nan, nan, str(error))
        return Difference(mean, test.statistic, test.p, nan)


def corrected(differences: Mapping[str, Difference]) -> dict[str, Difference]:
    """Adjust the p-values for multiple testing; undefined tests do not count."""
    p = adjusted([difference.p for difference in differences.values()])
    return {
        name: replace(difference, p_adjusted=float(value))
        for (name, difference), value in zip(differences.items(), p, strict=True)
    }


def shares(of: Sequence[Sequence[str]], kinds: Sequence[str], resampled: Resampled) -> dict[str, Mean]:
    """Return the share of items of each kind, with intervals by query.

    Parameters
    ----------
    of : sequence of sequence of str
        The kinds of each query's items; a query may have no items.
    kinds : sequence of str
        Kinds to count.
    resampled : Resampled
        Of the same number of queries.

    Returns
    -------
    dict of str to Mean
        n is the number of queries with items. NaN if there are no items at all.
    """
    total = np.array([float(len(kinds_of_query)) or np.nan for kinds_of_query in of])
    return {
        kind: resampled.ratio([float(list(kinds_of_query).count(kind)) for kinds_of_query in of], total, share=True)
        for kind in kinds
    }


def _over(above: Floats, below: Floats) -> Floats:
    ratio: Floats = np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below != 0)
    return ratio
