"""Statistics with their bootstrap samples; means and differences of several.

Statistics reported together use the same resamples, or keep their terms, so that their means and differences have
intervals too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.stats import agreement
from analysis.stats.bootstrap import Floats, Statistic, percentile_interval
from analysis.stats.cluster_variance import Clusters, Terms, combined, interval_of, variance
from analysis.stats.proportions import effective_wilson

from ..inputs.arrays import Ints
from ..tables.rows import NOTE, Row, number
from . import response_groups
from .agreement import compute as agreement_compute

NOTHING = "there are no data to compute it from"
#: Why shares of the judgments of drawn judges have no interval.
FEW_JUDGES = "no interval: an interval needs at least two topics and two judges (no minimum for experts and models)"


@dataclass(frozen=True, eq=False)
class Estimate:
    """A statistic with its bootstrap samples and number of topics, or the reason why it is undefined.

    Attributes
    ----------
    point : float
        NaN if undefined.
    samples : ndarray of shape (resamples,)
        NaN in resamples in which it is undefined.
    topics : int
        Number of topics with data.
    n : int
        Number of observations.
    problem : str
        Why it is undefined; empty if it is defined.
    terms : Terms or None
        Only of alpha and values derived from it: the interval follows from the terms, and `samples` is empty.
    most : float or None
        Upper bound of a statistic with terms.
    is_share : bool
        Whether a statistic with terms is a share.
    bounds : (float, float)
        Lower and upper bound of a statistic with samples.
    has_interval : bool
        False if no interval would have its nominal coverage.
    """

    point: float
    samples: Floats
    topics: int
    n: int
    problem: str = ""
    terms: Terms | None = None
    most: float | None = None
    bounds: tuple[float, float] = (-np.inf, np.inf)
    has_interval: bool = True
    is_share: bool = False

    @property
    def note(self) -> str:
        """Reason why the value or its interval is missing, for readers."""
        if self.problem or not self.has_interval or self.interval[0] is not None:
            return self.problem
        if self.terms is None or self.terms.first is None:
            return response_groups.ONE_TOPIC
        return FEW_JUDGES if self.is_share else agreement_compute.ONE_TOPIC

    @property
    def interval(self) -> tuple[float | None, float | None]:
        """Both ends of the interval; None if there is no interval."""
        if self.problem or not self.has_interval:
            return None, None
        if self.terms is not None:
            if self.is_share:
                low, high = effective_wilson(self.point, *variance(self.terms))
            else:
                low, high = interval_of(self.point, self.terms, upper_bound=self.most)
            return number(low), number(high)
        percentiles = percentile_interval(self.point, self.samples, clusters=self.topics, bounds=self.bounds)
        return number(percentiles.low), number(percentiles.high)

    def columns(self, name: str, low: str = "low", high: str = "high") -> dict[str, float | None]:
        """Return the value and interval as columns of a table."""
        ends = self.interval
        return {name: number(self.point), low: ends[0], high: ends[1]}


def undefined(problem: str, n: int = 0) -> Estimate:
    """Return an undefined statistic."""
    return Estimate(float("nan"), np.zeros(0), 0, n, problem)


def alpha(
    votes: tuple[Ints, Ints, Ints],
    topic: Ints,
    *,
    values: int,
    drawn_coders: bool,
    domain: Sequence[float] | None = None,
    shared: agreement.SharedPairs | None = None,
) -> Estimate:
    """Compute Krippendorff's alpha, with its interval over topics, and over judges if they were drawn.

    `votes`: unit, coder and value; `topic`: the topic of each unit; `domain`: the values of a rating, None for A, N and
    B; `shared`: pairs of judges whose clusters are known. `n` is the number of units with at least two votes.
    """
    counts = agreement.count_values(*votes, units=len(topic), values=values)
    pairable = counts.sum(axis=1) > 1
    n = int(pairable.sum())
    try:
        point = agreement.alpha(np.where(pairable[:, None], counts, 0), values=domain)
    except agreement.AlphaUndefinedError as error:
        return undefined(str(error), n)
    pairs = None if shared is None else shared.select(votes[0], votes[1])
    terms = agreement.alpha_terms(*votes, topic, values=values, drawn_coders=drawn_coders, domain=domain, pairs=pairs)
    return Estimate(point, np.zeros(0), terms.topics, n, terms=terms, most=1.0)


def share(
    yes: NDArray[np.bool_], topic: Ints, coder: Ints | None, *, problem: str, clusters: Clusters | None = None
) -> Estimate:
    """Compute the share of positive votes, with its interval over topics, and over judges if they were drawn.

    `problem` is the reason given if there are no votes; `clusters` those of the votes, if several shares have the same.
    """
    n = len(yes)
    if not n:
        return undefined(problem)
    point = float(np.mean(yes))
    terms = Terms(clusters or Clusters(topic, coder, None), (yes - point) / n)
    return Estimate(point, np.zeros(0), terms.topics, n, terms=terms, is_share=True)


def of_clusters(statistic: Statistic, weights: Floats, *, topics: int, n: int, problem: str = NOTHING) -> Estimate:
    """Compute a statistic of weighted topics; `problem` is the reason given if it is undefined."""
    point = float(statistic(np.ones((1, weights.shape[1])))[0])
    return undefined(problem, n) if np.isnan(point) else Estimate(point, statistic(weights), topics, n)


def mean(parts: Sequence[Estimate]) -> Estimate:
    """Return the mean of the defined estimates; `n` is the largest of theirs."""
    defined = [part for part in parts if not part.problem]
    if not defined:
        return undefined(parts[0].problem if parts else NOTHING)
    point = float(np.mean([part.point for part in defined]))
    topics, n = max(part.topics for part in defined), max(part.n for part in defined)
    if not all(part.has_interval for part in defined):
        return Estimate(point, np.zeros(0), topics, n, has_interval=False)
    terms = [part.terms for part in defined if part.terms is not None]
    if len(terms) == len(defined):
        whole = combined(terms, [1 / len(terms)] * len(terms))
        return Estimate(point, np.zeros(0), topics, n, terms=whole, most=defined[0].most, is_share=defined[0].is_share)
    samples: Floats = np.mean([part.samples for part in defined], axis=0)
    return Estimate(point, samples, topics, n, bounds=defined[0].bounds)


def difference(first: Estimate, second: Estimate) -> Estimate:
    """Return the first minus the second; `n` is the smaller of theirs."""
    if problem := first.problem or second.problem:
        return undefined(problem)
    point = first.point - second.point
    topics, n = min(first.topics, second.topics), min(first.n, second.n)
    if first.terms is not None and second.terms is not None:
        return Estimate(point, np.zeros(0), topics, n, terms=combined([first.terms, second.terms], [1.0, -1.0]))
    samples: Floats = first.samples - second.samples
    return Estimate(point, samples, topics, n)


def largest(differences: Sequence[Estimate]) -> Estimate:
    """Return the largest absolute difference, without an interval.

    It is never negative, so no interval of it would cover a true difference of 0.
    """
    if problem := next((difference.problem for difference in differences if difference.problem), ""):
        return undefined(problem)
    point = max(abs(difference.point) for difference in differences)
    topics, n = min(difference.topics for difference in differences), min(difference.n for difference in differences)
    return Estimate(point, np.zeros(0), topics, n, has_interval=False)


def noted(row: Row, notes: Sequence[str]) -> Row:
    """Add notes to a row, without duplicates."""
    distinct_notes = list(dict.fromkeys(note for note in notes if note))
    return row | {NOTE: "; ".join(distinct_notes)} if distinct_notes else row
