"""Agreement: Krippendorff's alpha by dimension, split and coders, with intervals over topics."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.enums import Coders, Split
from analysis.stats import agreement
from analysis.stats.bootstrap import Floats, percentile_interval, resample_weights
from analysis.stats.labels import differentiable

from ..inputs import EXPERT, POINTWISE, Ints
from .agreement_redrawn import Keep, keep_all, keep_trusted, keep_without_least_competent, resampled_alphas
from .family import Analysed, Tables
from .fitting import Fit, Fitted
from .redrawing import Redrawn
from .schema import NOTE, Row, number
from .settings import Settings, stream

Mask = NDArray[np.bool_]
NO_ITEMS = "no presented pair that two people or more judged is in this split"
ONE_TOPIC = "an interval over topics needs at least two topics"


@dataclass
class _Means:
    """Alpha of each dimension in the same resamples, by split and coders, for the mean over dimensions."""

    points: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    samples: dict[tuple[str, str], list[Floats]] = field(default_factory=dict)
    clusters: dict[tuple[str, str], int] = field(default_factory=dict)


def family(analysed: Analysed) -> Tables:
    """Agreement of the pool, then of experts and pointwise raters where there are any."""
    rows: list[Row] = []
    means: list[Row] = []
    for fitted, coders, corrected, masks in _parts(analysed):
        name = next(name for name, each in analysed.fitted.items() if each is fitted)
        found = of_pairs(
            fitted,
            coders=coders,
            corrected=corrected,
            masks=masks,
            settings=analysed.settings,
            seed=analysed.seed,
            redrawn=analysed.redrawn.get(name),
        )
        rows, means = rows + found[0], means + found[1]
    return {"agreement": rows, "agreement_means": means}


def _parts(analysed: Analysed) -> Iterator[tuple[Fitted, str, str | None, dict[str, Mask]]]:
    """Whose agreement is said: the pool, what its judges are called, what without those not trusted, its splits."""
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
    """Which units are differentiable, by the votes of all their judges; all of them where pairs were not compared.

    Pairs that nobody but one judged are neither differentiable nor not: one vote is always its own majority.
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
    settings: Settings,
    seed: int,
    redrawn: Redrawn | None = None,
) -> tuple[list[Row], list[Row]]:
    """Rows of one pool: its own coders and, if named, the corrected ones; and the means over dimensions."""
    if not fitted.fits:
        return [], []
    topics, topic = np.unique(fitted.pool.topic, return_inverse=True)
    if redrawn is None:
        weights = resample_weights(len(topics), settings.resamples, stream(seed, f"topics of {coders}"))
    else:
        weights = redrawn.topics
    means = _Means()
    rows = []
    for place, fit in enumerate(fitted.fits):
        variants: list[tuple[str, Ints | None, Keep]] = [(coders, fit.counts, keep_all)]
        if corrected:
            kept = fit.counts_of(fit.trusted(settings.spam_threshold)) if fit.model else None
            variants.append((corrected, kept, keep_trusted(fit, settings)))
        if corrected == Coders.CORRECTED:
            quarter = (settings.least_competent, settings.kept_votes)
            kept = fit.counts_of(fit.without_least_competent(*quarter)) if fit.model else None
            variants.append((Coders.CORRECTED_QUARTER.value, kept, keep_without_least_competent(fit, settings)))
        for name, counts, keep in variants:
            again = {} if redrawn is None else resampled_alphas(fit, place, redrawn, keep, masks, topic, **_how(fit))
            for split, mask in masks.items():
                key = {"dimension": fit.dimension.name, "split": split, "coders": name}
                rows.append(key | _alpha(fit, counts, mask, topic, weights, means, (split, name), again.get(split)))
    return rows, _mean_rows(means)


def _alpha(
    fit: Fit,
    counts: Ints | None,
    mask: Mask,
    topic: Ints,
    weights: Floats,
    means: _Means,
    where: tuple[str, str],
    samples: Floats | None,
) -> Row:
    """Alpha of some of the votes; `samples`: of the resamples, where more than the topics are drawn."""
    if counts is None:
        return {"alpha": None, "low": None, "high": None, "items": 0, "judgments": 0, NOTE: fit.problem}
    # What counts for alpha are units with at least two judgments; the figures say how many those are.
    pairable = mask & (counts.sum(axis=1) > 1)
    used = counts[pairable]
    sizes = {"items": len(used), "judgments": int(used.sum())}
    how = _how(fit)
    try:
        point = agreement.alpha(used, **how)
    except agreement.AlphaUndefinedError as error:
        note = str(error) if mask.any() else NO_ITEMS
        return {"alpha": None, "low": None, "high": None, **sizes, NOTE: note}
    if samples is None:
        per_topic = agreement.topic_coincidences(used, topic[pairable], topics=weights.shape[1])
        samples = agreement.resampled_alpha(per_topic, weights, **how)
    clusters = len(np.unique(topic[pairable]))
    interval = percentile_interval(point, samples, clusters=clusters)
    means.points.setdefault(where, []).append(point)
    means.samples.setdefault(where, []).append(samples)
    means.clusters[where] = max(clusters, means.clusters.get(where, 0))
    row = {"alpha": number(point), "low": number(interval.low), "high": number(interval.high), **sizes}
    return row if row["low"] is not None else row | {NOTE: ONE_TOPIC}


def _how(fit: Fit) -> dict[str, Any]:
    """How alpha counts distances: along A, N, B, or along the values of a rating."""
    return {} if fit.dimension.is_preference else {"values": fit.dimension.domain}


def _mean_rows(means: _Means) -> list[Row]:
    """The mean over dimensions of each split and coders, with its interval, for pages at a glance."""
    rows = []
    for where, points in means.points.items():
        samples = np.mean(means.samples[where], axis=0)
        interval = percentile_interval(float(np.mean(points)), samples, clusters=means.clusters[where])
        split, coders = where
        row: Row = {
            "split": split,
            "coders": coders,
            "alpha": number(interval.estimate),
            "low": number(interval.low),
            "high": number(interval.high),
            "dimensions": len(points),
        }
        rows.append(row if row["low"] is not None else row | {NOTE: ONE_TOPIC})
    return rows


def expert_masks(expert: Fitted, main: Fitted, masks: dict[str, Mask]) -> dict[str, Mask]:
    """The crowd's splits for the experts' pairs; those that the crowd did not judge are in the complete one only."""
    place = {unit[:2]: i for i, unit in enumerate(main.pool.units)}
    known = [place.get(unit[:2], -1) for unit in expert.pool.units]
    found = {Split.COMPLETE.value: np.ones(len(known), dtype=bool)}
    for split, mask in masks.items():
        if split != Split.COMPLETE:
            found[split] = np.array([i >= 0 and bool(mask[i]) for i in known], dtype=bool)
    return found


def judged_by(others: Fitted, main: Fitted) -> Mask:
    """Which of the pool's pairs others judged too, as presented."""
    theirs = {unit[:2] for unit in others.pool.units}
    return np.array([unit[:2] in theirs for unit in main.pool.units], dtype=bool)


def coders_of(pool: str) -> str:
    """What the coders of a pool are called in the table."""
    return Coders(pool).value
