"""Comparisons of the responses to a topic, their grades, and both in resamples and for drawn labels."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from analysis.stats import bradley_terry
from analysis.stats.bootstrap import Floats
from analysis.stats.labels import gold
from analysis.stats.random_streams import KeyedRng
from analysis.stats.threads import map_in_threads
from analysis.stats.unique_columns import unique_columns

from ..inputs.arrays import Ints
from .fits import Fit, Fitted, ResampledFits
from .settings import VOTES

# Number of small problems fitted in one batch.
_PROBLEMS_AT_ONCE = 4_000
#: Number of drawn comparisons in memory at a time.
CELLS_AT_ONCE = 4_000_000
_TAIL = 0.025

#: Grades in many resamples: integers and halves, which single precision represents exactly.
Halves = NDArray[np.float32]

#: Maps a block of resamples to outcomes and weights of the comparisons, each of shape (n_comparisons, resamples).
Draw = Callable[[slice], tuple[Floats, Floats]]


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Comparisons behind the grades: gold labels of presented pairs, or the votes on them.

    Attributes
    ----------
    fits : tuple of Fit
        The graded dimensions.
    fit, unit, coder : ndarray of int, shape (n,)
        Index in `fits`, presented pair and voter of each comparison; the voter of a label is -1.
    problem : ndarray of int, shape (n,)
        Index in `problems`.
    first, second : ndarray of int, shape (n,)
        Left and right response, as indices among the responses judged in the topic.
    outcome, weight : ndarray of shape (n,)
        Outcome -1: the left response is better, 0: neither, 1: the right one. The weight is 1 for labels and the
        voter's competence for votes.
    problems : ndarray of int, shape (n_problems, 2)
        Topic (as numbered in the inputs) and dimension (index in `fits`) graded together.
    """

    fits: tuple[Fit, ...]
    fit: Ints
    unit: Ints
    coder: Ints
    problem: Ints
    first: Ints
    second: Ints
    outcome: Floats
    weight: Floats
    problems: Ints

    @property
    def of_votes(self) -> bool:
        """Whether the comparisons are votes."""
        return bool((self.coder >= 0).any())

    @property
    def is_uncorrected(self) -> bool:
        """Whether the comparisons are single votes of equal weight, since the judges' competence is unknown."""
        return self.fits[0].model is None

    @property
    def of_averaged(self) -> bool:
        """Whether the comparisons are labels averaged over the optima, which have joint draws."""
        return not self.of_votes and all(fit.averaged is not None for fit in self.fits)

    @cached_property
    def chances(self) -> Floats:
        """Probabilities of the outcomes -1, 0 and 1 of labels, shape (n, 3)."""
        chances = np.empty((len(self.unit), 3))
        for number, fit in enumerate(self.fits):
            in_fit = self.fit == number
            chances[in_fit] = fit.posterior[self.unit[in_fit]]
        return chances


@dataclass(frozen=True, eq=False)
class Graded:
    """Grades, one entry for each response and dimension on which it was compared.

    Attributes
    ----------
    topic, response, fit : ndarray of int, shape (n,)
        Topic and response as numbered in the inputs, dimension as index in `comparisons.fits`.
    problem, position : ndarray of int, shape (n,)
        Index of the entry in arrays of shape (n_problems, n_places).
    merit, se, grade : ndarray of shape (n,)
    converged : ndarray of bool, shape (n,)
    """

    comparisons: Comparisons
    topic: Ints
    response: Ints
    fit: Ints
    problem: Ints
    position: Ints
    merit: Floats
    se: Floats
    grade: Floats
    converged: np.ndarray

    @cached_property
    def size(self) -> Ints:
        """Number of responses graded together with each, including itself, shape (n,)."""
        return np.bincount(self.problem)[self.problem]

    @cached_property
    def usual(self) -> int:
        """Most frequent number of responses graded together; the larger one in case of a tie."""
        times = np.bincount(np.bincount(self.problem))
        return int(len(times) - 1 - np.argmax(times[::-1]))

    def comparable(self, grade: Floats) -> Floats:
        """Return grades on a scale common to all topics, from 1 to the most frequent number of responses.

        In topics with another number of responses, grades are stretched linearly, so that the worst and best possible
        grades are the same in all topics. Shape (n,) or (n, resamples).
        """
        size = self.size if grade.ndim == 1 else self.size[:, None]
        return np.where(size == self.usual, grade, 1.0 + (grade - 1.0) * (self.usual - 1.0) / (size - 1.0))


