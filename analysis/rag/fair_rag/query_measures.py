"""Measures of one query with one ranking method: exposure, utility, attribution, scores (fair_rag, 3.3).

If all lists were generated, the errors are 0 and every number is as the paper defines it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from math import isnan, nan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.ranking import exposure

from .rankings import Chosen, List, QueryRanking, Rank

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SampledMean:
    """A mean with its standard error from generating only some of the lists.

    Attributes
    ----------
    value : float
        NaN if undefined.
    error : float
        0 if all lists were generated; NaN if a single list represents several.
    """

    value: float
    error: float


@dataclass(frozen=True)
class Attributed:
    """Disparity of the exposure of documents that outputs follow from (fair_rag, 3.3.4).

    Attributes
    ----------
    disparity : SampledMean
        EAE-D, equation 11. The upward bias that sampling error adds to the square is subtracted.
    normalised : SampledMean
        The disparity scaled from [s^2 / n, s] to [0, 1] and clipped, where s is the sum of attributed exposure (with
        `endless`: from [0, s]). NaN if nothing was attributed, or if there is only one document.
    """

    disparity: SampledMean
    normalised: SampledMean


def sampled_mean(chosen: Chosen, values: ArrayLike) -> SampledMean:
    """Estimate the mean over all sampled rankings from the chosen lists (fair_rag, eq. 7 and 9).

    Parameters
    ----------
    chosen : Chosen
    values : array_like, shape (n_chosen,)
        Measured value of each chosen list, in their order.

    Returns
    -------
    SampledMean
        By the unbiased estimator of Horvitz and Thompson.
    """
    value_array = np.asarray(values, dtype=np.float64)
    return SampledMean(float(chosen.weight @ value_array), float(np.sqrt(_variance(chosen, value_array[:, None])[0])))


def attributed(chosen: Chosen, follows: ArrayLike, *, endless: bool = False) -> Attributed:
    """Compute the attributed exposure of the documents and its disparity (fair_rag, eq. 10 and 11).

    Parameters
    ----------
    chosen : Chosen
    follows : array_like of bool, shape (n_chosen, n_documents)
        Whether a list holds the document and its output follows from it.
    endless : bool
        Treat the number of documents as infinite, as the authors' code does for EE-D.

    Returns
    -------
    Attributed
    """
    follow_array = np.asarray(follows, dtype=np.float64)
    n = follow_array.shape[1]
    exposed = chosen.weight @ follow_array
    total = float(exposed.sum())
    # The square of an estimate exceeds the true square by its variance, on average.
    square = float(exposed @ exposed) - _known(_variance(chosen, follow_array).sum())
    total_square = total**2 - _known(_variance(chosen, follow_array.sum(axis=1)[:, None])[0])
    error = _error(chosen, follow_array @ (2 * exposed))
    disparity = SampledMean(max(square, 0.0), error)
    low = 0.0 if endless else total_square / n
    span = total - low
    if n < 2 or total <= 0 or span <= 1e-12:
        return Attributed(disparity, SampledMean(float("nan"), float("nan")))
    value = (square - low) / span
    # Derivative of the normalised value with respect to the exposure of each document.
    lower = 0.0 if endless else 2 * total / n
    slope = (2 * exposed - lower) / span - value * (1.0 - lower) / span
    normalised = SampledMean(_within(value), _error(chosen, follow_array @ slope))
    return Attributed(disparity, normalised)


def _within(value: float) -> float:
    rounded = round(value) if abs(value - round(value)) < 1e-12 else value
    return float(min(max(rounded, 0.0), 1.0))


def _known(variance: float) -> float:
    return 0.0 if np.isnan(variance) else float(variance)


def _error(chosen: Chosen, values: Floats) -> float:
    return float(np.sqrt(_variance(chosen, values[:, None])[0]))


def _variance(chosen: Chosen, values: Floats) -> Floats:
    """Return the variances of weighted sums of columns; shape (n_columns,).

    For a sample without replacement and with unequal probabilities (Hajek 1964, as in Matei and Tille 2005, section 4);
    with equal probabilities, the variance of a simple random sample. NaN if exactly one list was not certain.
    """
    random = chosen.inclusion < 1.0
    size = int(random.sum())
    if size == 0:
        return np.zeros(values.shape[1])
    if size == 1:
        return np.full(values.shape[1], np.nan)
    out = 1.0 - chosen.inclusion[random]
    parts = values[random] * chosen.weight[random][:, None]
    centre = out @ parts / out.sum()
    return np.asarray(size / (size - 1) * (out @ (parts - centre) ** 2))


UNKNOWN = SampledMean(nan, nan)


@dataclass(frozen=True)
class Point:
    """Measures of a query with one ranking method: one point in the paper's figures. NaN if undefined.

    Attributes
    ----------
    query, retriever, rank, alpha
        The query and its ranking method (`rankings.RankingMethod`).
    items, useful : int
        Numbers of documents (n) and of useful documents (m).
    disparity, relevance, distance, disparity_normalised, relevance_normalised : float
        Over all sampled rankings: EE-D, EE-R, the squared distance from the target (EE-L).
    utility, utility_error : float
        Expected utility (equation 7), and its standard error from generating only some lists.
    best : float
        The best utility of any output for this query, by any ranking method.
    utility_normalised, utility_normalised_error : float
        Utility divided by the best; NaN if the best is 0.
    attribution, attribution_error : float
        Expected attribution rate (equation 9), of the documents in a list. NaN, like the next fields, if entailment was
        not computed.
    attributed_disparity, attributed_disparity_error : float
        EAE-D (equation 11).
    attributed_normalised, attributed_normalised_error : float
    lists, generated : int
        Number of distinct lists of this ranking method, and how many of them were generated.
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
        """Convert to JSON, with None for NaN."""
        return {name: _plain(value) for name, value in asdict(self).items()}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Point:
        """Read from JSON."""
        stored = {field.name: data[field.name] for field in fields(cls)}
        undefined = {name: nan for name, value in stored.items() if value is None and name != "alpha"}
        return cls(**stored | undefined)


