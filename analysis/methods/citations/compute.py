"""Cited passages, their order and their positions (crowdrag25, sections 4.2, 4.3, 4.5; Table 3, Figures 2 and 4)."""

from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations, combinations_with_replacement

import numpy as np

from analysis.stats.bootstrap import CORRELATION, NOT_NEGATIVE, SHARE, Bounds, weighted_mean
from analysis.stats.weighted import weighted_ratio
from analysis.text.citations import binned, jaccard, median_ranks, order_correlation

from ...inputs.arrays import Inputs
from ...tables.rows import Row
from ..context import Context, Tables
from ..response_groups import ALL, Resampling, cells, groups, origins_of
from ..settings import AnalysisSettings
from ..text_features import TextFeatures

RETRIEVED = "retrieved"
CITED, UNCITED = "cited", "uncited"

#: Style, name of a pair of sets, index of the topic in the weights, and value.
Value = tuple[str, str, int, float]


def compute_tables(analysed: Context) -> Tables:
    """Compute all tables of citations."""
    inputs, features, resampling = analysed.inputs, analysed.text_features, analysed.topics_of_responses
    if not features:
        return {}
    overlap, order = _pairs(inputs, features, resampling)
    return {
        "citation_overlap": _pair_rows(inputs, features, overlap, "jaccard", resampling, SHARE),
        "citation_order": _pair_rows(inputs, features, order, "rho", resampling, CORRELATION),
        "citation_ranks": rank_rows(inputs, features, resampling),
        "citation_rank_medians": median_rows(inputs, features, resampling),
        "citation_density": density_rows(inputs, features, analysed.settings, resampling),
    }


def rank_rows(inputs: Inputs, features: Sequence[TextFeatures], resampling: Resampling) -> list[Row]:
    """Compute the citation probability by rank, over responses with a passage at that rank."""
    rows: list[Row] = []
    for style, origin, members in _grouped(inputs, features):
        topic = resampling.places([inputs.responses[member.index] for member in members])
        ranks = range(1 + max((member.available[-1] for member in members if member.available), default=-1))
        is_cited = np.full((len(members), len(ranks)), np.nan)
        for row, member in enumerate(members):
            is_cited[row, list(member.available)] = 0.0
            is_cited[row, list(member.cited)] = 1.0
        for rank in ranks:
            probability = weighted_mean(is_cited[:, rank], topic, resampling.topics)
            interval = resampling.interval(probability, share=True)
            key: Row = {"style": style, "origin": origin, "rank": rank}
            n = int(np.sum(~np.isnan(is_cited[:, rank])))
            rows.append(key | cells(interval, n, "probability"))
    return rows


def median_rows(inputs: Inputs, features: Sequence[TextFeatures], resampling: Resampling) -> list[Row]:
    """Compute the median rank of cited and of uncited passages per response, averaged over responses."""
    rows: list[Row] = []
    for style, origin, members in _grouped(inputs, features):
        topic = resampling.places([inputs.responses[member.index] for member in members])
        medians = np.array([median_ranks(member.cited, member.available) for member in members])
        for column, passages in enumerate((CITED, UNCITED)):
            mean = weighted_mean(medians[:, column], topic, resampling.topics)
            interval = resampling.interval(mean, bounds=NOT_NEGATIVE)
            key: Row = {"style": style, "origin": origin, "passages": passages}
            rows.append(key | cells(interval, int(np.sum(~np.isnan(medians[:, column]))), "median_rank"))
    return rows


def density_rows(
    inputs: Inputs, features: Sequence[TextFeatures], settings: AnalysisSettings, resampling: Resampling
) -> list[Row]:
    """Compute the density of citations by text position; evenly spread citations have density 1 everywhere."""
    bins = settings.density_bins
    rows: list[Row] = []
    for style, origin, members in _grouped(inputs, features):
        topic = resampling.places([inputs.responses[member.index] for member in members])
        counts = np.array([binned(member.positions, bins) for member in members], dtype=np.float64)
        totals = counts.sum(axis=1)
        for bin_index in range(bins):
            ratio = weighted_ratio(counts[:, bin_index] * bins, totals, topic, resampling.topics)
            key: Row = {"style": style, "origin": origin, "bin": bin_index}
            row = key | cells(resampling.interval(ratio, bounds=NOT_NEGATIVE), int(totals.sum()), "density")
            per_response = float(counts[:, bin_index].mean())
            rows.append(row | {"start": bin_index / bins, "end": (bin_index + 1) / bins, "per_response": per_response})
    return rows


