"""Anytime-valid analysis of a campaign's goal: decided, undecided, or out of reach (docs/methods/sequential.md).

The estimand is the difference of mean grades of systems, by the votes of the population of judges, over the population
of topics. A topic's n responses are graded from 1 to n: a response's grade is 1 plus the sum of its chances to win
against each other response, a tie being half a win. Mean grades of systems follow by least squares from the votes, and
their covariance from clusters of votes that share a topic or a judge.

The estimate at any time has the covariances of a Brownian motion with drift, observed at its information (the inverse
of its variance), whether the variance comes from judges, whom more votes add, or from topics, which may all be known
already. Robbins' normal mixture therefore bounds it at all times together.

References: Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, Time-uniform central limit theory and asymptotic
confidence sequences (2024), Annals of Statistics 52; Robbins, Statistical methods related to the law of the iterated
logarithm (1970), Annals of Mathematical Statistics 41; Jennison and Turnbull, Group-sequential analysis incorporating
covariate information (1997), JASA 92; Cameron, Gelbach and Miller (2011), Journal of Business & Economic Statistics 29;
Holm (1979), Scandinavian Journal of Statistics 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from analysis.stats.bootstrap import Floats

Ints = NDArray[np.int64]

#: With fewer topics or judges, nothing is decided: a variance of so few clusters is too uncertain.
FEWEST_TOPICS: Final = 10
FEWEST_JUDGES: Final = 20
#: The difference, as a share of the grades' scale, at which the boundary is narrowest.
TUNED_SHARE: Final = 1 / 12


class Outcome(StrEnum):
    """What is known about a goal."""

    DECIDED = "decided"
    UNDECIDED = "undecided"
    OUT_OF_REACH = "out_of_reach"


@dataclass(frozen=True, eq=False)
class Votes:
    """Votes that compare responses of two systems; votes on two responses of one system say nothing here.

    Attributes
    ----------
    first, second : ndarray of int, shape (n_votes,)
        The systems of the two responses, from 0. The side on which a response was shown does not matter.
    score : ndarray of float, shape (n_votes,)
        1 if the first was better, 0 if the second was, 0.5 if neither.
    topic : ndarray of int, shape (n_votes,)
        From 0.
    judge : ndarray of int, shape (n_votes,), or None
        From 0. None if judges were chosen rather than sampled (experts, a model): nothing is said about others.
    weight : ndarray of float, shape (n_votes,), or None
        Inverse of the probability with which the vote's pair was asked, if not all pairs were equally probable. The
        probability must have been known before the vote.
    """

    first: Ints
    second: Ints
    score: Floats
    topic: Ints
    judge: Ints | None
    weight: Floats | None = None

    def __post_init__(self) -> None:
        columns = (self.first, self.second, self.score, self.topic, self.judge, self.weight)
        if len({len(column) for column in columns if column is not None}) != 1:
            raise ValueError("Votes have one system, score, topic and judge each.")
        if np.any(self.first == self.second):
            raise ValueError("A vote compares two different systems.")
        if not np.all((self.score >= 0) & (self.score <= 1)):
            raise ValueError("Scores lie between 0 and 1.")
        if self.weight is not None and not np.all((self.weight > 0) & np.isfinite(self.weight)):
            raise ValueError("Weights are positive numbers.")


@dataclass(frozen=True, eq=False)
class SystemMeans:
    """Mean grades of systems, with their covariance by source.

    Attributes
    ----------
    grade : ndarray of shape (n_systems,)
        NaN for systems that no chain of votes connects with the first one.
    over_topics, over_judges, over_cells : ndarray of shape (n_systems, n_systems)
        Covariance of the grades from clusters of one topic, of one judge, and of one topic and judge.
    votes, topics : int
        How many were used.
    judges : float
        How many were used; infinite if they were chosen rather than sampled.
    """

    grade: Floats
    over_topics: Floats
    over_judges: Floats
    over_cells: Floats
    votes: int
    topics: int
    judges: float

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the variances: one less than there are clusters of the rarer kind."""
        return float(min(self.topics, self.judges) - 1)

    @property
    def is_enough(self) -> bool:
        """Whether there are enough topics and judges for a decision."""
        return bool(enough(self.topics, self.judges))

    def variance(self, contrast: ArrayLike) -> float:
        """Compute the variance of a weighted sum of grades: at least that over topics, and that over judges."""
        c = np.asarray(contrast, dtype=np.float64)
        topics, judges, cells = (float(c @ part @ c) for part in (self.over_topics, self.over_judges, self.over_cells))
        return float(largest(topics, judges, cells))


