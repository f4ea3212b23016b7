"""Wilcoxon signed-rank tests of differences by topic, as table rows: p, effect size, mean difference, intervals."""

import numpy as np

from analysis.stats import significance
from analysis.stats.bootstrap import CORRELATION, Floats, percentile_interval, weighted_mean

from ..inputs.arrays import Ints
from ..tables.rows import NOTE, Row, number

# Number of resamples processed at a time if grades vary between resamples, to limit memory.
_AT_ONCE = 100


def tested_row(difference: Floats, weights: Floats, samples: Floats | None) -> Row:
    """Test the differences of topics, with intervals over topics; p-values are adjusted later.

    `samples`: the differences in each resample, shape (resamples, topics), if they vary between resamples.
    """
    is_defined = ~np.isnan(difference)
    n = int(is_defined.sum())
    # Drop topics early: most pairs of participants share only a few topics.
    difference, weights = difference[is_defined], weights[:, is_defined]
    samples = None if samples is None else samples[:, is_defined]
    row: Row = {"statistic": None, "p": None, "p_adjusted": None}
    try:
        tested = significance.signed_rank(difference)
        row |= {"statistic": number(tested.statistic), "p": number(tested.p)}
    except significance.TooFewDifferencesError as error:
        row[NOTE] = str(error)
    effect = significance.rank_biserial(difference)[0]
    effects = significance.rank_biserial(difference if samples is None else samples, weights)
    sized = percentile_interval(effect, effects, clusters=n, bounds=CORRELATION)
    mean = percentile_interval(_mean(difference), _means(difference, weights, samples), clusters=n)
    row |= {
        "effect": number(effect),
        "n": n,
        "effect_low": number(sized.low) if number(effect) is not None else None,
        "effect_high": number(sized.high) if number(effect) is not None else None,
        "difference": number(mean.estimate),
        "difference_low": number(mean.low),
        "difference_high": number(mean.high),
    }
    return row


def adjust(rows: list[Row]) -> list[Row]:
    """Set the adjusted p-values in the rows of a table."""
    p: Ints | Floats = np.array([np.nan if row["p"] is None else row["p"] for row in rows], dtype=np.float64)
    for row, value in zip(rows, significance.adjusted(p), strict=True):
        row["p_adjusted"] = number(value)
    return rows


def _mean(difference: Floats) -> float:
    is_defined = ~np.isnan(difference)
    return float(difference[is_defined].mean()) if is_defined.any() else float("nan")


def _means(difference: Floats, weights: Floats, samples: Floats | None) -> Floats:
    if samples is None:
        return weighted_mean(difference, np.arange(len(difference)), len(difference))(weights)
    is_defined = ~np.isnan(samples)
    n = (weights * is_defined).sum(axis=1)
    sums = (weights * np.where(is_defined, samples, 0.0)).sum(axis=1)
    means: Floats = np.divide(sums, n, out=np.full(n.shape, np.nan), where=n > 0)
    return means