@dataclass(frozen=True)
class Outcome:
    """Result of generating from one list.

    Attributes
    ----------
    utility : float
    follows : tuple of bool or None
        For each document of the list, whether the output follows from it; None if entailment was not computed.
    """

    utility: float
    follows: tuple[bool, ...] | None


def to_generate(ranked: Sequence[QueryRanking]) -> list[List]:
    """Return the distinct lists to generate for a query, each once for all ranking methods."""
    return list(dict.fromkeys(lists_item for ranking in ranked for lists_item in ranking.chosen.items))


def measure(
    query: str,
    useful: ArrayLike,
    k: int,
    ranked: Sequence[QueryRanking],
    outcomes: Mapping[List, Outcome],
    *,
    bounds: exposure.Bounds = "published",
) -> list[Point]:
    """Measure a query for all its ranking methods.

    Parameters
    ----------
    query : str
    useful : array_like of bool, shape (n_documents,)
    k : int
        Cutoff of the rankings.
    ranked : sequence of QueryRanking
    outcomes : mapping
        Outcome of each list in `to_generate`.
    bounds : str
        See `exposure.Bounds`.

    Returns
    -------
    list of Point
        In the order of `ranked`.
    """
    mask = np.asarray(useful, dtype=bool)
    best = max(outcomes[items].utility for items in to_generate(ranked))
    return [_point(query, mask, k, ranking, outcomes, best, bounds) for ranking in ranked]