def largest(topics: Floats | float, judges: Floats | float, cells: Floats | float) -> Any:
    """Return the two-way variance; it cannot truly be smaller than that over topics or over judges."""
    return np.maximum(np.maximum(topics + judges - cells, topics), judges)


def enough(topics: Any, judges: Any) -> Any:
    """Return whether there are enough clusters for a decision."""
    return (topics >= FEWEST_TOPICS) & (judges >= FEWEST_JUDGES)


def system_means(votes: Votes, responses: ArrayLike) -> SystemMeans:
    """Fit mean grades of systems by least squares.

    Parameters
    ----------
    votes : Votes
    responses : array_like of int, shape (n_systems,)
        How many responses each system has to a topic; their sum n is the best grade.

    Returns
    -------
    SystemMeans
        All NaN without votes.

    Examples
    --------
    >>> votes = Votes(*np.array([[0, 0, 1], [1, 1, 0]]), np.array([1.0, 1.0, 0.5]), *np.array([[0, 1, 2], [0, 1, 2]]))
    >>> system_means(votes, [1, 1]).grade.round(3).tolist()  # the first wins 2.5 of 3
    [1.833, 1.167]
    """
    shares = np.asarray(responses, dtype=np.float64)
    systems, scale = len(shares), float(shares.sum())
    weight = np.ones(len(votes.score)) if votes.weight is None else votes.weight
    laplacian = np.zeros((systems, systems))
    for one, other, sign in (
        (votes.first, votes.first, 1), (votes.second, votes.second, 1),
        (votes.first, votes.second, -1), (votes.second, votes.first, -1),
    ):  # fmt: skip
        np.add.at(laplacian, (one, other), sign * weight)
    inverse = np.linalg.pinv(laplacian, hermitian=True)
    together = np.zeros(len(weight), dtype=np.int64)
    effect = inverse @ _by_system(votes, weight * (votes.score - 0.5), together, systems)[0]
    residual = weight * (votes.score - 0.5 - effect[votes.first] + effect[votes.second])
    # Mean grades are relative to that of a random response, so the mean effect is subtracted.
    transform = scale * (np.eye(systems) - shares / scale) @ inverse
    none, clusters = np.zeros((systems, systems)), [votes.topic]
    if votes.judge is not None:
        clusters += [votes.judge, votes.topic * (1 + int(votes.judge.max(initial=0))) + votes.judge]
    parts, counts = [], []
    for cluster in clusters:
        names, index = np.unique(cluster, return_inverse=True)
        sums = _by_system(votes, residual, index, systems) @ transform.T
        parts.append(sums.T @ sums)
        counts.append(len(names))
    topics, judges = counts[0], float("inf") if votes.judge is None else counts[1]
    over_topics = parts[0] * _small_sample(topics)
    over_judges, over_cells = (none, none) if votes.judge is None else (parts[1] * _small_sample(judges), parts[2])
    grade = 1 + (scale - 1) / 2 + scale * (effect - shares @ effect / scale)
    reached = _connected(laplacian)
    return SystemMeans(
        np.where(reached, grade, np.nan), over_topics, over_judges, over_cells, len(weight), topics, judges
    )


def _by_system(votes: Votes, value: Floats, cluster: Ints, systems: int) -> Floats:
    """Sum values of votes by cluster, positive for the first system and negative for the second."""
    rows = int(cluster.max(initial=0)) + 1
    size = rows * systems
    sums = np.bincount(cluster * systems + votes.first, weights=value, minlength=size)
    sums = sums - np.bincount(cluster * systems + votes.second, weights=value, minlength=size)
    return np.asarray(sums.reshape(rows, systems))


