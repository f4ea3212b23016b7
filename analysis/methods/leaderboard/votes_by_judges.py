"""Judgments of pairs by kind of judges: the crowd, the corrected crowd, experts, and language models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.enums import Coders

from ...inputs.arrays import COMBINED, EXPERT, INDIVIDUAL, Inputs, Ints, Pool
from ..agreement.compute import CHOSEN, coders_of
from ..context import Context

#: Name of all styles or dimensions together.
ALL = "all"
#: Gold labels instead of judgments.
GOLD = "gold"


@dataclass(frozen=True, eq=False)
class PairVotes:
    """Judgments of pairs, or the probabilities of their labels; one entry each.

    Attributes
    ----------
    left, right, topic, dimension : ndarray of int, shape (n,)
        As numbered in the inputs.
    chances : ndarray of shape (n, 3)
        Probabilities that the left response is better, neither, or the right one; for a judgment, one of them is 1.
    coder : ndarray of int, shape (n,), or None
        The judge; None for labels, and if the judges were selected.
    """

    left: Ints
    right: Ints
    topic: Ints
    dimension: Ints
    chances: NDArray[np.float64]
    coder: Ints | None = None

    def only(self, keep: NDArray[np.bool_]) -> PairVotes:
        """Return the selected entries."""
        return PairVotes(
            left=self.left[keep],
            right=self.right[keep],
            topic=self.topic[keep],
            dimension=self.dimension[keep],
            chances=self.chances[keep],
            coder=None if self.coder is None else self.coder[keep],
        )

    def by_pair(self) -> PairVotes:
        """Return one entry for each presented pair and dimension, with the shares of its judgments."""
        keys = np.stack([self.dimension, self.left, self.right], axis=1)
        _rows, first, index, counts = np.unique(
            keys, axis=0, return_index=True, return_inverse=True, return_counts=True
        )
        shares = np.zeros((len(first), 3))
        np.add.at(shares, index.ravel(), self.chances)
        return PairVotes(
            left=self.left[first],
            right=self.right[first],
            topic=self.topic[first],
            dimension=self.dimension[first],
            chances=shares / counts[:, None],
        )


def votes_by_judges(analysed: Context) -> dict[str, PairVotes]:
    """Return the judgments of pairs by kind of judges, with the names of `Coders`."""
    inputs, main = analysed.inputs, coders_of(analysed.inputs.pool)
    parts = {main: [inputs.main]}
    if main == Coders.CROWD:
        parts[Coders.CORRECTED.value] = []
    if EXPERT in inputs.pools and main != Coders.EXPERT:
        parts[Coders.EXPERT.value] = [inputs.pools[EXPERT]]
    if main != Coders.MODEL:
        parts[Coders.MODEL.value] = [inputs.pools[name] for name in (COMBINED, INDIVIDUAL) if name in inputs.pools]
    votes = {
        judges: _joined([_votes(inputs, pool, drawn=judges not in CHOSEN) for pool in pools])
        for judges, pools in parts.items()
        if pools
    }
    if Coders.CORRECTED in parts:
        votes = {main: votes[main], Coders.CORRECTED.value: _trusted(analysed, votes[main])} | votes
    return {judges: of_judges for judges, of_judges in votes.items() if len(of_judges.left)}


def labels(analysed: Context) -> PairVotes | None:
    """Return the probabilities of the gold labels of all pairs; None without labels."""
    if analysed.graded is None:
        return None
    comparisons, pool = analysed.graded[0].comparisons, analysed.main.pool
    if comparisons.of_averaged:
        chances = comparisons.chances
    else:
        chances = np.eye(3)[(comparisons.outcome + 1).astype(np.int64)] * comparisons.weight[:, None]
    dimension = np.array([analysed.inputs.dimensions.index(fit.dimension) for fit in comparisons.fits], dtype=np.int64)
    unit = comparisons.unit
    return PairVotes(pool.left[unit], pool.right[unit], pool.topic[unit], dimension[comparisons.fit], chances)


def selections(inputs: Inputs, votes: PairVotes) -> Iterator[tuple[str, str, NDArray[np.bool_]]]:
    """Yield each style and dimension (and "all") with a mask of its votes.

    A pair has a style if both of its responses have it. With only one style, only "all" is yielded for styles.
    """
    style = np.array([inputs.styles.index(response.style) for response in inputs.responses], dtype=np.int64)
    is_of_one = style[votes.left] == style[votes.right]
    styles = [(ALL, np.ones(len(votes.left), dtype=bool))]
    if len(np.unique(style)) > 1:
        styles += [(name, is_of_one & (style[votes.left] == index)) for index, name in enumerate(inputs.styles)]
    # Versions of a dimension have the same name.
    names = np.array([dimension.name for dimension in inputs.dimensions])
    present = list(dict.fromkeys(names[np.unique(votes.dimension)].tolist()))
    for style_name, of_style in styles:
        for name in present:
            yield style_name, name, of_style & (names[votes.dimension] == name)
        yield style_name, ALL, of_style


def _votes(inputs: Inputs, pool: Pool, *, drawn: bool) -> PairVotes:
    """Return the judgments of a pool on the dimensions that compare two responses."""
    is_preference = np.array([dimension.is_preference for dimension in inputs.dimensions], dtype=bool)
    keep = is_preference[pool.dimension] & (pool.right[pool.unit] >= 0)
    unit = pool.unit[keep]
    return PairVotes(
        pool.left[unit],
        pool.right[unit],
        pool.topic[unit],
        pool.dimension[keep],
        np.eye(3)[pool.value[keep]],
        pool.coder[keep] if drawn else None,
    )


def _joined(parts: list[PairVotes]) -> PairVotes:
    """Join judgments of several pools of selected judges."""
    if len(parts) == 1:
        return parts[0]
    columns = ([getattr(part, name) for part in parts] for name in ("left", "right", "topic", "dimension", "chances"))
    return PairVotes(*(np.concatenate(column) for column in columns))


def _trusted(analysed: Context, votes: PairVotes) -> PairVotes:
    """Return the judgments of judges whose spam probability on the dimension is at most the threshold."""
    assert votes.coder is not None
    dimensions = analysed.inputs.dimensions
    trusted = np.zeros((len(dimensions), len(analysed.main.pool.participants)), dtype=bool)
    for fit in analysed.main.fits:
        if fit.model is not None:
            trusted[dimensions.index(fit.dimension)] = fit.spam_probability <= analysed.settings.spam_threshold
    return votes.only(trusted[votes.dimension, votes.coder])
