"""What one query ranked in one way comes to: exposure, utility, attribution (fair_rag, 3.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from math import isnan, nan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from analysis.ranking import exposure

from . import estimating
from .lists import List
from .ranking import Rank, Ranked

UNKNOWN = estimating.Estimate(nan, nan)


@dataclass(frozen=True)
class Point:
    """A query ranked in one way: one point of the paper's figures. NaN where something is undefined.

    Attributes
    ----------
    query, retriever, rank, alpha
        What was ranked how (`ranking.Way`).
    items, useful : int
        n and m.
    disparity, relevance, distance, disparity_normalised, relevance_normalised : float
        Of all sampled rankings: EE-D, EE-R, the squared distance from the target (EE-L).
    utility, utility_error : float
        Expected utility (equation 7), and the standard error of having generated some lists only.
    best : float
        The best utility of any output to a ranking of this query, in whatever way it was ranked.
    utility_normalised, utility_normalised_error : float
        Utility over the best; NaN where the best is 0.
    attribution, attribution_error : float
        Expected attribution rate (equation 9), of the documents in a list; NaN where nobody asked, as
        what comes next.
    attributed_disparity, attributed_disparity_error : float
        EAE-D (equation 11).
    attributed_normalised, attributed_normalised_error : float
    lists, generated : int
        Distinct lists, and how many of them were generated for this way of ranking.
    """

    query: str
    retriever: str
    rank: Rank
    alpha: float | None
    items: int
    useful: int
    disparity: float
    relevance: float
    distance: float
    disparity_normalised: float
    relevance_normalised: float
    utility: float
    utility_error: float
    best: float
    utility_normalised: float
    utility_normalised_error: float
    attribution: float
    attribution_error: float
    attributed_disparity: float
    attributed_disparity_error: float
    attributed_normalised: float
    attributed_normalised_error: float
    lists: int
    generated: int

    def write(self) -> dict[str, Any]:
        """As JSON: None for NaN."""
        return {name: _plain(value) for name, value in asdict(self).items()}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Point:
        """From JSON."""
        given = {each.name: data[each.name] for each in fields(cls)}
        undefined = {name: nan for name, value in given.items() if value is None and name != "alpha"}
        return cls(**given | undefined)


@dataclass(frozen=True)
class Outcome:
    """What came of generating one list.

    Attributes
    ----------
    utility : float
    follows : tuple of bool or None
        For each document of the list whether the output follows from it; None where nobody asked.
    """

    utility: float
    follows: tuple[bool, ...] | None


def to_generate(ranked: Sequence[Ranked]) -> list[List]:
    """The distinct lists that are generated for a query, each once in whatever way it was ranked."""
    return list(dict.fromkeys(each for one in ranked for each in one.chosen.items))


def measure(
    query: str,
    useful: ArrayLike,
    k: int,
    ranked: Sequence[Ranked],
    outcomes: Mapping[List, Outcome],
    *,
    bounds: exposure.Bounds = "published",
) -> list[Point]:
    """Measure a query in all ways that it was ranked in.

    Parameters
    ----------
    query : str
    useful : array_like of bool, shape (n_documents,)
    k : int
        Where rankings are cut.
    ranked : sequence of Ranked
    outcomes : mapping
        Of each list in `to_generate`.
    bounds : str
        See `exposure.Bounds`.

    Returns
    -------
    list of Point
        In the order of `ranked`.
    """
    mask = np.asarray(useful, dtype=bool)
    best = max(outcomes[each].utility for each in to_generate(ranked))
    return [_point(query, mask, k, one, outcomes, best, bounds) for one in ranked]


def _point(
    query: str,
    useful: exposure.Mask,
    k: int,
    one: Ranked,
    outcomes: Mapping[List, Outcome],
    best: float,
    bounds: exposure.Bounds,
) -> Point:
    items = useful.size
    shown = exposure.measure(exposure.exposure(one.rankings, items), useful, k, bounds=bounds)
    own = [outcomes[each] for each in one.chosen.items]
    utility = estimating.mean(one.chosen, [each.utility for each in own])
    rate, attributed = _attribution(one, own, items, bounds)
    over = 1 / best if best > 0 else nan
    return Point(
        query=query,
        retriever=one.way.retriever,
        rank=one.way.rank,
        alpha=one.way.alpha,
        items=items,
        useful=int(useful.sum()),
        disparity=float(shown.disparity[0]),
        relevance=float(shown.relevance[0]),
        distance=float(shown.distance[0]),
        disparity_normalised=float(shown.disparity_normalised[0]),
        relevance_normalised=float(shown.relevance_normalised[0]),
        utility=utility.value,
        utility_error=utility.error,
        best=best,
        utility_normalised=utility.value * over,
        utility_normalised_error=utility.error * over,
        attribution=rate.value,
        attribution_error=rate.error,
        attributed_disparity=attributed.disparity.value,
        attributed_disparity_error=attributed.disparity.error,
        attributed_normalised=attributed.normalised.value,
        attributed_normalised_error=attributed.normalised.error,
        lists=len(one.chosen.lists.items),
        generated=len(one.chosen.items),
    )


def _attribution(
    one: Ranked, outcomes: Sequence[Outcome], items: int, bounds: exposure.Bounds
) -> tuple[estimating.Estimate, estimating.Attributed]:
    """Attribution rate and attributed exposure; NaN where nobody asked what follows."""
    follows = [each.follows for each in outcomes if each.follows is not None]
    if len(follows) < len(outcomes):
        return UNKNOWN, estimating.Attributed(UNKNOWN, UNKNOWN)
    # The rate is of what was given to the generator: of fewer than k where there are fewer (equation 8).
    rate = estimating.mean(one.chosen, [sum(each) / len(each) for each in follows])
    held = np.zeros((len(follows), items), dtype=bool)
    for row, places, each in zip(held, one.chosen.items, follows, strict=True):
        row[list(places)] = each
    return rate, estimating.attributed(one.chosen, held, endless=exposure.is_endless(bounds))


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return None if isnan(value) else value + 0.0
    return value
