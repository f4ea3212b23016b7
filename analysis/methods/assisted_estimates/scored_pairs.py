"""Pairs as scored by people and by each model judge, and which of a judge's pairs people judged too."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from analysis.enums import Coders
from analysis.stats.bootstrap import Floats

from ...inputs.arrays import Inputs, Ints, Pool
from ..agreement.compute import coders_of
from ..context import Context
from ..leaderboard.votes_by_judges import labels
from ..model_judges.compute import INFERENCES

Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ScoredPairs:
    """Presented pairs with the probabilities of their labels; a model's label has the probability 1.

    If people's votes count instead of labels, there is an entry for each vote.

    Attributes
    ----------
    left, right : ndarray of int, shape (n,)
        Responses, as numbered in the inputs.
    topic : ndarray of int, shape (n,)
        As numbered in `Scores.topics`.
    dimension : ndarray of int, shape (n,)
        As numbered in `Scores.dimensions`.
    chances : ndarray of shape (n, 3)
        Probabilities that the left response is better, neither, or the right one, times the weight of the entry: 1,
        or the competence of the voter.
    """

    left: Ints
    right: Ints
    topic: Ints
    dimension: Ints
    chances: Floats

    def only(self, keep: Bools) -> ScoredPairs:
        """Return the selected pairs."""
        columns = ("left", "right", "topic", "dimension", "chances")
        return ScoredPairs(*(getattr(self, name)[keep] for name in columns))

    @property
    def weight(self) -> Floats:
        """Weight of each entry, shape (n,)."""
        weight: Floats = self.chances.sum(axis=1)
        return weight

    @property
    def score(self) -> Floats:
        """Expected score of the left response: 1 if it is better, 0.5 if neither is, shape (n,)."""
        weight = self.weight
        score = self.chances[:, 0] + self.chances[:, 1] / 2
        expected: Floats = np.divide(score, weight, out=np.full(len(weight), 0.5), where=weight > 0)
        return expected

    def keys(self, responses: int) -> Ints:
        """Return a number for each dimension and pair of responses, the same for both orders."""
        low, high = np.minimum(self.left, self.right), np.maximum(self.left, self.right)
        return np.asarray((self.dimension * responses + low) * responses + high)

    def by_key(self, responses: int) -> tuple[Ints, Floats]:
        """Return the distinct keys, and the mean lead of the lower-numbered response, from -1 to 1."""
        lead = np.where(self.left < self.right, 1.0, -1.0) * (self.chances[:, 0] - self.chances[:, 2])
        keys, index = np.unique(self.keys(responses), return_inverse=True)
        weight = np.bincount(index, weights=self.weight)
        return keys, np.bincount(index, weights=lead) / np.where(weight > 0, weight, 1.0)


@dataclass(frozen=True, eq=False)
class JudgeScores:
    """A model's labels with one prompt type: on all its pairs, and which of these people judged too."""

    name: str
    inference: str
    pairs: ScoredPairs
    on_part: Bools

    @property
    def part(self) -> ScoredPairs:
        """The pairs that people judged too."""
        return self.pairs.only(self.on_part)

    def of(self, dimension: int) -> JudgeScores:
        """Return the labels of one dimension (-1: all)."""
        keep = (self.pairs.dimension == dimension) | (dimension < 0)
        return replace(self, pairs=self.pairs.only(keep), on_part=self.on_part[keep])


@dataclass(frozen=True, eq=False)
class Scores:
    """Labels of people and of model judges.

    Attributes
    ----------
    topics : ndarray of int, shape (n_topics,)
        Those that somebody judged, as numbered in the inputs.
    dimensions : tuple of str
        Those with labels by people.
    """

    topics: Ints
    dimensions: tuple[str, ...]
    people: ScoredPairs
    judges: tuple[JudgeScores, ...]

    def of(self, dimension: int) -> Scores:
        """Return the labels of one dimension (-1: all)."""
        keep = (self.people.dimension == dimension) | (dimension < 0)
        judges = tuple(judge.of(dimension) for judge in self.judges)
        return replace(self, people=self.people.only(keep), judges=judges)


def scores(analysed: Context) -> Scores | None:
    """Return the labels; None without labels by people, without models, or if the models' judgments were analysed."""
    inputs = analysed.inputs
    people = labels(analysed) if coders_of(inputs.pool) != Coders.MODEL.value else None
    if people is None or not len(people.left):
        return None
    names = tuple(dict.fromkeys(inputs.dimensions[index].name for index in np.unique(people.dimension).tolist()))
    number_of = np.array([names.index(d.name) if d.name in names else -1 for d in inputs.dimensions], dtype=np.int64)
    by_people = ScoredPairs(people.left, people.right, people.topic, number_of[people.dimension], people.chances)
    by_people = by_people.only(people.right >= 0)
    judged = [
        (name, inference, _labels_of(inputs, inputs.pools[pool], name, number_of))
        for pool, inference in INFERENCES.items()
        if pool in inputs.pools
        for name in sorted(inputs.pools[pool].participants)
    ]
    judged = [(name, inference, pairs) for name, inference, pairs in judged if len(pairs.left)]
    if not judged:
        return None
    topics = np.unique(np.concatenate([by_people.topic, *(pairs.topic for _name, _inference, pairs in judged)]))
    size = len(inputs.responses)
    part = by_people.keys(size)

    def numbered(pairs: ScoredPairs) -> ScoredPairs:
        return replace(pairs, topic=np.searchsorted(topics, pairs.topic))

    return Scores(
        topics,
        names,
        numbered(by_people),
        tuple(
            JudgeScores(name, inference, numbered(pairs), np.isin(pairs.keys(size), part))
            for name, inference, pairs in judged
        ),
    )


def _labels_of(inputs: Inputs, pool: Pool, name: str, number_of: Ints) -> ScoredPairs:
    """Return the labels of one model in a pool, on dimensions that people judged; the first of repeated ones counts."""
    is_preference = np.array([dimension.is_preference for dimension in inputs.dimensions], dtype=bool)
    keep = np.flatnonzero(
        (pool.coder == pool.participants.index(name))
        & (pool.right[pool.unit] >= 0)
        & is_preference[pool.dimension]
        & (number_of[pool.dimension] >= 0)
    )
    of_unit = np.stack([number_of[pool.dimension[keep]], pool.left[pool.unit[keep]], pool.right[pool.unit[keep]]])
    keep = keep[np.unique(of_unit, axis=1, return_index=True)[1]]
    unit = pool.unit[keep]
    return ScoredPairs(
        pool.left[unit],
        pool.right[unit],
        pool.topic[unit],
        number_of[pool.dimension[keep]],
        np.eye(3)[pool.value[keep]],
    )
