"""Merits, mean grades and win shares of entities of a board, with their terms by topic.

`entities` are those that are returned, in this order; None: all. The others count as opponents.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.stats import bradley_terry, sparse_bradley_terry
from analysis.stats.assisted import ByTopic
from analysis.stats.bootstrap import Floats
from analysis.stats.bradley_terry import NoComparisonsError

from ...inputs.arrays import Ints
from ..leaderboard.boards import Board
from .scored_pairs import Bools, ScoredPairs

OUTCOMES = (-1.0, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Sides:
    """The two sides of pairs of different entities.

    Attributes
    ----------
    entity, topic : ndarray of int, shape (2 n,)
        Left sides, then right sides.
    score, weight : ndarray of shape (2 n,)
    """

    entity: Ints
    topic: Ints
    score: Floats
    weight: Floats

    @classmethod
    def of(cls, board: Board, pairs: ScoredPairs) -> Sides:
        """Return the sides of pairs of different entities."""
        left, right = board.whose[pairs.left], board.whose[pairs.right]
        differ = left != right
        score = pairs.score[differ]
        topic = pairs.topic[differ]
        return cls(
            np.concatenate([left[differ], right[differ]]),
            np.concatenate([topic, topic]),
            np.concatenate([score, 1.0 - score]),
            np.tile(pairs.weight[differ], 2),
        )


def has_topic(board: Board, pairs: ScoredPairs, topics: int) -> Bools:
    """Return the topics in which each entity was compared with another, shape (n_entities, n_topics)."""
    sides = Sides.of(board, pairs)
    compared = np.zeros((len(board.names), topics), dtype=bool)
    compared[sides.entity, sides.topic] = True
    return compared


def win_shares(board: Board, pairs: ScoredPairs, topics: int, entities: Ints | None = None) -> ByTopic:
    """Return each entity's mean score against others; NaN if it was not compared."""
    sides = Sides.of(board, pairs)
    index_of, count = _indices(board, entities)
    group = index_of[sides.entity]
    keep = group >= 0
    return means_by(group[keep], sides.score[keep], sides.topic[keep], (count, topics), sides.weight[keep])


def _indices(board: Board, entities: Ints | None) -> tuple[Ints, int]:
    """Return the index of each entity of the board among the chosen ones (-1: none), and their number."""
    if entities is None:
        return np.arange(len(board.names)), len(board.names)
    index_of = np.full(len(board.names), -1, dtype=np.int64)
    index_of[entities] = np.arange(len(entities))
    return index_of, len(entities)


def head_to_head(board: Board, pairs: ScoredPairs, entities: Ints, topics: int) -> ByTopic:
    """Return the mean score of each two of the entities against each other.

    Of shape (k (k - 1) / 2,), in the order of `numpy.triu_indices`; NaN if they were never compared.
    """
    index_of, _count = _indices(board, entities)
    left, right = index_of[board.whose[pairs.left]], index_of[board.whose[pairs.right]]
    keep = (left >= 0) & (right >= 0) & (left != right)
    left, right, score = left[keep], right[keep], pairs.score[keep]
    number = np.full((len(entities), len(entities)), -1, dtype=np.int64)
    first, second = np.triu_indices(len(entities), 1)
    number[first, second] = np.arange(len(first))
    pair = number[np.minimum(left, right), np.maximum(left, right)]
    score = np.where(left < right, score, 1.0 - score)
    return means_by(pair, score, pairs.topic[keep], (len(first), topics), pairs.weight[keep])


