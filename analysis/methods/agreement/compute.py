"""Agreement: Krippendorff's alpha by dimension, split and coders, with intervals over topics and judges."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from analysis.enums import Coders, Split
from analysis.stats import agreement
from analysis.stats.cluster_variance import Terms, combined, interval_of
from analysis.stats.labels import differentiable

from ...inputs.arrays import EXPERT, POINTWISE, Ints
from ...tables.rows import NOTE, Row, number
from ..context import Context, Tables
from ..fits import Fit, Fitted
from ..settings import AnalysisSettings

Mask = NDArray[np.bool_]
#: Unit, coder and value of each vote.
Votes = tuple[Ints, Ints, Ints]
#: Selected coders. All others are a sample of people who might have judged, so their intervals include judges.
CHOSEN = (Coders.EXPERT.value, Coders.MODEL.value)
NO_ITEMS = "this split has no presented pair with judgments by two people or more"
ONE_TOPIC = (
    "a confidence interval needs at least two topics, some disagreement, and "
    f"{agreement.FEWEST_CODERS} judges (no minimum for experts and models)"
)
#: Coders whose intervals have too low a coverage to be shown (docs/methods/intervals.md).
WITHOUT_INTERVAL = (Coders.CORRECTED_QUARTER.value,)
TOO_RARELY = "no interval: the excluded judges depend on the same judgments, so intervals would be too narrow"


@dataclass
class _Means:
    """Alpha of each dimension by split and coders, with the terms needed for the mean over dimensions."""

    points: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    terms: dict[tuple[str, str], list[Terms]] = field(default_factory=dict)


def compute_tables(analysed: Context) -> Tables:
    """Compute the agreement of the analysed pool, and of experts and pointwise raters if there are any."""
    tables: Tables = {"agreement": [], "agreement_means": [], "agreement_ac1": []}
    for fitted, coders, corrected, masks in _parts(analysed):
        computed = of_pairs(fitted, coders=coders, corrected=corrected, masks=masks, settings=analysed.settings)
        for name, rows in computed.items():
            tables[name] += rows
    return tables


def _parts(analysed: Context) -> Iterator[tuple[Fitted, str, str | None, dict[str, Mask]]]:
    """Yield the parts of the pool whose agreement is reported, with the names of their judges and the splits."""
    pool, fitted = analysed.inputs.pool, analysed.fitted
    masks = dict(analysed.masks)
    if EXPERT in fitted and pool != EXPERT:
        masks[Split.EXPERT_PAIRS.value] = judged_by(fitted[EXPERT], analysed.main)
    yield analysed.main, coders_of(pool), Coders.CORRECTED.value, masks
    if EXPERT in fitted and pool != EXPERT:
        masks = expert_masks(fitted[EXPERT], analysed.main, analysed.masks)
        yield fitted[EXPERT], Coders.EXPERT.value, None, masks
    if POINTWISE in fitted:
        masks = split_masks(fitted[POINTWISE])
        yield fitted[POINTWISE], Coders.POINTWISE.value, Coders.POINTWISE_CORRECTED.value, masks


def split_masks(fitted: Fitted) -> dict[str, Mask]:
    """Return the units of each split: complete and, for compared pairs, differentiable and minimal.

    All votes of the analysed pool define the splits. Pairs with only one judge are neither differentiable nor minimal:
    a single vote is always its own majority.
    """
    preferences = [fit.counts for fit in fitted.fits if fit.dimension.is_preference]
    masks = {Split.COMPLETE.value: np.ones(len(fitted.pool.units), dtype=bool)}
    if preferences:
        votes = np.stack(preferences, axis=1)
        several = votes.sum(axis=2).max(axis=1) > 1
        told_apart = differentiable(votes)
        masks |= {Split.DIFFERENTIABLE.value: told_apart & several, Split.MINIMAL.value: ~told_apart & several}
    return masks


def of_pairs(
    fitted: Fitted,
    *,
    coders: str,
    corrected: str | None,
    masks: dict[str, Mask],
    settings: AnalysisSettings,
) -> Tables:
    """Compute the rows of one pool: all coders, the corrected coders if named, and the means over dimensions."""
    if not fitted.fits:
        return {}
    means = _Means()
    alphas, ac1s = [], []
    shared = agreement.SharedPairs.of_any([(fit.unit, fit.coder) for fit in fitted.fits], fitted.pool.topic)
    for fit in fitted.fits:
        everybody = np.ones(len(fit.unit), dtype=bool)
        variants: list[tuple[str, Mask | None]] = [(coders, everybody)]
        if corrected:
            variants.append((corrected, fit.trusted(settings.spam_threshold) if fit.model else None))
        if corrected == Coders.CORRECTED:
            quarter = (settings.least_competent, settings.kept_votes)
            variants.append(
                (Coders.CORRECTED_QUARTER.value, fit.without_least_competent(*quarter) if fit.model else None)
            )
        for name, keep in variants:
            counts = None if keep is None else fit.counts_of(keep)
            for split, mask in masks.items():
                key = {"dimension": fit.dimension.name, "split": split, "coders": name}
                if keep is None or counts is None:
                    alphas.append(key | {"alpha": None, **_UNDEFINED, "judgments": 0, NOTE: fit.problem})
                    ac1s.append(key | {"ac1": None, **_UNDEFINED, NOTE: fit.problem})
                    continue
                votes = _votes_of(fit, keep, mask, counts)
                pairs = shared.select(votes[1][0], votes[1][1])
                alphas.append(key | _alpha(fit, votes, mask, fitted.pool.topic, means, (split, name), pairs))
                ac1s.append(key | _ac1(votes, mask, fitted.pool.topic, name, pairs))
    return {"agreement": alphas, "agreement_means": _mean_rows(means), "agreement_ac1": ac1s}


_UNDEFINED: Row = {"low": None, "high": None, "items": 0}


def _votes_of(fit: Fit, keep: Mask, mask: Mask, counts: Ints) -> tuple[Ints, Votes]:
    """Select votes on some units: the counts by pairable unit, and the individual votes.

    Agreement is computed from units with at least two judgments; the reported counts refer to these.
    """
    pairable = mask & (counts.sum(axis=1) > 1)
    used = keep & pairable[fit.unit]
    return counts[pairable], (fit.unit[used], fit.coder[used], fit.value[used])


def _alpha(
    fit: Fit,
    selected: tuple[Ints, Votes],
    mask: Mask,
    topic: Ints,
    means: _Means,
    where: tuple[str, str],
    pairs: agreement.SelectedPairs,
) -> Row:
    """Compute alpha of some votes on some units."""
    counts, votes = selected
    sizes = {"items": len(counts), "judgments": int(counts.sum())}
    domain = _domain(fit)
    try:
        point = agreement.alpha(counts, values=domain)
    except agreement.AlphaUndefinedError as error:
        note = str(error) if mask.any() else NO_ITEMS
        return {"alpha": None, "low": None, "high": None, **sizes, NOTE: note}
    terms = agreement.alpha_terms(
        *votes, topic, values=counts.shape[1], drawn_coders=where[1] not in CHOSEN, domain=domain, pairs=pairs
    )
    means.points.setdefault(where, []).append(point)
    means.terms.setdefault(where, []).append(terms)
    return _with_interval("alpha", point, terms, where[1]) | sizes


def _ac1(selected: tuple[Ints, Votes], mask: Mask, topic: Ints, coders: str, pairs: agreement.SelectedPairs) -> Row:
    """Compute Gwet's AC1 of the same votes on the same units."""
    counts, votes = selected
    sizes = {"items": len(counts)}
    try:
        point = agreement.ac1(counts)
    except agreement.NoPairableValuesError as error:
        note = str(error) if mask.any() else NO_ITEMS
        return {"ac1": None, "low": None, "high": None, **sizes, NOTE: note}
    terms = agreement.ac1_terms(*votes, topic, values=counts.shape[1], drawn_coders=coders not in CHOSEN, pairs=pairs)
    return _with_interval("ac1", point, terms, coders) | sizes