@dataclass(frozen=True, eq=False)
class Imputed:
    """Grades for every draw of the labels, shape (n, draws); mean and variance of the merits over the draws, (n,)."""

    grade: Halves
    merit: Floats
    variance: Floats

    def pooled(self, graded: Graded) -> Graded:
        """Return the means over draws, with standard errors by Rubin's rules.

        The variance within draws is that of the most probable labels.
        """
        grade = self.grade.mean(axis=1, dtype=np.float64)
        between = (1.0 + 1.0 / self.grade.shape[1]) * self.variance
        return replace(graded, grade=grade, merit=self.merit, se=np.sqrt(graded.se**2 + between))


@dataclass(frozen=True, eq=False)
class Resampled:
    """Grades in the resamples of topics, shared by means, tests and the leaderboard.

    Attributes
    ----------
    topics : ndarray of int, shape (n_topics,)
        The graded topics, as numbered in the inputs.
    topic : ndarray of int, shape (n,)
        Topic of each grade, as index in `topics`.
    weights : ndarray of shape (resamples, n_topics)
        How often each topic was drawn.
    grade : ndarray of shape (n, resamples), or None
        Grades in each resample; None if they are the same in all.
    draw : Draw or None
        Comparisons in each resample; None if they are the same in all.
    """

    topics: Ints
    topic: Ints
    weights: Floats
    grade: Halves | None
    draw: Draw | None


def comparisons_of(fitted: Fitted, grades_from: str) -> Comparisons | None:
    """Return the comparisons of a pool, from gold labels or votes; None if no dimension has labels.

    Dimensions without a fit are left out. If no dimension has one because each pair has a single vote (from one model
    judge, for example), the comparisons are these votes, with weight 1.
    """
    preferences = tuple(fit for fit in fitted.fits if fit.dimension.is_preference)
    fits = tuple(fit for fit in preferences if fit.model is not None)
    fits = fits or tuple(fit for fit in preferences if fit.has_single_votes)
    if not fits:
        return None
    parts: list[tuple[np.ndarray, ...]] = []
    for number, fit in enumerate(fits):
        if grades_from == VOTES or fit.model is None:
            unit, coder, value = fit.seen
            outcome = value - 1.0
            weight = np.ones(len(unit)) if fit.model is None else 1.0 - fit.spam_probability[coder]
        else:
            unit = np.flatnonzero(fit.counts.sum(axis=1))
            coder, outcome = np.full(len(unit), -1), gold(fit.posterior)[unit] - 1.0
            weight = np.ones(len(unit))
        parts.append((np.full(len(unit), number), unit, coder, outcome, weight))
    d, unit, coder, outcome, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    pool, place_in_topic = fitted.pool, _places(fitted)
    names, problem = np.unique(pool.topic[unit] * len(fits) + d, return_inverse=True)
    return Comparisons(
        fits=fits,
        fit=d,
        unit=unit,
        coder=coder,
        problem=problem,
        first=place_in_topic[pool.left[unit]],
        second=place_in_topic[pool.right[unit]],
        outcome=outcome.astype(np.float64),
        weight=weight,
        problems=np.stack(np.divmod(names, len(fits)), axis=1),
    )


def grade(fitted: Fitted, comparisons: Comparisons) -> Graded:
    """Grade every response within its topic and dimension; sorted by topic, dimension and response."""
    c = comparisons
    fit_result = bradley_terry.fit(bradley_terry.tally(c.problem, c.first, c.second, c.outcome, weight=c.weight))
    problem, position = np.nonzero(~np.isnan(fit_result.merit))
    members = _members(fitted)
    topic, fit = c.problems[problem].T
    return Graded(
        comparisons=c,
        topic=topic,
        response=np.array(
            [members[t][i] for t, i in zip(topic.tolist(), position.tolist(), strict=True)], dtype=np.int64
        ),
        fit=fit,
        problem=problem,
        position=position,
        merit=fit_result.merit[problem, position],
        se=fit_result.standard_error[problem, position],
        grade=fit_result.grade[problem, position],
        converged=fit_result.converged[problem],
    )


def resampled_grades(graded: Graded, draw: Draw, resamples: int, step: Callable[[str], None]) -> Halves:
    """Compute the grades in every resample, shape (n, resamples)."""
    return impute(graded, draw, resamples, step).grade