def means_by(group: Ints, values: Floats, topic: Ints, shape: tuple[int, int], weight: Floats | None = None) -> ByTopic:
    """Return the mean of each group's values with its terms by topic; NaN for groups without values.

    `shape` holds the numbers of groups and of topics.
    """
    w = np.ones(len(values)) if weight is None else weight
    cell, cells = group * shape[1] + topic, shape[0] * shape[1]
    weights = np.bincount(cell, weights=w, minlength=cells).reshape(shape)
    sums = np.bincount(cell, weights=w * values, minlength=cells).reshape(shape)
    total = weights.sum(axis=1)
    value = np.divide(sums.sum(axis=1), total, out=np.full(shape[0], np.nan), where=total > 0)
    terms = (sums - weights * np.nan_to_num(value)[:, None]) / np.where(total > 0, total, 1.0)[:, None]
    return ByTopic(value, terms)


def merits(board: Board, pairs: ScoredPairs, topics: int, entities: Ints | None = None) -> ByTopic:
    """Return each entity's merit over all topics, with its influences by topic as terms (infinitesimal jackknife)."""
    chosen = np.arange(len(board.names)) if entities is None else entities
    try:
        met = sparse_bradley_terry.meetings(board.whose[pairs.left], board.whose[pairs.right], len(board.names))
    except NoComparisonsError:
        return ByTopic(np.full(len(chosen), np.nan), np.zeros((len(chosen), topics)))
    parts = [
        sparse_bradley_terry.tally_strata(
            met, np.full(len(pairs.left), outcome), pairs.chances[:, column], pairs.topic, topics
        )
        for column, outcome in enumerate(OUTCOMES)
    ]
    won, lost = (sum(sides[1:], start=sides[0]).tocsr() for sides in zip(*parts, strict=True))
    totals = (np.asarray(side.sum(axis=1)).reshape(-1, 1) for side in (won, lost))
    value = sparse_bradley_terry.fit(met, *totals).merit[:, 0]
    influences = np.nan_to_num(sparse_bradley_terry.influence(met, won, lost, value)[chosen])
    judged = np.zeros(topics, dtype=bool)
    judged[pairs.topic] = True
    centred = influences - influences[:, judged].mean(axis=1, keepdims=True)
    return ByTopic(value[chosen], np.where(judged, centred, 0.0))


@dataclass(frozen=True, eq=False)
class ResponseGrades:
    """Grades of responses in their topics on a common scale, one entry a response and dimension."""

    response: Ints
    topic: Ints
    grade: Floats

    def means(self, board: Board, topics: int, entities: Ints | None = None) -> ByTopic:
        """Return the mean grade of each entity."""
        index_of, count = _indices(board, entities)
        group = index_of[board.whose[self.response]]
        keep = group >= 0
        return means_by(group[keep], self.grade[keep], self.topic[keep], (count, topics))


def grades(pairs: ScoredPairs, usual: int) -> ResponseGrades:
    """Grade the responses of each topic and dimension by the most probable labels (Rao and Kupper).

    Grades of topics with another number of responses than `usual` are stretched to its scale, as for the leaderboard.
    """
    if not len(pairs.left):
        return ResponseGrades(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    dimensions = int(pairs.dimension.max()) + 1
    problems, problem = np.unique(pairs.topic * dimensions + pairs.dimension, return_inverse=True)
    size = int(max(pairs.left.max(), pairs.right.max())) + 1
    members, member = np.unique(
        np.concatenate([problem * size + pairs.left, problem * size + pairs.right]), return_inverse=True
    )
    of_problem, response = np.divmod(members, size)
    sizes = np.bincount(of_problem, minlength=len(problems))
    position = np.arange(len(members)) - (np.cumsum(sizes) - sizes)[of_problem]
    left, right = np.split(position[member], 2)
    outcome = pairs.chances.argmax(axis=1) - 1.0
    fitted = bradley_terry.fit(bradley_terry.tally(problem, left, right, outcome), errors=False)
    grade = fitted.grade[of_problem, position]
    several = sizes[of_problem]
    with np.errstate(divide="ignore", invalid="ignore"):
        grade = np.where(several == usual, grade, 1.0 + (grade - 1.0) * (usual - 1.0) / (several - 1.0))
    known = np.isfinite(grade)
    return ResponseGrades(response[known], problems[of_problem[known]] // dimensions, grade[known])
