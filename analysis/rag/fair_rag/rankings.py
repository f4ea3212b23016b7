"""The ways in which a query's documents are ranked, and the distinct lists of them that are generated.

Equal lists are equal prompts, so each is generated once and counts as often as it was sampled. Under a budget some of
them are chosen, the more often sampled the likelier, and weighed so that means over them stay without bias.
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
    """Distinct top-k lists of one query, ranked in one way.

    Attributes
    ----------
    items : tuple of tuple of int
        Each list: documents by their places in the query, best first; in order of first sampling.
    share : ndarray, shape (n_lists,)
        Of the sampled rankings; sums to 1.
    """

    items: tuple[List, ...]
    share: Floats


@dataclass(frozen=True, eq=False)
class Chosen:
    """The lists of which something is known.

    Attributes
    ----------
    lists : Lists
    index : ndarray of int, shape (n_chosen,)
        Which of the lists, ascending.
    inclusion : ndarray, shape (n_chosen,)
        With which probability each came in; 1 for those that were certain.
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
        """What each chosen list stands for, so that a weighted sum has no bias (Horvitz, Thompson 1952); sums to 1."""
        return np.asarray(self.lists.share[self.index] / self.inclusion)


def distinct(rankings: ArrayLike) -> Lists:
    """The distinct lists of sampled rankings and how often each was sampled.

    Parameters
    ----------
    rankings : array_like of int, shape (n_samples, k)
        From `plackett_luce.sample`; -1 at the end where there are fewer items.

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
    """Share a budget of lists out: to each way of ranking alike, and what one does not need to the others.

    Parameters
    ----------
    budget : int
        For all ways of ranking one query together.
    wanted : sequence of int
        How many distinct lists each has.

    Returns
    -------
    list of int
        At most what is wanted, at most the budget together. What cannot be shared alike goes to the first ones.

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
    """Choose lists in proportion to how often they were sampled, without replacement.

    Lists so frequent that their turn comes anyway are taken for certain; of the others, in random order, a systematic
    sample with equal steps is taken (Madow 1949): each comes in with exactly the probability that it should have.

    Parameters
    ----------
    lists : Lists
    budget : int or None
        How many; None, or as many as there are: all.
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
    """Probabilities in proportion to the shares that sum to the budget, none above 1."""
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
#: Who ranks useful documents above the others, all of a kind alike.
ORACLE = "oracle"
# So far apart are the logits of useful and useless documents: no useless one comes first within a float's range.
_APART = 1000.0


@dataclass(frozen=True)
class RankingMethod:
    """A way of ranking.

    Attributes
    ----------
    retriever : str
    rank : "sampled", "deterministic" or "oracle"
    alpha : float or None
        The fairness parameter of sampled rankings; None of others.
    """

    retriever: str
    rank: Rank
    alpha: float | None = None

    @property
    def key(self) -> str:
        """A name for its source of chance."""
        return f"{self.retriever} {self.rank} {self.alpha}"


@dataclass(frozen=True, eq=False)
class QueryRanking:
    """What one way of ranking gave for a query.

    Attributes
    ----------
    way : Way
    rankings : ndarray of int, shape (n_samples, min(k, n_documents))
        Documents by their places; one ranking if it is deterministic.
    chosen : Chosen
        The distinct lists of them that are generated.
    """

    way: RankingMethod
    rankings: Ints
    chosen: Chosen


def ranking_methods(retrievers: Sequence[str], alphas: Sequence[float]) -> list[RankingMethod]:
    """Every way of ranking of an experiment: each retriever with each alpha and as it is, and the oracle."""
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
    """Rank a query in every way, and choose which lists are generated.

    Parameters
    ----------
    scores : mapping of str to array_like, shape (n_documents,)
        By retriever.
    useful : array_like of bool, shape (n_documents,)
        For the oracle.
    alphas : sequence of float
    samples, k : int
        Rankings a way, and where they are cut.
    budget : int or None
        How many distinct lists of sampled rankings and of the oracle's are generated at most; None: all. It is shared
        out alike (`lists.shared`). Deterministic lists, one a retriever, come on top.
    chance : callable
        A source of chance for each name.

    Returns
    -------
    list of Ranked

    Raises
    ------
    UnusableScoresError
        If a retriever gave no score or one that is not finite.
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
