"""The ways in which a query's documents are ranked: sampled from each retriever, fixed as it ranks them, ideally."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.ranking.plackett_luce import deterministic, logits, sample

from .lists import Chosen, Lists, choose, distinct, shared

Ints = NDArray[np.int64]
Rank = Literal["sampled", "deterministic", "oracle"]
#: Who ranks useful documents above the others, all of a kind alike.
ORACLE = "oracle"
# So far apart are the logits of useful and useless documents: no useless one comes first within a float's range.
_APART = 1000.0


@dataclass(frozen=True)
class Way:
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
class Ranked:
    """What one way of ranking gave for a query.

    Attributes
    ----------
    way : Way
    rankings : ndarray of int, shape (n_samples, min(k, n_documents))
        Documents by their places; one ranking if it is deterministic.
    chosen : Chosen
        The distinct lists of them that are generated.
    """

    way: Way
    rankings: Ints
    chosen: Chosen


def ways(retrievers: Sequence[str], alphas: Sequence[float]) -> list[Way]:
    """Every way of ranking of an experiment: each retriever with each alpha and as it is, and the oracle."""
    sampled = [Way(name, "sampled", alpha) for name in retrievers for alpha in alphas]
    return [*sampled, *(Way(name, "deterministic") for name in retrievers), Way(ORACLE, "oracle")]


def rank(
    scores: Mapping[str, ArrayLike],
    useful: ArrayLike,
    alphas: Sequence[float],
    *,
    samples: int,
    k: int,
    budget: int | None,
    chance: Callable[[str], np.random.Generator],
) -> list[Ranked]:
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
    found = [(way, _rankings(way, scores, useful, samples, k, chance)) for way in ways(list(scores), alphas)]
    lists = [distinct(rankings) for _way, rankings in found]
    budgets = _budgets([way for way, _rankings in found], lists, budget)
    return [
        Ranked(way, rankings, choose(each, most, chance(f"lists {way.key}")))
        for (way, rankings), each, most in zip(found, lists, budgets, strict=True)
    ]


def _rankings(
    way: Way,
    scores: Mapping[str, ArrayLike],
    useful: ArrayLike,
    samples: int,
    k: int,
    chance: Callable[[str], np.random.Generator],
) -> Ints:
    if way.rank == "oracle":
        item_logits = np.where(np.asarray(useful, dtype=bool), _APART, 0.0)
        return sample(item_logits, samples=samples, k=k, rng=chance(way.key))
    given = scores[way.retriever]
    if way.alpha is None:
        return deterministic(given, k)[None, :]
    return sample(logits(given, way.alpha), samples=samples, k=k, rng=chance(way.key))


def _budgets(ways_: Sequence[Way], lists: Sequence[Lists], budget: int | None) -> list[int | None]:
    if budget is None:
        return [None] * len(lists)
    open_ = [i for i, way in enumerate(ways_) if way.rank != "deterministic"]
    shares = shared(budget, [len(lists[i].items) for i in open_])
    found: list[int | None] = [None] * len(lists)
    for i, most in zip(open_, shares, strict=True):
        found[i] = most
    return found
