"""A statistic with its values in the resamples: what tables hold of it, and means and differences of several.

Statistics that stand beside each other are computed from the same resamples, so that their means and differences have
intervals too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.stats import agreement
from analysis.stats.bootstrap import Floats, Statistic, percentile_interval

from .agreement import ONE_TOPIC
from .schema import NOTE, Row, number

NOTHING = "there is nothing to compute it from"


@dataclass(frozen=True, eq=False)
class Estimate:
    """A statistic, its values in the resamples, and of how many topics; or why it cannot be said.

    Attributes
    ----------
    point : float
        NaN where undefined.
    samples : ndarray of shape (resamples,)
        NaN in resamples where it is undefined.
    topics : int
        How many topics hold what it is of.
    n : int
        How many things it is of.
    problem : str
        Why it is undefined; empty where it is defined.
    """

    point: float
    samples: Floats
    topics: int
    n: int
    problem: str = ""

    @property
    def note(self) -> str:
        """What a reader must know of it: why it or its interval is not there."""
        return self.problem or (ONE_TOPIC if self.interval[0] is None else "")

    @property
    def interval(self) -> tuple[float | None, float | None]:
        """The ends of its interval."""
        if self.problem:
            return None, None
        found = percentile_interval(self.point, self.samples, clusters=self.topics)
        return number(found.low), number(found.high)

    def columns(self, name: str, low: str = "low", high: str = "high") -> dict[str, float | None]:
        """Its columns in a table."""
        ends = self.interval
        return {name: number(self.point), low: ends[0], high: ends[1]}


def undefined(problem: str, n: int = 0) -> Estimate:
    """A statistic that cannot be said."""
    return Estimate(float("nan"), np.zeros(0), 0, n, problem)


def alpha(counts: NDArray[np.int64], topic: NDArray[np.int64], weights: Floats, **how: Any) -> Estimate:
    """Krippendorff's alpha of values counted by unit; n is how many units have two judgments."""
    pairable = counts.sum(axis=1) > 1
    n = int(pairable.sum())
    used = np.where(pairable[:, None], counts, 0)
    try:
        point = agreement.alpha(used, **how)
    except agreement.AlphaUndefinedError as error:
        return undefined(str(error), n)
    per_topic = agreement.topic_coincidences(used, topic, topics=weights.shape[1])
    samples = agreement.resampled_alpha(per_topic, weights, **how)
    return Estimate(point, samples, len(np.unique(topic[pairable])), n)


def of_clusters(statistic: Statistic, weights: Floats, *, topics: int, n: int, problem: str = NOTHING) -> Estimate:
    """A statistic of weighted topics; `problem` says why where it is undefined."""
    point = float(statistic(np.ones((1, weights.shape[1])))[0])
    return undefined(problem, n) if np.isnan(point) else Estimate(point, statistic(weights), topics, n)


def mean(parts: Sequence[Estimate]) -> Estimate:
    """The mean of those that are defined; n is that of the largest."""
    defined = [each for each in parts if not each.problem]
    if not defined:
        return undefined(parts[0].problem if parts else NOTHING)
    point = float(np.mean([each.point for each in defined]))
    samples: Floats = np.mean([each.samples for each in defined], axis=0)
    return Estimate(point, samples, max(each.topics for each in defined), max(each.n for each in defined))


def difference(first: Estimate, second: Estimate) -> Estimate:
    """The first less the second; n is that of the smaller."""
    if problem := first.problem or second.problem:
        return undefined(problem)
    samples: Floats = first.samples - second.samples
    topics, n = min(first.topics, second.topics), min(first.n, second.n)
    return Estimate(first.point - second.point, samples, topics, n)


def largest(differences: Sequence[Estimate]) -> Estimate:
    """The largest of the absolute differences, which is never below 0."""
    if problem := next((each.problem for each in differences if each.problem), ""):
        return undefined(problem)
    point = max(abs(each.point) for each in differences)
    samples: Floats = np.max([np.abs(each.samples) for each in differences], axis=0)
    return Estimate(point, samples, min(e.topics for e in differences), min(e.n for e in differences))


def noted(row: Row, notes: Sequence[str]) -> Row:
    """A row with what must be said of it, each thing once."""
    said = list(dict.fromkeys(note for note in notes if note))
    return row | {NOTE: "; ".join(said)} if said else row
