"""Ranking methods for a query's documents, and the distinct lists to generate answers for.

Equal lists are equal prompts, so each is generated once and weighted by how often it was sampled. Under a budget, only
some lists are chosen, with probabilities in proportion to their frequency. Their weights keep means unbiased.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.ranking.plackett_luce import deterministic, logits, sample

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
List = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Lists:
    """Distinct top-k lists of one query from one ranking method.

    Attributes
    ----------
    items : tuple of tuple of int
        Each list holds document indices, best first; lists are in the order of first sampling.
    share : ndarray, shape (n_lists,)
        Share of each list among the sampled rankings; sums to 1.
    """

    items: tuple[List, ...]
    share: Floats


@dataclass(frozen=True, eq=False)
class Chosen:
    """The lists that were chosen for generation.

    Attributes
    ----------
    lists : Lists
    index : ndarray of int, shape (n_chosen,)
        Indices of the chosen lists, ascending.
    inclusion : ndarray, shape (n_chosen,)
        Inclusion probability of each; 1 for lists that were certain to be chosen.
    """

    lists: Lists
    index: Ints
    inclusion: Floats

    @property
    def items(self) -> tuple[List, ...]:
        """The chosen lists."""
        return tuple(self.lists.items[index] for index in self.index)

    @property
    def weight(self) -> Floats:
        """Weight of each chosen list for unbiased weighted sums (Horvitz, Thompson 1952); sums to 1."""
        return np.asarray(self.lists.share[self.index] / self.inclusion)


def distinct(rankings: ArrayLike) -> Lists:
    """Return the distinct lists of sampled rankings and the share of each.

    Parameters
    ----------
    rankings : array_like of int, shape (n_samples, k)
        From `plackett_luce.sample`; -1 at the end if there are fewer items.

    Returns
    -------
    Lists
    """
    drawn = np.asarray(rankings, dtype=np.int64)
    rows, first, count = np.unique(drawn, axis=0, return_index=True, return_counts=True)
    order = np.argsort(first)
    items = tuple(tuple(int(item) for item in row if item >= 0) for row in rows[order])
    return Lists(items, count[order] / len(drawn))


def shared(budget: int, limits: Sequence[int]) -> list[int]:
    """Divide a budget of lists evenly among ranking methods; what one does not need goes to the others.

    Parameters
    ----------
    budget : int
        Total for all ranking methods of one query.
    limits : sequence of int
        Number of distinct lists of each method.

    Returns
    -------
    list of int
        Each share is at most its limit, and the sum at most the budget. A remainder goes to the first methods.

    Examples
    --------
    >>> shared(12, [100, 2, 50])
    [5, 2, 5]
    """
    shares = [0] * len(limits)
    remaining = budget
    while remaining > 0 and (open_ := [i for i, limit in enumerate(limits) if shares[i] < limit]):
        equal_share = max(1, remaining // len(open_))
        for i in open_[:remaining]:
            added = min(equal_share, limits[i] - shares[i], remaining)
            shares[i] += added
            remaining -= added
    return shares


def choose(lists: Lists, budget: int | None, rng: np.random.Generator) -> Chosen:
    """Choose lists without replacement, with probability proportional to their share of the sampled rankings.

    Lists whose scaled share is at least 1 are certain to be chosen. From the others, in random order, a systematic
    sample with equal steps is taken (Madow 1949), so that each has exactly its inclusion probability.

    Parameters
    ----------
    lists : Lists
    budget : int or None
        Number of lists to choose. None, or at least the number of lists, means all.
    rng : numpy.random.Generator

    Returns
    -------
    Chosen

    Raises
    ------
    ValueError
        If the budget is less than one list.
    """
    count = len(lists.items)
    if budget is None or budget >= count:
        return Chosen(lists, np.arange(count), np.ones(count))
    if budget < 1:
        msg = f"at least one list must be generated, not {budget}: raise the budget, or rank in fewer ways"
        raise ValueError(msg)
    inclusion = _inclusion(lists.share, budget)
    certain = inclusion >= 1.0
    uncertain = rng.permutation(np.flatnonzero(~certain))
    steps = np.cumsum(inclusion[uncertain])
    open_slots = budget - int(certain.sum())
    positions = np.searchsorted(steps, rng.random() + np.arange(open_slots), side="right")
    picked = np.concatenate([np.flatnonzero(certain), uncertain[np.minimum(positions, uncertain.size - 1)]])
    indices = np.sort(picked)
    return Chosen(lists, indices, inclusion[indices])


def _inclusion(share: Floats, budget: int) -> Floats:
    """Return inclusion probabilities in proportion to the shares that sum to the budget, none above 1."""
    inclusion = np.ones(share.size)
    is_open = np.ones(share.size, dtype=bool)
    while True:
        remaining = budget - int((~is_open).sum())
        scaled = remaining * share / share[is_open].sum()
        is_certain = is_open & (scaled >= 1.0 - 1e-12)
        if not is_certain.any():
            inclusion[is_open] = scaled[is_open]
            return inclusion
        is_open &= ~is_certain


Rank = Literal["sampled", "deterministic", "oracle"]
#: Name of the ranking that puts useful documents first, in random order among the useful and among the others.
ORACLE = "oracle"
# Difference between the logits of useful and useless documents, so large that no useless one is ever first.
_APART = 1000.0


@dataclass(frozen=True)
class RankingMethod:
    """A ranking method.

    Attributes
    ----------
    retriever : str
    rank : "sampled", "deterministic" or "oracle"
    alpha : float or None
        The fairness parameter of sampled rankings; None for others.
    """

    retriever: str
    rank: Rank
    alpha: float | None = None

    @property
    def key(self) -> str:
        """Name of its random stream."""
        return f"{self.retriever} {self.rank} {self.alpha}"


@dataclass(frozen=True, eq=False)
class QueryRanking:
    """Rankings of a query by one method.

    Attributes
    ----------
    way : RankingMethod
    rankings : ndarray of int, shape (n_samples, min(k, n_documents))
        Document indices; a single ranking if it is deterministic.
    chosen : Chosen
        The distinct lists that are generated.
    """

    way: RankingMethod
    rankings: Ints
    chosen: Chosen


def ranking_methods(retrievers: Sequence[str], alphas: Sequence[float]) -> list[RankingMethod]:
    """Return all ranking methods of an experiment: each retriever with each alpha and deterministic, and the oracle."""
    sampled = [RankingMethod(name, "sampled", alpha) for name in retrievers for alpha in alphas]
    return [*sampled, *(RankingMethod(name, "deterministic") for name in retrievers), RankingMethod(ORACLE, "oracle")]


def rank(
    scores: Mapping[str, ArrayLike],
    useful: ArrayLike,
    alphas: Sequence[float],
    *,
    samples: int,
    k: int,
    budget: int | None,
    chance: Callable[[str], np.random.Generator],
) -> list[QueryRanking]:
    """Rank a query's documents by every method, and choose the lists to generate.

    Parameters
    ----------
    scores : mapping of str to array_like, shape (n_documents,)
        Scores by retriever.
    useful : array_like of bool, shape (n_documents,)
        Useful documents, for the oracle.
    alphas : sequence of float
    samples, k : int
        Rankings per method, and their cutoff.
    budget : int or None
        Maximum number of distinct lists to generate, over all sampled rankings and the oracle's; None for all. It is
        divided evenly (`shared`). Deterministic lists, one per retriever, are extra.
    chance : callable
        Returns a random generator for each name.

    Returns
    -------
    list of QueryRanking

    Raises
    ------
    UnusableScoresError
        If a retriever gave no score, or one that is not finite.
    """
    ranked = [
        (way, _rankings(way, scores, useful, samples, k, chance)) for way in ranking_methods(list(scores), alphas)
    ]
    lists = [distinct(rankings) for _way, rankings in ranked]
    budgets = _budgets([way for way, _rankings in ranked], lists, budget)
    return [
        QueryRanking(way, rankings, choose(lists_of_method, limit, chance(f"lists {way.key}")))
        for (way, rankings), lists_of_method, limit in zip(ranked, lists, budgets, strict=True)
    ]


def _rankings(
    way: RankingMethod,
    scores: Mapping[str, ArrayLike],
    useful: ArrayLike,
    samples: int,
    k: int,
    chance: Callable[[str], np.random.Generator],
) -> Ints:
    if way.rank == "oracle":
        item_logits = np.where(np.asarray(useful, dtype=bool), _APART, 0.0)
        return sample(item_logits, samples=samples, k=k, rng=chance(way.key))
    method_scores = scores[way.retriever]
    if way.alpha is None:
        return deterministic(method_scores, k)[None, :]
    return sample(logits(method_scores, way.alpha), samples=samples, k=k, rng=chance(way.key))


def _budgets(ways_: Sequence[RankingMethod], lists: Sequence[Lists], budget: int | None) -> list[int | None]:
    if budget is None:
        return [None] * len(lists)
    open_ = [i for i, way in enumerate(ways_) if way.rank != "deterministic"]
    shares = shared(budget, [len(lists[i].items) for i in open_])
    budgets: list[int | None] = [None] * len(lists)
    for i, limit in zip(open_, shares, strict=True):
        budgets[i] = limit
    return budgets
