"""Interdependence of the dimensions: Kendall's tau between gold labels (docs/methods/interdependence.md).

There are no intervals: judges with correlated errors on all dimensions shift all labels, and resampling topics does not
reflect that (docs/methods/intervals.md).

crowdrag25, section 5.1, Table 6.
"""

from dataclasses import replace
from itertools import combinations

import numpy as np

from analysis.stats.bootstrap import CORRELATION, Floats
from analysis.stats.correlation import Correlation, CorrelationUndefinedError, cross_tables, of_tables, resampled, tau_b
from analysis.stats.labels import LABELS, gold

from ...inputs.arrays import Ints
from ...tables.rows import Row
from .. import estimates
from ..context import Context, Tables
from ..estimates import Estimate, noted, undefined
from ..fits import Fit, Fitted

ALL = "all"
ALONE = "there is no other dimension with gold labels"


def compute_tables(analysed: Context) -> Tables:
    """Compute tau for every two dimensions, in both orders as in a matrix, and each one's mean with the others."""
    return {"interdependence": rows_of(analysed.main)}


def labels_of(fit: Fit) -> Ints:
    """Return the gold label of each unit on a dimension as a code; -1 if there is none."""
    labels = np.full(len(fit.counts), -1, dtype=np.int64)
    if fit.model is not None and fit.dimension.is_preference:
        judged = fit.counts.sum(axis=1) > 0
        labels[judged] = gold(fit.posterior)[judged]
    return labels


def correlation(
    first: Ints, second: Ints, topic: Ints, weights: Floats, statistic: Correlation, values: int = len(LABELS)
) -> Estimate:
    """Compute a rank correlation of two lists of codes (negative: missing) with its bootstrap samples."""
    tables = cross_tables(first, second, topic, topics=weights.shape[1], values=values)
    by_topic = tables.sum(axis=(1, 2))
    n = int(by_topic.sum())
    try:
        point = of_tables(tables, statistic)
    except CorrelationUndefinedError as error:
        return undefined(str(error), n)
    return Estimate(
        point, resampled(tables, weights, statistic), int(np.count_nonzero(by_topic)), n, bounds=CORRELATION
    )


def _tau(first: Ints, second: Ints, topic: Ints) -> Estimate:
    """Compute tau of two lists of codes, without an interval."""
    tau = correlation(first, second, topic, np.ones((1, int(topic.max(initial=0)) + 1)), tau_b)
    return tau if tau.problem else replace(tau, samples=np.zeros(0), has_interval=False)


def rows_of(main: Fitted) -> list[Row]:
    """Return the rows of the matrix, dimensions in questionnaire order; units are presented pairs."""
    fits = [fit for fit in main.fits if fit.dimension.is_preference]
    if not fits:
        return []
    topic = main.pool.topic
    labels = {fit.dimension.name: labels_of(fit) for fit in fits}
    problems = {fit.dimension.name: fit.problem for fit in fits}
    taus: dict[tuple[str, str], Estimate] = {}
    for one, other in combinations(labels, 2):
        problem = problems[one] or problems[other]
        tau = undefined(problem) if problem else _tau(labels[one], labels[other], topic)
        taus[one, other] = taus[other, one] = tau
    rows = []
    means = []
    for one in labels:
        dimension_taus = [taus[one, other] for other in labels if other != one]
        means.append(estimates.mean(dimension_taus) if dimension_taus else undefined(problems[one] or ALONE))
        rows += [_row(one, other, taus[one, other]) for other in labels if other != one]
        rows.append(_row(one, ALL, means[-1]))
    return [*rows, _row(ALL, ALL, estimates.mean(means))]


def _row(one: str, other: str, tau: Estimate) -> Row:
    return noted({"dimension_1": one, "dimension_2": other} | tau.columns("tau") | {"items": tau.n}, [tau.note])