def impute(graded: Graded, draw: Draw, draws: int, step: Callable[[str], None]) -> Imputed:
    """Compute grades and merits for every draw, starting from the fitted merits.

    Draws with the same comparisons of a topic and dimension yield the same grades, so these are fitted once.
    """
    c = graded.comparisons
    order = np.argsort(c.problem, kind="stable")
    rows = _Rows(graded, order, np.flatnonzero(np.diff(c.problem[order], prepend=-1)))
    imputed = np.empty((2, len(graded.grade), draws), dtype=np.float32)
    size = max(1, CELLS_AT_ONCE // len(c.unit))
    for begin in range(0, draws, size):
        block = slice(begin, min(begin + size, draws))
        step(f"Grades: draw {begin:,} of {draws:,}")
        outcome, weight = (part[order] for part in draw(block))
        different = unique_columns(rows.begin, outcome, *([] if (weight == 1.0).all() else [weight]))
        fitted = rows.fit_in_batches(different.group, different.column, outcome, weight)
        places = fitted.shape[2]
        cells = different.positions[graded.problem] * places + graded.position[:, None]
        imputed[:, :, block] = fitted.reshape(2, -1).take(cells, axis=1)
    grade, merit = imputed
    variance = merit.var(axis=1, ddof=1, dtype=np.float64) if draws > 1 else np.zeros(len(merit))
    return Imputed(grade, merit.mean(axis=1, dtype=np.float64), variance)


class _Rows:
    """Comparisons sorted by problem, and the starting values of the fits."""

    def __init__(self, graded: Graded, order: Ints, begin: Ints) -> None:
        c = graded.comparisons
        self.begin, self.sizes = begin, np.diff(np.r_[begin, len(order)])
        self.first, self.second = c.first[order], c.second[order]
        self.start = np.full((len(c.problems), int(graded.position.max(initial=0)) + 1), np.nan)
        self.start[graded.problem, graded.position] = graded.merit

    def fit_in_batches(self, problem: Ints, column: Ints, outcome: Floats, weight: Floats) -> Halves:
        """Grade some problems for some draws; return grades and merits, shape (2, n, places)."""
        fitted = np.empty((2, len(problem), self.start.shape[1]), dtype=np.float32)

        def fit(some: slice) -> None:
            grades = self.fit(problem[some], column[some], outcome, weight)
            fitted[:, some] = grades.grade, grades.merit

        map_in_threads(fit, [slice(n, n + _PROBLEMS_AT_ONCE) for n in range(0, len(problem), _PROBLEMS_AT_ONCE)])
        return fitted

    def fit(self, problem: Ints, column: Ints, outcome: Floats, weight: Floats) -> bradley_terry.Grades:
        """Grade some problems for some draws; the results have shape (n, places)."""
        sizes = self.sizes[problem]
        number = np.repeat(np.arange(len(problem)), sizes)
        row = np.arange(len(number)) - np.repeat(np.cumsum(sizes) - sizes - self.begin[problem], sizes)
        drawn, start = np.repeat(column, sizes), self.start[problem]
        tallies = bradley_terry.tally(
            number,
            self.first[row],
            self.second[row],
            outcome[row, drawn],
            weight=weight[row, drawn],
            problems=len(problem),
            items=self.start.shape[1],
        )
        everybody = bradley_terry.Tallies(tallies.wins, tallies.ties, ~np.isnan(start))
        return bradley_terry.fit(everybody, start=start, errors=False)


def only(graded: Graded, problems: np.ndarray) -> Graded:
    """Return the grades of some problems (a mask of `Comparisons.problems`)."""
    if problems.all():
        return graded
    c, kept_grades, new_problem = graded.comparisons, problems[graded.problem], np.cumsum(problems) - 1
    kept_comparisons = problems[c.problem]
    picked = {
        name: getattr(c, name)[kept_comparisons]
        for name in ("fit", "unit", "coder", "first", "second", "outcome", "weight")
    }
    comparisons = replace(c, **picked, problem=new_problem[c.problem[kept_comparisons]], problems=c.problems[problems])
    columns = ("topic", "response", "fit", "position", "merit", "se", "grade", "converged")
    kept = {name: getattr(graded, name)[kept_grades] for name in columns}
    return Graded(comparisons=comparisons, problem=new_problem[graded.problem[kept_grades]], **kept)


def rank_intervals(graded: Graded, draw: Draw, resamples: int, step: Callable[[str], None]) -> tuple[Floats, Floats]:
    """Return the range of each response's grade in 95 % of the draws, rounded outwards to grades that occurred.

    NaN if nothing could be drawn: votes, if every pair has only one.
    """
    if not len(graded.grade):
        return np.zeros(0), np.zeros(0)
    low, high = rank_quantiles(resampled_grades(graded, draw, resamples, step))
    c = graded.comparisons
    if c.of_votes:
        pairs, times = np.unique(np.stack([c.problem, c.unit]), axis=1, return_counts=True)
        several = np.zeros(len(c.problems), dtype=bool)
        several[pairs[0][times > 1]] = True
        certain = several[graded.problem]
        low, high = (np.where(certain, end, np.nan) for end in (low, high))
    return low, high


def rank_quantiles(drawn: Halves) -> tuple[Floats, Floats]:
    """Return the central 95 % of the draws, rounded outwards to grades that occurred.

    These are `numpy.quantile` with the methods "lower" and "higher", which would sort out each end by itself.
    """
    last = drawn.shape[1] - 1
    ends = int(np.floor(last * np.float32(_TAIL))), int(np.ceil(last * np.float32(1.0 - _TAIL)))
    low, high = np.partition(drawn, ends, axis=1)[:, ends].T.astype(np.float64)
    return low, high


def mean_rank_quantiles(drawn: Halves) -> tuple[Floats, Floats]:
    """Return the central 95 % of the draws, widened to the next whole grade if it does not contain the mean."""
    (low, high), mean = rank_quantiles(drawn), drawn.mean(axis=1, dtype=np.float64)
    return np.where(mean < low, np.floor(mean), low), np.where(mean > high, np.ceil(mean), high)


def _members(fitted: Fitted) -> dict[int, list[int]]:
    """Return the responses judged in each topic, in the order of their names."""
    members: dict[int, set[int]] = {}
    for left, right, topic, _name in fitted.pool.units:
        members.setdefault(topic, set()).update((left, right))
    return {topic: sorted(responses) for topic, responses in members.items()}


def _places(fitted: Fitted) -> np.ndarray:
    """Return the index of each response within its topic."""
    members = _members(fitted)
    size = 1 + max(response for responses in members.values() for response in responses)
    place_in_topic = np.full(size, -1, dtype=np.int64)
    for responses in members.values():
        place_in_topic[responses] = np.arange(len(responses))
    return place_in_topic


def of_labels_drawn(comparisons: Comparisons) -> tuple[Draw, int]:
    """Return a source that cycles through the joint draws of the labels, and the number of draws."""
    c = comparisons
    drawn = [fit.averaged.label for fit in c.fits if fit.averaged is not None]
    draws = drawn[0].shape[1]

    def draw(block: slice) -> tuple[Floats, Floats]:
        which = np.arange(block.start, block.stop) % draws
        outcome = np.empty((len(c.unit), len(which)))
        for number, labels in enumerate(drawn):
            here = np.flatnonzero(c.fit == number)
            outcome[here] = labels[c.unit[here][:, None], which] - 1.0
        return outcome, np.ones_like(outcome)

    return draw, draws


def of_labels_left_open(comparisons: Comparisons, draws: KeyedRng) -> Draw:
    """Return a source that draws each label from its posterior, given the competences."""
    c = comparisons
    below = np.empty((len(c.unit), 2))
    for d, fit in enumerate(c.fits):
        assert fit.model is not None
        in_fit = c.fit == d
        below[in_fit] = np.cumsum(fit.posterior[c.unit[in_fit]], axis=1)[:, :2]

    def draw(block: slice) -> tuple[Floats, Floats]:
        chance = draws.uniform(block.stop - block.start, 1)[:, :, 0].T
        outcome = drawn_labels(chance, below)
        return outcome, np.ones_like(outcome)

    return draw


def drawn_labels(chance: Floats, below: Floats) -> Floats:
    """Turn uniform random numbers into outcomes -1, 0 or 1, shape (n, resamples).

    `below` holds the probabilities of A, and of A or N, shape (n, 2).
    """
    return (chance >= below[:, :1]).astype(np.float64) + (chance >= below[:, 1:]) - 1.0


def of_votes_drawn(comparisons: Comparisons, rng: np.random.Generator) -> Draw:
    """Return a source that draws the votes of each presented pair with replacement: other people might have judged."""
    c = comparisons
    _names, stratum = np.unique(c.unit * len(c.fits) + c.fit, return_inverse=True)
    order = np.argsort(stratum, kind="stable")
    sizes = np.bincount(stratum)
    begin, size = (np.cumsum(sizes) - sizes)[stratum], sizes[stratum]

    def draw(block: slice) -> tuple[Floats, Floats]:
        chance = rng.random((block.stop - block.start, len(c.unit))).T
        drawn = order[begin[:, None] + np.floor(chance * size[:, None]).astype(np.int64)]
        return c.outcome[drawn], c.weight[drawn]

    return draw


def of_resampled_fits(comparisons: Comparisons, fitted: Fitted, redrawn: ResampledFits) -> Draw:
    """Return a source of the labels, or votes and weights, in each resample of topics and judges."""
    c = comparisons
    again = [redrawn.fits[fitted.fits.index(fit)] for fit in c.fits]

    def draw(block: slice) -> tuple[Floats, Floats]:
        outcome = np.repeat(c.outcome[:, None], block.stop - block.start, axis=1)
        weight = np.ones_like(outcome)
        for d, resampled_fit in enumerate(again):
            assert resampled_fit is not None
            in_fit = c.fit == d
            if c.of_votes:
                weight[in_fit] = 1.0 - resampled_fit.spam_probability[c.coder[in_fit], block]
                weight[in_fit] *= redrawn.times_drawn(c.coder[in_fit], block)
            else:
                outcome[in_fit] = resampled_fit.label[c.unit[in_fit], block] - 1.0
        return outcome, weight

    return draw
