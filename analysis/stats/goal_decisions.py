"""A look at a campaign's goal: what its votes decide, and what is expected of the votes still affordable.

The statistics are those of `sequential`; docs/methods/sequential.md says what is estimated and why a decision holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.stats.bootstrap import Floats
from analysis.stats.goals import Goal, GoalKind
from analysis.stats.sequential import TUNED_SHARE, Boundary, Outcome, SystemMeans, enough, holm

Ints = NDArray[np.int64]

#: A decision less probable than this is out of reach.
FUTILE: Final = 0.05
#: Futures that a forecast draws, and the numbers of votes at which it looks at each.
FUTURES: Final = 1000
FUTURE_LOOKS: Final = 40
UNDECIDED: Final = -1


@dataclass(frozen=True)
class Comparison:
    """The difference of two systems' mean grades, with an interval that holds it at all looks together.

    `p` is adjusted for the number of comparisons of the goal and valid at any look.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    p: float


@dataclass(frozen=True)
class MeanGrade:
    """A system's mean grade, with an interval that holds it at all looks together."""

    system: str
    grade: float
    low: float
    high: float


@dataclass(frozen=True)
class Forecast:
    """What is expected of the votes still affordable.

    Attributes
    ----------
    chance : float
        Probability of a decision with them.
    votes : tuple of three floats
        Votes in total at which a tenth, half and nine tenths of futures are decided; infinite where fewer are.
    """

    chance: float
    votes: tuple[float, float, float]


@dataclass(frozen=True)
class Look:
    """What is known about a goal at one time.

    Attributes
    ----------
    outcome : Outcome
    answer : tuple of str or None
        `best`: the best system; `better`: the first system, or nothing if it is not better by more than the margin;
        `ranking`: all systems, best first; `width`: nothing. None if undecided.
    comparisons : tuple of Comparison
        For each two systems of the goal; empty for `width`.
    grades : tuple of MeanGrade
    means : SystemMeans
    forecast : Forecast or None
        None if decided, or if there are not yet enough topics and judges.
    """

    outcome: Outcome
    answer: tuple[str, ...] | None
    comparisons: tuple[Comparison, ...]
    grades: tuple[MeanGrade, ...]
    means: SystemMeans
    forecast: Forecast | None


def boundary_of(goal: Goal, scale: float) -> Boundary:
    """Return the bound of a goal's estimates; it depends on nothing that votes say.

    Parameters
    ----------
    scale : float
        The best grade, that is the number of responses to a topic.
    """
    difference = goal.width / 2 if goal.width is not None else TUNED_SHARE * scale
    return Boundary.tuned(difference, pair_error(goal.kind, len(goal.systems), 1 - goal.confidence))


def pair_error(kind: GoalKind, systems: int, error: float) -> float:
    """Return the two-sided error of each interval such that all of a goal's decisions together have the given one.

    To name a wrong system as best, one of the others must seem better than the best, or the best better than one that
    equals it: as many one-sided errors as there are systems. A wrong ranking has a wrong pair.
    """
    if kind == GoalKind.BETTER:
        return error
    if kind == GoalKind.BEST:
        return min(2 * error / systems, error)
    return error / systems if kind == GoalKind.WIDTH else error / (systems * (systems - 1) / 2)


def decide(goal: Goal, *, difference: ArrayLike, p: ArrayLike, topics: ArrayLike, judges: ArrayLike) -> Ints:
    """Decide a goal about differences, at many looks at once.

    Parameters
    ----------
    difference, p : array_like, shape (..., n_pairs)
        Mean grade of the first less that of the second system, for each pair of the goal's systems in the order of
        `itertools.combinations`; and the p-value of the goal's margin, from `Boundary.p`.
    topics, judges : array_like, shape (...)

    Returns
    -------
    ndarray of int, shape (...)
        -1: undecided. `best`: the index of the best system; `better`: 1 or 0; `ranking`: the index of the best system,
        the others follow by their differences.
    """
    gap, p = np.asarray(difference, dtype=np.float64), np.asarray(p, dtype=np.float64)
    topics, judges = np.asarray(topics), np.asarray(judges)
    systems, error = len(goal.systems), 1 - goal.confidence
    if goal.kind == GoalKind.BETTER:
        answer = np.where(p[..., 0] <= error, (gap[..., 0] > goal.margin).astype(np.int64), UNDECIDED)
        return np.asarray(np.where(enough(topics, judges), answer, UNDECIDED))
    pairs = list(combinations(range(systems), 2))
    sure = p <= pair_error(goal.kind, systems, error) if goal.kind == GoalKind.BEST else holm(p) <= error
    wins = np.zeros((*gap.shape[:-1], systems), dtype=np.int64)
    for index, (first, second) in enumerate(pairs):
        wins[..., first] += sure[..., index] & (gap[..., index] > 0)
        wins[..., second] += sure[..., index] & (gap[..., index] < 0)
    is_decided = wins.max(axis=-1) == systems - 1
    if goal.kind == GoalKind.RANKING:
        is_decided &= sure.all(axis=-1) & (np.sort(wins, axis=-1) == np.arange(systems)).all(axis=-1)
    return np.asarray(np.where(is_decided & enough(topics, judges), wins.argmax(axis=-1), UNDECIDED))