def _pairs(inputs: Inputs, features: Sequence[TextFeatures], resampling: Resampling) -> tuple[list[Value], list[Value]]:
    """Return overlap and rank order of citations.

    They are computed between each response and its passages, and between responses to the same topic in the same style.
    """
    overlap: list[Value] = []
    order: list[Value] = []
    for response_features in features:
        response = inputs.responses[response_features.index]
        key = (response.style, f"{response.origin}_{RETRIEVED}", resampling.topic[response.topic])
        overlap.append((*key, jaccard(response_features.cited, response_features.available)))
        order.append((*key, order_correlation(response_features.available, response_features.cited)))
    rank = {origin: position for position, origin in enumerate(origins_of(inputs.responses))}
    for one, other in _of_one_slot(inputs, features):
        first, second = sorted((one, other), key=lambda pair_member: rank[inputs.responses[pair_member.index].origin])
        about, beside = inputs.responses[first.index], inputs.responses[second.index]
        key = (about.style, f"{about.origin}_{beside.origin}", resampling.topic[about.topic])
        cited = _as_passages(inputs, first, second)
        overlap.append((*key, jaccard(*cited)))
        order.append((*key, order_correlation(*cited)))
    return overlap, order


def _of_one_slot(inputs: Inputs, features: Sequence[TextFeatures]) -> Iterator[tuple[TextFeatures, TextFeatures]]:
    """Yield all pairs of responses to the same topic in the same style."""
    slots: dict[tuple[str, str], list[TextFeatures]] = {}
    for response_features in features:
        response = inputs.responses[response_features.index]
        slots.setdefault((response.topic, response.style), []).append(response_features)
    for members in slots.values():
        yield from combinations(members, 2)


def _as_passages(
    inputs: Inputs, first: TextFeatures, second: TextFeatures
) -> tuple[Sequence[Hashable], Sequence[Hashable]]:
    """Return the citations of two responses with comparable identifiers.

    These are ranks, or passage texts if the authors had different lists of passages.
    """
    if first.ranking == second.ranking:
        return first.cited, second.cited
    one, other = (
        [inputs.rankings[citing.ranking][rank] for rank in citing.cited] if citing.ranking >= 0 else []
        for citing in (first, second)
    )
    return one, other


def _pair_rows(
    inputs: Inputs,
    features: Sequence[TextFeatures],
    values: Sequence[Value],
    name: str,
    resampling: Resampling,
    bounds: Bounds,
) -> list[Row]:
    """Compute the mean of a measure by style and pair of sets; `n` counts the cases where it is defined."""
    by_key: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for style, pair, topic, value in values:
        by_key.setdefault((style, pair), []).append((topic, value))
        by_key.setdefault((ALL, pair), []).append((topic, value))
    origins = origins_of([inputs.responses[response_features.index] for response_features in features])
    pairs = [f"{origin}_{RETRIEVED}" for origin in origins]
    pairs += [f"{one}_{other}" for one, other in combinations_with_replacement(origins, 2)]
    rows: list[Row] = []
    for style in (*inputs.styles, ALL):
        for pair in pairs:
            if (style, pair) in by_key:
                places, measured = (np.array(column) for column in zip(*by_key[style, pair], strict=True))
                interval = resampling.interval(weighted_mean(measured, places, resampling.topics), bounds=bounds)
                n = int(np.sum(~np.isnan(measured)))
                rows.append({"style": style, "pair": pair} | cells(interval, n, name))
    return rows


def _grouped(inputs: Inputs, features: Sequence[TextFeatures]) -> Iterator[tuple[str, str, list[TextFeatures]]]:
    responses = [inputs.responses[response_features.index] for response_features in features]
    for style, origin, chosen in groups(responses, inputs.styles):
        yield (
            style,
            origin,
            [response_features for response_features, is_in in zip(features, chosen, strict=True) if is_in],
        )