def _point(
    query: str,
    useful: exposure.Mask,
    k: int,
    ranking: QueryRanking,
    outcomes: Mapping[List, Outcome],
    best: float,
    bounds: exposure.Bounds,
) -> Point:
    items = useful.size
    exposed = exposure.measure(exposure.exposure(ranking.rankings, items), useful, k, bounds=bounds)
    list_outcomes = [outcomes[item] for item in ranking.chosen.items]
    utility = sampled_mean(ranking.chosen, [outcome.utility for outcome in list_outcomes])
    rate, attributed = _attribution(ranking, list_outcomes, items, bounds)
    scale = 1 / best if best > 0 else nan
    return Point(
        query=query,
        retriever=ranking.way.retriever,
        rank=ranking.way.rank,
        alpha=ranking.way.alpha,
        items=items,
        useful=int(useful.sum()),
        disparity=float(exposed.disparity[0]),
        relevance=float(exposed.relevance[0]),
        distance=float(exposed.distance[0]),
        disparity_normalised=float(exposed.disparity_normalised[0]),
        relevance_normalised=float(exposed.relevance_normalised[0]),
        utility=utility.value,
        utility_error=utility.error,
        best=best,
        utility_normalised=utility.value * scale,
        utility_normalised_error=utility.error * scale,
        attribution=rate.value,
        attribution_error=rate.error,
        attributed_disparity=attributed.disparity.value,
        attributed_disparity_error=attributed.disparity.error,
        attributed_normalised=attributed.normalised.value,
        attributed_normalised_error=attributed.normalised.error,
        lists=len(ranking.chosen.lists.items),
        generated=len(ranking.chosen.items),
    )


def _attribution(
    ranking: QueryRanking, outcomes: Sequence[Outcome], items: int, bounds: exposure.Bounds
) -> tuple[SampledMean, Attributed]:
    """Return attribution rate and attributed exposure; NaN if entailment was not computed."""
    follows = [outcome.follows for outcome in outcomes if outcome.follows is not None]
    if len(follows) < len(outcomes):
        return UNKNOWN, Attributed(UNKNOWN, UNKNOWN)
    # The rate is relative to the documents given to the generator, which may be fewer than k (equation 8).
    rate = sampled_mean(ranking.chosen, [sum(outcome) / len(outcome) for outcome in follows])
    is_followed = np.zeros((len(follows), items), dtype=bool)
    for row, places, outcome in zip(is_followed, ranking.chosen.items, follows, strict=True):
        row[list(places)] = outcome
    return rate, attributed(ranking.chosen, is_followed, endless=exposure.is_endless(bounds))


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return None if isnan(value) else value + 0.0
    return value


@dataclass(frozen=True)
class Score:
    """Score of a query's answers with one ranking method and one metric: the mean over its sampled rankings.

    Attributes
    ----------
    query, retriever, rank, alpha
        The query and its ranking method (`rankings.RankingMethod`).
    metric : str
        Of `qa_metrics.METRICS`; for an error, lower is better.
    value, error : float
        The mean, and its standard error from generating only some lists (NaN if a single list represents several).
    """

    query: str
    retriever: str
    rank: Rank
    alpha: float | None
    metric: str
    value: float
    error: float

    def write(self) -> dict[str, Any]:
        """Convert to JSON, with None for NaN."""
        return asdict(self) | {"error": None if isnan(self.error) else self.error}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Score:
        """Read from JSON."""
        return cls(**{**data, "error": nan if data["error"] is None else data["error"]})


def scores(query: str, ranked: Sequence[QueryRanking], values: Mapping[List, Mapping[str, float]]) -> list[Score]:
    """Average over the rankings of a query, for each ranking method and each metric.

    Parameters
    ----------
    query : str
    ranked : sequence of QueryRanking
    values : mapping
        For each generated list, the score of its answer by metric.
    """
    results = []
    for ranking in ranked:
        for metric in values[ranking.chosen.items[0]]:
            mean = sampled_mean(ranking.chosen, [values[items][metric] for items in ranking.chosen.items])
            way = ranking.way
            results.append(Score(query, way.retriever, way.rank, way.alpha, metric, mean.value, mean.error))
    return results
