"""Estimates from people's judgments of a part of the items, assisted by model judges' votes on all of them.

A statistic of people's votes on a part, such as a mean, a merit or a grade, is corrected by the same statistic of each
judge's votes, computed on the part and on all items:

    assisted = people(part) - sum over judges of lambda * (judge(part) - judge(all))

If the part is a random part of all items, the bracket has the expected value 0 (to first order), whatever the judge
says: a biased judge moves both of its terms. So the estimate is one of what people would say, and lambda only decides
its variance. The lambda with the smallest variance is that of a regression of people's terms by topic on the judge's
terms by topic. For a mean and one judge it is that of PPI++; for other statistics it is the predict-then-debias
estimator, and in surveys it is double sampling for regression.

In small samples a lambda that was tuned on the same topics can hurt. Four things prevent it. Lambda is shrunk towards 0
by its own uncertainty (ridge regression, with the constant of Lawless and Wang: 1 / F). The variance counts the degrees
of freedom that lambda took, and what its error adds. Quantiles are those of Student's t distribution, with one degree
less because the narrower of two intervals is used. Where the interval would not be narrower than that of people alone
by `LEAST_GAIN`, or people judged too few topics, lambda is 0 and the result is that of people alone.

References
----------
Angelopoulos, Duchi and Zrnic, PPI++: Efficient prediction-powered inference, arXiv 2311.01453. Kluger, Lu, Zrnic, Wang
and Bates, Prediction-powered inference with imputed covariates and nonuniform sampling, arXiv 2501.18577 (predict, then
debias). Mani, Xu, Lipton and Oberst, No free lunch: non-asymptotic analysis of prediction-powered inference, arXiv
2505.20178. Cochran, Sampling Techniques (1977), section 12.6. Lawless and Wang, A simulation study of ridge and other
regression estimators (1976), Communications in Statistics A5, 307-323.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from analysis.stats.bootstrap import Floats

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

#: With fewer topics that people judged, lambda is 0: its error costs more than a judge can bring.
FEWEST_TOPICS: Final = 10
#: The interval has to be narrower by this share of its width. Smaller gains are often chance.
LEAST_GAIN: Final = 0.02
#: Several judges have a lambda each if there are this many topics for each of them; otherwise their mean is one judge.
TOPICS_PER_JUDGE: Final = 10
_NOTHING: Final = 1e-12
#: Judges' terms with a smaller root of their correlation matrix are linear combinations of others.
_COLLINEAR: Final = 1e-6


@dataclass(frozen=True, eq=False)
class ByTopic:
    """Statistics with their terms by topic.

    Attributes
    ----------
    value : ndarray of shape (...,)
        The statistics.
    terms : ndarray of shape (..., n_topics)
        The terms whose sum is, to first order, the deviation of each statistic from its true value: for a mean, the
        sum of a topic's deviations from the mean, over the number of all values. 0 for topics without data.
    """

    value: Floats
    terms: Floats


@dataclass(frozen=True, eq=False)
class Assisted:
    """Estimates of people alone, and assisted by judges; each attribute has the shape of the statistics.

    Attributes
    ----------
    people, people_low, people_high : ndarray
        The statistics of people's votes, with their intervals; NaN with fewer than two topics, or if no term varies.
    estimate, low, high : ndarray
        The assisted estimates; those of people where judges were not used.
    weight : ndarray of shape (..., n_judges)
        Lambda of each judge; 0 where judges were not used.
    correlation : ndarray
        Correlation between topics of people's terms with those of the judges as weighted, on the part; NaN if one of
        them does not vary.
    is_used : ndarray of bool
        Whether judges were used.
    """

    people: Floats
    people_low: Floats
    people_high: Floats
    estimate: Floats
    low: Floats
    high: Floats
    weight: Floats
    correlation: Floats
    is_used: Bools

    @property
    def effective_sample(self) -> Floats:
        """How many times as many topics people alone would need for as narrow an interval: at least 1."""
        with np.errstate(invalid="ignore", divide="ignore"):
            factor: Floats = ((self.people_high - self.people_low) / (self.high - self.low)) ** 2
        return factor


def mean(values: ArrayLike, topic: Ints, topics: int, weight: ArrayLike = 1.0) -> ByTopic:
    """Compute a mean with its terms by topic.

    Parameters
    ----------
    values : array_like, shape (n,)
    topic : ndarray of int, shape (n,)
        From 0.
    topics : int
        The number of topics.
    weight : array_like, shape (n,), optional
        Weights of the values.

    Returns
    -------
    ByTopic
        Of shape (); NaN with terms of 0 if there are no values.
    """
    y = np.asarray(values, dtype=np.float64)
    w = np.broadcast_to(np.asarray(weight, dtype=np.float64), y.shape)
    total = float(w.sum())
    if not total > 0:
        return ByTopic(np.array(np.nan), np.zeros(topics))
    value = float((w * y).sum()) / total
    terms: Floats = np.bincount(topic, weights=w * (y - value) / total, minlength=topics).astype(np.float64)
    return ByTopic(np.array(value), terms)


def estimate(
    people: ByTopic,
    on_part: ByTopic,
    on_all: ByTopic,
    *,
    has_people: ArrayLike,
    topics: ArrayLike | None = None,
    level: float = 0.95,
) -> Assisted:
    """Estimate statistics of people's votes with the help of judges.

    Parameters
    ----------
    people : ByTopic
        Of shape (...), with terms (..., n_topics): people's votes.
    on_part, on_all : ByTopic
        Of shape (..., n_judges), with terms (..., n_judges, n_topics): each judge's votes on the items that people
        judged too, and on all items. NaN: the judge has no votes, and is left out.
    has_people : array_like of bool, shape (..., n_topics)
        The topics that people judged.
    topics : array_like, shape (...), optional
        Number of topics that people judged, for degrees of freedom. Default: those of `has_people`.
    level : float
        Coverage of the intervals.

    Returns
    -------
    Assisted

    Raises
    ------
    ValueError
        If `level` is not between 0 and 1.

    Notes
    -----
    With J judges, standardised so that the matrix R of the products of their terms has a diagonal of 1, and r the
    products of their terms with those of people, the weights are (R + I / F)^-1 r, where F is the F statistic of the
    regression. They take tr(R (R + I / F)^-1) degrees of freedom.
    """
    if not 0.0 < level < 1.0:
        msg = f"the level of an interval lies between 0 and 1, it is {level}"
        raise ValueError(msg)
    judged = np.broadcast_to(np.asarray(has_people, dtype=bool), people.terms.shape)
    n = judged.sum(axis=-1) if topics is None else np.asarray(topics)
    n = np.broadcast_to(n, people.value.shape).astype(np.float64)
    gap = on_part.value - on_all.value
    has_votes = np.isfinite(gap)
    gap = np.where(has_votes, gap, 0.0)
    apart = np.where(has_votes[..., None], on_part.terms - on_all.terms, 0.0)
    of_part = np.where(has_votes[..., None], on_part.terms, 0.0)
    tuned = _tuned(people, gap, apart, judged, n, level)
    judges = has_votes.sum(axis=-1)
    if gap.shape[-1] > 1:
        share = has_votes / np.maximum(judges, 1)[..., None]
        together = _tuned(
            people,
            (share * gap).sum(axis=-1, keepdims=True),
            (share[..., None] * apart).sum(axis=-2, keepdims=True),
            judged,
            n,
            level,
        )
        is_few = n < TOPICS_PER_JUDGE * (judges + 1)
        tuned = _Tuned(
            np.where(is_few, together.reach, tuned.reach),
            np.where(is_few[..., None], together.weight * share, tuned.weight),
        )
    quantile = scipy.special.stdtrit(np.maximum(n - 1, _NOTHING), 0.5 + level / 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        reach = quantile * np.sqrt(np.square(people.terms).sum(axis=-1) * n / (n - 1))
    reach = np.where((n > 1) & (reach > _NOTHING), reach, np.nan)
    with np.errstate(invalid="ignore"):
        is_used = (n >= FEWEST_TOPICS) & (tuned.reach <= (1.0 - LEAST_GAIN) * reach) & (tuned.reach > _NOTHING)
    weight = np.where(is_used[..., None], tuned.weight, 0.0)
    value = people.value - (weight * gap).sum(axis=-1)
    assisted_reach = np.where(is_used, tuned.reach, reach)
    return Assisted(
        people=people.value,
        people_low=people.value - reach,
        people_high=people.value + reach,
        estimate=value,
        low=value - assisted_reach,
        high=value + assisted_reach,
        weight=weight,
        correlation=_correlation(people.terms, (tuned.weight[..., None] * of_part).sum(axis=-2), judged),
        is_used=is_used,
    )


@dataclass(frozen=True, eq=False)
class _Tuned:
    """Half the width of the assisted intervals (NaN: undefined), and the weights."""

    reach: Floats
    weight: Floats


def _tuned(people: ByTopic, gap: Floats, apart: Floats, judged: Bools, n: Floats, level: float) -> _Tuned:
    """Tune the weights; `gap` has shape (..., n_judges), `apart` (..., n_judges, n_topics)."""
    topics = apart.shape[-1]
    scale = np.sqrt(np.square(apart).sum(axis=-1))
    scale = np.where(scale > _NOTHING, scale, 1.0)
    x = apart / scale[..., None]
    y = people.terms
    # Principal axes of the judges: one that says the same as others, or always the same, adds none.
    roots, axes = np.linalg.eigh(x @ np.swapaxes(x, -1, -2))
    counts = roots > _COLLINEAR
    roots = np.where(counts, roots, 1.0)
    with_people = (x @ y[..., None])[..., 0]
    along = np.where(counts, (np.swapaxes(axes, -1, -2) @ with_people[..., None])[..., 0], 0.0)
    explained = (np.square(along) / roots).sum(axis=-1)
    total = np.square(y).sum(axis=-1)
    count = np.maximum(counts.sum(axis=-1), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ridge = count * np.maximum(total - explained, 0.0) / (np.maximum(n - 1 - count, 1.0) * explained)
    ridge = np.where(np.isfinite(ridge), ridge, np.inf)[..., None]
    standard = (axes @ (along / (roots + ridge))[..., None])[..., 0]
    taken = np.where(counts & np.isfinite(ridge), roots / (roots + ridge), 0.0).sum(axis=-1)
    residual = y - (standard[..., None] * x).sum(axis=-2)
    # One more degree of freedom: whichever of two intervals is narrower is used.
    left = n - 2 - taken
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = np.where(judged, np.square(residual), 0.0).sum(axis=-1) / left
        of_people = n * squares
        of_rest = np.where(judged, 0.0, np.square(residual)).sum(axis=-1) * topics / (topics - 1)
        # What the error of the weights adds: it is multiplied by how far the part differs from all.
        offset = np.where(counts, (np.swapaxes(axes, -1, -2) @ (gap / scale)[..., None])[..., 0], 0.0)
        of_weights = squares * (np.square(offset) * roots / np.square(roots + ridge)).sum(axis=-1)
        variance = of_people + of_rest + of_weights
        of_t = np.square(variance) / (np.square(of_people + of_weights) / left + np.square(of_rest) / (topics - 1))
        reach = scipy.special.stdtrit(of_t, 0.5 + level / 2) * np.sqrt(variance)
    return _Tuned(np.where(left > 1, reach, np.nan), standard / scale)


def _correlation(first: Floats, second: Floats, judged: Bools) -> Floats:
    """Correlate terms over the topics that people judged; terms have a mean of 0."""
    a, b = (np.where(judged, terms, 0.0) for terms in (first, second))
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation: Floats = (a * b).sum(axis=-1) / np.sqrt(np.square(a).sum(axis=-1) * np.square(b).sum(axis=-1))
    return correlation