def _domain(fit: Fit) -> tuple[int, ...] | None:
    """Return the values between which alpha measures distances: those of a rating, or None for A, N and B."""
    return None if fit.dimension.is_preference else fit.dimension.domain


def _mean_rows(means: _Means) -> list[Row]:
    """Return the mean over dimensions for each split and coders, with its interval, for summary pages."""
    rows = []
    for where, points in means.points.items():
        split, coders = where
        terms = combined(means.terms[where], [1 / len(points)] * len(points))
        row = {"split": split, "coders": coders} | _with_interval("alpha", float(np.mean(points)), terms, coders)
        rows.append(row | {"dimensions": len(points)})
    return rows


def _with_interval(name: str, value: float, terms: Terms, coders: str) -> Row:
    """Return an agreement measure with its interval, and the reason if there is no interval."""
    low, high = interval_of(value, terms, upper_bound=1.0)
    row: Row = {name: number(value), "low": number(low), "high": number(high)}
    if row["low"] is None:
        return row | {NOTE: ONE_TOPIC}
    return row | {"low": None, "high": None, NOTE: TOO_RARELY} if coders in WITHOUT_INTERVAL else row


def expert_masks(expert: Fitted, main: Fitted, masks: dict[str, Mask]) -> dict[str, Mask]:
    """Restrict the crowd's splits to the experts' pairs; pairs without crowd judgments are in `complete` only."""
    unit_index = {unit[:2]: i for i, unit in enumerate(main.pool.units)}
    known = [unit_index.get(unit[:2], -1) for unit in expert.pool.units]
    masks_of_expert_pairs = {Split.COMPLETE.value: np.ones(len(known), dtype=bool)}
    for split, mask in masks.items():
        if split != Split.COMPLETE:
            masks_of_expert_pairs[split] = np.array([i >= 0 and bool(mask[i]) for i in known], dtype=bool)
    return masks_of_expert_pairs


def judged_by(others: Fitted, main: Fitted) -> Mask:
    """Return the pairs of the pool that another pool judged too, in the same order of presentation."""
    theirs = {unit[:2] for unit in others.pool.units}
    return np.array([unit[:2] in theirs for unit in main.pool.units], dtype=bool)


def coders_of(pool: str) -> str:
    """Return the name of a pool's coders in the table."""
    return Coders(pool).value