def _connected(laplacian: Floats) -> NDArray[np.bool_]:
    _number, part = scipy.sparse.csgraph.connected_components(laplacian != 0, directed=False)
    return np.asarray(part == part[0])


def _small_sample(clusters: float) -> float:
    return clusters / (clusters - 1) if clusters > 1 else float("nan")


@dataclass(frozen=True)
class Boundary:
    """A time-uniform bound of a standardised estimate: Robbins' normal mixture at the estimate's information.

    Attributes
    ----------
    mixture : float
        Precision of the mixture; fixed before the first vote. See `tuned`.
    """

    mixture: float

    @classmethod
    def tuned(cls, difference: float, error: float) -> Boundary:
        """Return the bound that is narrowest when it first excludes 0 for an estimate of this size.

        Parameters
        ----------
        difference : float
            In grades.
        error : float
            Probability of an error at any time; two-sided.
        """
        # The squared bound at its best time, w, solves w - log(w) = 1 - 2 log(error).
        squared = -float(np.real(scipy.special.lambertw(-(error**2) / np.e, -1)))
        return cls(squared / (squared - 1) / difference**2)

    def p(self, estimate: ArrayLike, variance: ArrayLike, freedom: ArrayLike) -> Floats:
        """Compute p-values of zero means that are valid at all times together, two-sided.

        Parameters
        ----------
        estimate, variance, freedom : array_like, broadcast together
            The variance is itself estimated with these degrees of freedom.

        Returns
        -------
        ndarray
            1 where the variance is not positive or NaN.
        """
        value, spread = np.asarray(estimate, dtype=np.float64), np.asarray(variance, dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            information = 1 / spread
            log_tail = _log_tail(np.abs(value) / np.sqrt(spread), np.asarray(freedom, dtype=np.float64))
            normal = -scipy.special.ndtri_exp(log_tail)
            grown = information + self.mixture
            log_p = 0.5 * (np.log(grown / self.mixture) - normal**2 * information / grown)
        known = np.isfinite(spread) & (spread > 0) & np.isfinite(value)
        return np.where(known, np.exp(np.minimum(np.nan_to_num(log_p, nan=0.0), 0.0)), 1.0)

    def reach(self, variance: ArrayLike, freedom: ArrayLike, error: ArrayLike) -> Floats:
        """Compute half the width of an interval that holds the true value at all times together.

        Parameters and units as in `p`; `error` is two-sided. Infinite where the variance is not positive or NaN.
        """
        spread = np.asarray(variance, dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            information = 1 / spread
            grown = information + self.mixture
            normal = np.sqrt(grown / information * np.log(grown / (self.mixture * np.square(error))))
            factor = -scipy.special.stdtrit(np.asarray(freedom, dtype=np.float64), scipy.special.ndtr(-normal))
            reach = factor * np.sqrt(spread)
        return np.where(np.isfinite(spread) & (spread > 0) & np.isfinite(reach), reach, np.inf)


def fixed_p(estimate: ArrayLike, variance: ArrayLike, freedom: ArrayLike) -> Floats:
    """Compute p-values of zero means that are valid at one look only, two-sided; parameters as in `Boundary.p`."""
    value, spread = np.asarray(estimate, dtype=np.float64), np.asarray(variance, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * scipy.special.stdtr(np.asarray(freedom, dtype=np.float64), -np.abs(value) / np.sqrt(spread))
    return np.where((spread > 0) & np.isfinite(p), p, 1.0)


def _log_tail(statistic: Floats, freedom: Floats) -> Floats:
    """Return the log of the upper tail of Student's distribution."""
    tail = scipy.special.stdtr(freedom, -statistic)
    return np.asarray(np.log(np.maximum(tail, 1e-300)))


def holm(p: ArrayLike) -> Floats:
    """Return Holm's adjusted p-values along the last axis; valid at any time if the p-values are."""
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values, axis=-1)
    factors = np.arange(values.shape[-1], 0, -1)
    ascending = np.maximum.accumulate(np.take_along_axis(values, order, axis=-1) * factors, axis=-1)
    adjusted = np.empty_like(values)
    np.put_along_axis(adjusted, order, np.minimum(ascending, 1.0), axis=-1)
    return adjusted