def look(
    goal: Goal,
    means: SystemMeans,
    *,
    systems: Sequence[str],
    scale: float,
    votes_left: int,
    topics_in_all: int,
    rng: np.random.Generator,
) -> Look:
    """Say what is known about a goal.

    Parameters
    ----------
    goal : Goal
    means : SystemMeans
        From `sequential.system_means`.
    systems : sequence of str
        The names of all systems, in the order of `means`.
    scale : float
        The best grade, that is the number of responses to a topic.
    votes_left : int
        How many more votes are affordable.
    topics_in_all : int
        How many topics there are with all of them.
    rng : numpy.random.Generator
        Source of the forecast's futures.

    Raises
    ------
    ValueError
        If a system of the goal is unknown.
    """
    if unknown := set(goal.systems) - set(systems):
        raise ValueError(f"Systems without responses: {', '.join(sorted(unknown))}.")
    index = [list(systems).index(name) for name in goal.systems]
    boundary = boundary_of(goal, scale)
    contrasts = _contrasts(goal, len(systems), index)
    grades = _grades(goal, means, boundary, index, scale)
    if goal.kind == GoalKind.WIDTH:
        comparisons: tuple[Comparison, ...] = ()
        assert goal.width is not None
        is_decided = means.is_enough and all(each.high - each.low <= goal.width for each in grades)
        answer: tuple[str, ...] | None = () if is_decided else None
    else:
        estimate = np.array([contrast @ _finite(means.grade) for contrast in contrasts])
        known = np.array([not np.isnan(means.grade[contrast != 0]).any() for contrast in contrasts])
        spread = np.where(known, [means.variance(contrast) for contrast in contrasts], np.nan)
        comparisons = _comparisons(goal, boundary, estimate, spread, means.freedom, scale)
        p = boundary.p(estimate - goal.margin, spread, means.freedom)
        code = int(decide(goal, difference=estimate, p=p, topics=means.topics, judges=means.judges))
        answer = _answer(goal, code, means.grade[index])
    if answer is not None:
        return Look(Outcome.DECIDED, answer, comparisons, grades, means, None)
    expected = None
    if means.is_enough and not np.isnan(means.grade[index]).any():
        expected = _forecast(goal, boundary, means, contrasts, votes_left, topics_in_all, rng)
    out_of_reach = votes_left == 0 if expected is None else expected.chance < FUTILE
    return Look(Outcome.OUT_OF_REACH if out_of_reach else Outcome.UNDECIDED, None, comparisons, grades, means, expected)


def _contrasts(goal: Goal, systems: int, index: Sequence[int]) -> Floats:
    unit = np.eye(systems)
    if goal.kind == GoalKind.WIDTH:
        return unit[list(index)]
    return np.array([unit[first] - unit[second] for first, second in combinations(index, 2)])


def _grades(
    goal: Goal, means: SystemMeans, boundary: Boundary, index: Sequence[int], scale: float
) -> tuple[MeanGrade, ...]:  # fmt: skip
    """Return the mean grades; all their intervals together hold with the goal's confidence."""
    unit = np.eye(len(means.grade))
    spread = np.array([means.variance(unit[each]) for each in index])
    reach = boundary.reach(spread, means.freedom, (1 - goal.confidence) / len(index))
    return tuple(
        MeanGrade(name, float(means.grade[each]), *_ends(float(means.grade[each]), float(half), 1.0, scale))
        for name, each, half in zip(goal.systems, index, reach, strict=True)
    )


def _ends(value: float, reach: float, least: float, most: float) -> tuple[float, float]:
    """Return the ends of an interval within the possible values; NaN without an interval."""
    if not np.isfinite(reach):
        return float("nan"), float("nan")
    return max(value - reach, least), min(value + reach, most)


def _comparisons(
    goal: Goal, boundary: Boundary, estimate: Floats, spread: Floats, freedom: float, scale: float
) -> tuple[Comparison, ...]:
    error = pair_error(goal.kind, len(goal.systems), 1 - goal.confidence)
    p = boundary.p(estimate - goal.margin, spread, freedom)
    adjusted = holm(p) if goal.kind == GoalKind.RANKING else np.minimum(p * (1 - goal.confidence) / error, 1.0)
    reach = boundary.reach(spread, freedom, error)
    return tuple(
        Comparison(
            *names,
            float(value) if np.isfinite(half) else float("nan"),
            *_ends(float(value), half, 1 - scale, scale - 1),
            float(each),
        )
        for names, value, half, each in zip(
            combinations(goal.systems, 2), estimate, reach.tolist(), adjusted, strict=True
        )
    )


def _answer(goal: Goal, code: int, grade: Floats) -> tuple[str, ...] | None:
    if code == UNDECIDED:
        return None
    if goal.kind == GoalKind.BETTER:
        return (goal.systems[0],) if code else ()
    if goal.kind == GoalKind.BEST:
        return (goal.systems[code],)
    return tuple(goal.systems[index] for index in np.argsort(-grade))


def _finite(values: Floats) -> Floats:
    return np.nan_to_num(values, nan=0.0)


def _forecast(
    goal: Goal, boundary: Boundary, means: SystemMeans, contrasts: Floats, votes_left: int, topics_in_all: int,
    rng: np.random.Generator,
) -> Forecast:  # fmt: skip
    """Draw futures of the estimates, as a Brownian motion from what is known now, and look at each many times.

    Without other knowledge, the final estimate is distributed around the present one with the variance that further
    votes remove. The variance over topics does not shrink with votes, unless they are about new topics.
    """
    growth = np.geomspace(1.0, 1 + votes_left / max(means.votes, 1), FUTURE_LOOKS)
    topics = np.clip(means.topics * growth, means.topics, max(topics_in_all, means.topics))
    judges = means.judges * growth
    over_topics, over_judges = means.over_topics - means.over_cells, means.over_judges - means.over_cells
    parts = [_positive(contrasts @ part @ contrasts.T) for part in (over_topics, over_judges, means.over_cells)]
    covariance = (
        parts[0] * (means.topics / topics)[:, None, None] + (parts[1] + parts[2]) / growth[:, None, None]
    )  # fmt: skip
    spread = np.diagonal(covariance, axis1=1, axis2=2)
    if goal.kind == GoalKind.WIDTH:
        error = (1 - goal.confidence) / len(contrasts)
        reach = boundary.reach(spread, (np.minimum(topics, judges) - 1)[:, None], error)
        assert goal.width is not None
        decided: NDArray[np.bool_] = np.all(2 * reach <= goal.width, axis=1)[None]
    else:
        steps = [_root(before - after) for before, after in pairwise(covariance)]
        moves = np.stack([rng.normal(size=(FUTURES, len(contrasts))) @ step for step in steps], axis=1)
        path = contrasts @ means.grade + np.cumsum(moves, axis=1)
        p = boundary.p(path - goal.margin, spread[1:], (np.minimum(topics, judges) - 1)[1:, None])
        code = decide(goal, difference=path, p=p, topics=topics[1:], judges=judges[1:])
        decided = np.concatenate([np.zeros((FUTURES, 1), dtype=bool), code != UNDECIDED], axis=1)
    first = np.where(decided.any(axis=1), growth[decided.argmax(axis=1)] * means.votes, np.inf)
    ordered = np.sort(first)
    low, middle, high = (float(ordered[int(share * (len(ordered) - 1))]) for share in (0.1, 0.5, 0.9))
    return Forecast(float(decided.any(axis=1).mean()), (low, middle, high))


def _positive(matrix: Floats) -> Floats:
    """Return the nearest matrix without negative variances."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, 0)) @ vectors.T)


def _root(matrix: Floats) -> Floats:
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T)
