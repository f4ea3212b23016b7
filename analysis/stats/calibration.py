"""Calibration of expectations: simulated studies that resemble an analysed study.

The estimates of an analysis differ from the true values: labels contain errors, and the dummy shrinks merits towards
each other. The true spread, effect and share of neutral pairs are therefore found by indirect inference (Gourieroux,
Monfort and Renault 1993). With them, simulated studies that are analysed the same way reproduce the observed estimates
on average.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from statistics import NormalDist

import numpy as np
import scipy
from numpy.typing import ArrayLike

from analysis.stats.bootstrap import Floats
from analysis.stats.designs import HUMAN, MODEL, Competence, Design, Expectation, across, shifted
from analysis.stats.labels import N
from analysis.stats.mace_posterior import Effort
from analysis.stats.planning import draw_labels, fit_agreement, fit_grades, gold_of
from analysis.stats.simulation import Simulated, simulate

#: Simulated studies in each round, with the same random numbers: few while steps are long, then more.
_ROUNDS = (2,) * 8 + (8,) * 3 + (24,) * 3
# The initial effect, on the log scale, for a difference of one grade, and the share of its gain that label errors
# leave.
_EFFECT, _LOST = 2.0, 0.7
# Fitted merits grow less than the true ones, so steps are longer than the residual, but short enough to converge.
_STRETCH = 1.6
_OF_GRADES = 2.0
_FURTHEST = 2.0  # maximum factor of a step
_LARGEST = 20.0  # beyond this distance, merits are distinguished with certainty
_LEAST_ALPHA = 0.02  # below it, agreement carries no information about competence
_HARDEST = 3.0
_FEW_DRAWS = Effort(chains=16, populations=1, steps=10, draws_kept=1, thin=3)


class NoEstimateError(ValueError):
    """The analysis contains too little information to calibrate from it."""


@dataclass(frozen=True, eq=False)
class StudyFindings:
    """Summary of an analysis in a few numbers.

    Attributes
    ----------
    spread, grade_spread : float
        Standard deviation of fitted merits, and of grades, between responses of one origin to a topic, on a dimension.
        Style differences that hold on all topics are removed.
    difference : float
        Mean grade of models' responses minus that of humans' responses to the same topic; 0 if only one kind of author
        wrote.
    by_topic, by_topic_all : float
        Variance of that difference over topics: on each dimension (mean over dimensions), and of its mean over
        dimensions. Both determine interval widths. NaN without two topics that have both kinds of author.
    by_style : float
        Variance of the difference between styles and dimensions, minus the sampling variance over topics. NaN with one
        style.
    neutral : float
        Share of gold labels that are n, on dimensions with at least one such label.
    correlation : float
        Mean correlation of the signed gold labels between dimensions; 0 with one dimension.
    alpha, alpha_width : float
        Mean alpha of the dimensions, and mean width of its intervals over topics. If NaN, competences are taken from
        MACE, and all topics are equally difficult.
    differences : ndarray of shape (n_styles, n_dimensions), or None
        The difference of each style and dimension; NaN if unknown.
    """

    spread: float
    difference: float
    neutral: float
    correlation: float
    grade_spread: float = float("nan")
    alpha: float = float("nan")
    alpha_width: float = float("nan")
    by_topic: float = float("nan")
    by_topic_all: float = float("nan")
    by_style: float = float("nan")
    differences: Floats | None = None


#: The scalar findings, which are averaged over simulated studies.
_NUMBERS = tuple(field.name for field in fields(StudyFindings) if field.name != "differences")


def study_findings(
    merit: ArrayLike,
    topic: ArrayLike,
    origin: ArrayLike,
    gold: ArrayLike,
    *,
    grade: ArrayLike,
    style: ArrayLike | None = None,
    alpha: float = float("nan"),
    alpha_width: float = float("nan"),
) -> StudyFindings:
    """Summarise an analysis.

    Parameters
    ----------
    merit, grade : array_like, shape (n_responses, n_dimensions)
        Fitted merits and grades; NaN if missing.
    topic, origin : array_like of int, shape (n_responses,)
        The topic of each response, from 0, and its author: 0 human, 1 model.
    gold : array_like of int, shape (n_items, n_dimensions)
        Gold labels: 0 a, 1 n, 2 b; negative if missing.
    style : array_like of int, shape (n_responses,), optional
        The style of each response. Default: one style.
    alpha, alpha_width : float, optional
        As in `StudyFindings`.

    Returns
    -------
    StudyFindings

    Raises
    ------
    NoEstimateError
        If no topic has two graded responses, or there are no labels.
    """
    graded, labels = np.asarray(grade, dtype=np.float64), np.asarray(gold, dtype=np.int64)
    topics, origins = np.asarray(topic), np.asarray(origin)
    group = topics * 2 + origins
    kind = np.zeros(len(graded), dtype=np.int64) if style is None else np.asarray(style, dtype=np.int64)
    spread, grade_spread = (
        _spread(np.asarray(estimate, dtype=np.float64), topics, origins, kind) for estimate in (merit, graded)
    )
    if np.isnan(spread) or not np.any(labels >= 0):
        raise NoEstimateError("no topic has two graded responses, or no pair has a label")
    differences = _apart(graded, group)
    by_style = [_apart(graded[kind == one], group[kind == one]) for one in np.unique(kind)]
    return StudyFindings(
        spread=spread,
        grade_spread=grade_spread,
        difference=float(np.nanmean(differences)) if np.isfinite(differences).any() else 0.0,
        neutral=_neutral(labels),
        correlation=_correlation(labels),
        alpha=alpha,
        alpha_width=alpha_width,
        by_topic=_mean_of(_variances(differences)),
        by_topic_all=_mean_of(_variances(_row_means(differences)[:, None])),
        by_style=_between_styles(by_style),
        differences=np.stack([_row_means(estimate.T) for estimate in by_style]),
    )


def calibrate(
    design: Design, people: Competence, like: StudyFindings, *, rng: np.random.Generator, effort: Effort = _FEW_DRAWS
) -> Expectation:
    """Find the expectation under which simulated studies resemble an analysed study.

    Parameters
    ----------
    design : Design
        Design of the analysed study.
    people : Competence
        Its judges as estimated by MACE.
    like : StudyFindings
        The findings of its analysis.
    rng : numpy.random.Generator
        Source of a seed. Every round uses the same random numbers, so that rounds differ only in the expectation.
    effort : analysis.stats.mace_posterior.Effort, optional
        Number of label draws in the analysis of simulated studies, few by default.

    Returns
    -------
    Expectation
        The result after a fixed number of rounds. If no expectation reproduces the findings (for example, if labels
        repeat each other perfectly), it is the nearest within bounds.
    """
    seed = int(rng.integers(2**63))
    effect, spread = _EFFECT * like.difference, max(like.spread, 0.05)
    expected = Expectation(people, effect, spread, min(like.neutral, 0.95), _share(like.correlation))
    pattern, target = _pattern(like), like
    if pattern is not None and like.differences is not None:
        target = replace(like, by_style=float(like.differences.var(ddof=1)))
    for studies in _ROUNDS:
        simulated = _simulated(design, _with_pattern(expected, pattern), seed, effort, studies)
        if simulated is None:
            break
        expected = _towards(_nearer(design, expected, target, simulated), like, simulated, design.topics)
    calibrated = _with_pattern(expected, pattern)
    # Other styles vary less than these: the observed variance includes sampling error over topics.
    lasting = _share(like.by_style / target.by_style) if target.by_style > 0 else 0.0
    return (
        calibrated
        if pattern is None
        else replace(calibrated, style_effect=expected.style_effect * float(np.sqrt(lasting)))
    )


def _with_pattern(expected: Expectation, pattern: Floats | None) -> Expectation:
    """Set the style effects to the observed pattern, if it is known."""
    return expected if pattern is None else replace(expected, style_pattern=expected.style_effect * pattern)


def _nearer(design: Design, expected: Expectation, like: StudyFindings, simulated: StudyFindings) -> Expectation:
    """Take a step towards the observed merits, grades and labels."""
    # How much the difference of mean grades grows with the effect. Sums over as many pairs as there are responses; each
    # is weighted by the density of its lead.
    spread = float(np.sqrt(2 * across(expected) ** 2 + np.pi**2 / 3))
    gain = design.responses * float(scipy.stats.norm.pdf(expected.effect / spread)) / spread * _LOST
    gain = max(gain, 0.1)
    shared = _less(like.by_topic_all, simulated.by_topic_all) / gain**2 / 2
    topic_effect, merit_correlation = _shared(design, expected, shared)
    per_dimension = (
        _less(like.by_topic - like.by_topic_all, simulated.by_topic - simulated.by_topic_all) / gain**2 / 2 / 2
    )
    styles = _less(like.by_style, simulated.by_style) / gain**2 / 2
    # Merits show how far true merits are apart; grades, which the intervals use, show how much of that the votes
    # reveal.
    missing = (
        like.spread
        / max(simulated.spread, 1e-6)
        * (like.grade_spread / max(simulated.grade_spread, 1e-6)) ** _OF_GRADES
    )
    factor = float(np.clip(missing**_STRETCH, 1 / _FURTHEST, _FURTHEST))
    return replace(
        expected,
        spread=min(expected.spread * factor, _LARGEST),
        effect=float(
            np.clip(expected.effect + 0.7 * (like.difference - simulated.difference) / gain, -_LARGEST, _LARGEST)
        ),
        topic_effect=topic_effect,
        merit_correlation=merit_correlation,
        own_topic_effect=_root(expected.own_topic_effect**2 + per_dimension),
        style_effect=_root(expected.style_effect**2 + styles),
        neutral=float(np.clip(expected.neutral + like.neutral - simulated.neutral, 0.0, 0.95)),
        correlation=_share(expected.correlation + _STRETCH * (like.correlation - simulated.correlation)),
    )


def _shared(design: Design, expected: Expectation, added_variance: float) -> tuple[float, float]:
    """Split added variance between topic effects on all dimensions and the correlation of merits.

    Both shift a topic's differences on all dimensions together. The correlation of merits equals that of the labels,
    and is smaller only if its share of the variance alone would be too large.
    """
    # The variance of the mean lead that fully correlated merits add, compared with uncorrelated ones.
    share = 4 * expected.spread**2 / design.responses * (1 - 1 / design.dimensions)
    variance = max(expected.topic_effect**2 + share * expected.of_merits + added_variance, 0.0)
    correlation = min(_share(variance / share), expected.correlation) if share > 0 else expected.correlation
    return _root(variance - share * correlation), correlation


def _pattern(like: StudyFindings) -> Floats | None:
    """Return the style and dimension pattern of the difference, with mean 0 and standard deviation 1."""
    if like.differences is None or len(like.differences) < 2 or not np.isfinite(like.differences).all():
        return None
    centred: Floats = like.differences - like.differences.mean()
    scale = float(centred.std(ddof=1))
    return centred / scale if scale > 0 else None


def _towards(expected: Expectation, like: StudyFindings, simulated: StudyFindings, topics: int) -> Expectation:
    """Take a step towards the observed agreement.

    Alpha is roughly proportional to the square of competence, so log alpha changes by about 1 with the log odds of
    spamming.
    """
    if np.isfinite([like.alpha, simulated.alpha]).all():
        shift = np.log(max(simulated.alpha, _LEAST_ALPHA) / max(like.alpha, _LEAST_ALPHA))
        expected = replace(
            expected, competence=shifted(expected.competence, float(np.clip(shift, -_FURTHEST, _FURTHEST)))
        )
    if np.isfinite([like.alpha_width, simulated.alpha_width]).all():
        # With independent topics whose alphas vary by `difficulty`, the width of a 95 % interval of their mean is:
        slope = (2 * NormalDist().inv_cdf(0.975) * max(like.alpha, _LEAST_ALPHA)) ** 2 / topics
        square = expected.difficulty**2 + (like.alpha_width**2 - simulated.alpha_width**2) / slope
        expected = replace(expected, difficulty=float(np.sqrt(np.clip(square, 0.0, _HARDEST**2))))
    return expected


def _less(observed: float, simulated: float) -> float:
    """Return the residual; 0 if either value is unknown."""
    return observed - simulated if np.isfinite([observed, simulated]).all() else 0.0


def _root(square: float) -> float:
    return float(np.sqrt(np.clip(square, 0.0, _LARGEST**2)))


def found_in(study: Simulated, rng: np.random.Generator, effort: Effort = _FEW_DRAWS) -> StudyFindings | None:
    """Summarise a simulated study as `study_findings` does a real one; None if votes cannot show who is competent."""
    averaged = draw_labels(study, rng, effort)
    if averaged is None:
        return None
    gold = gold_of([posterior.posterior for posterior in averaged])
    topics, responses, dimensions = study.merit.shape
    fitted = fit_grades(study, np.stack([posterior.label for posterior in averaged], axis=1))
    grade, merit = (draws.mean(axis=3).reshape(topics * responses, dimensions) for draws in fitted)
    topic = np.repeat(np.arange(topics), responses)
    origin = np.tile(study.design.origin, topics)
    style = np.tile(study.design.style, topics)
    return study_findings(merit, topic, origin, gold, grade=grade, style=style, **fit_agreement(study))


def _simulated(design: Design, expected: Expectation, seed: int, effort: Effort, studies: int) -> StudyFindings | None:
    """Return the mean findings of several simulated studies."""
    rows = []
    for number in range(studies):
        rng = np.random.default_rng([seed, number])
        findings = found_in(simulate(design, expected, rng), rng, effort)
        if findings is None:
            return None
        rows.append([getattr(findings, name) for name in _NUMBERS])
    return StudyFindings(**dict(zip(_NUMBERS, np.mean(rows, axis=0).tolist(), strict=True)))


def _apart(values: Floats, group: np.ndarray) -> Floats:
    """Return models' mean minus humans' mean, shape (n_topics, n_dimensions); NaN if one is missing."""
    if not len(values):
        return np.empty((0, values.shape[1]))
    pairs = _group_means(values, group)[0].reshape(-1, 2, values.shape[1])
    difference: Floats = pairs[:, MODEL] - pairs[:, HUMAN]
    return difference


def _variances(values: Floats) -> Floats:
    """Compute the variance of each column over topics; NaN with fewer than two."""
    is_known = np.isfinite(values)
    n = is_known.sum(axis=0)
    mean = np.where(is_known, values, 0.0).sum(axis=0) / np.maximum(n, 1)
    squares = np.where(is_known, values - mean, 0.0) ** 2
    variances: Floats = np.divide(squares.sum(axis=0), n - 1, out=np.full(values.shape[1], np.nan), where=n > 1)
    return variances


def _row_means(values: Floats) -> Floats:
    is_known = np.isfinite(values)
    n = is_known.sum(axis=1)
    means: Floats = np.divide(
        np.where(is_known, values, 0.0).sum(axis=1), n, out=np.full(len(values), np.nan), where=n > 0
    )
    return means


def _mean_of(values: Floats) -> float:
    known_values = values[np.isfinite(values)]
    return float(known_values.mean()) if known_values.size else float("nan")


def _between_styles(differences: Sequence[Floats]) -> float:
    """Compute the variance between styles and dimensions of the mean differences, minus their sampling variance."""
    means = np.concatenate([_row_means(style_differences.T) for style_differences in differences])
    errors = np.concatenate(
        [
            _variances(style_differences) / np.maximum(np.isfinite(style_differences).sum(axis=0), 1)
            for style_differences in differences
        ]
    )
    is_known = np.isfinite(means) & np.isfinite(errors)
    if len(differences) < 2 or is_known.sum() < 2:
        return float("nan")
    return float(means[is_known].var(ddof=1) - errors[is_known].mean())


def _spread(values: Floats, topic: np.ndarray, origin: np.ndarray, style: np.ndarray) -> float:
    """Compute the standard deviation within a topic's responses of one origin; NaN without degrees of freedom.

    Style differences that hold for all authors are removed, because planning does not count them as differences between
    responses. If no topic has two responses of one origin, the origins' means are removed instead, and the standard
    deviation is within topics.
    """
    residuals, styles = values - _means_by(values, style), len(np.unique(style))
    spread = _spread_within(residuals, topic * 2 + origin, removed=styles - 1)
    if np.isnan(spread):
        removed = styles + len(np.unique(origin)) - 2
        spread = _spread_within(residuals - _means_by(residuals, origin), topic * 2, removed=removed)
    return spread


def _spread_within(residuals: Floats, group: np.ndarray, *, removed: int) -> float:
    """Compute the standard deviation within groups, after `removed` means of each column were subtracted before."""
    means, counts = _group_means(residuals, group)
    freedom = int(np.isfinite(residuals).sum()) - int((counts > 0).sum()) - removed * residuals.shape[1]
    return float(np.sqrt(np.nansum((residuals - means[group]) ** 2) / freedom)) if freedom > 0 else float("nan")


def _means_by(values: Floats, kind: np.ndarray) -> Floats:
    """Return the mean of each kind (style or origin) and dimension, repeated for its responses; NaN if missing."""
    means = np.empty_like(values)
    for name in np.unique(kind):
        means[kind == name] = _row_means(values[kind == name].T)
    return means


def _group_means(values: Floats, group: np.ndarray) -> tuple[Floats, np.ndarray]:
    """Return means and counts by group, for an even number of groups; NaN for empty groups."""
    groups = 2 * (int(group.max()) // 2 + 1)
    is_known = np.isfinite(values)
    counts = np.zeros((groups, values.shape[1]))
    sums = np.zeros_like(counts)
    np.add.at(counts, group, is_known)
    np.add.at(sums, group, np.where(is_known, values, 0.0))
    return np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0), counts


def _neutral(labels: np.ndarray) -> float:
    free = labels[:, (labels == N).any(axis=0)]
    return float(np.mean(free[free >= 0] == N)) if free.size else 0.0


def _correlation(labels: np.ndarray) -> float:
    complete = labels[(labels >= 0).all(axis=1)]
    varied = complete[:, complete.std(axis=0) > 0] if len(complete) > 1 else complete[:, :0]
    if varied.shape[1] < 2:
        return 0.0
    matrix = np.atleast_2d(np.corrcoef(varied.T.astype(np.float64)))
    return float(matrix[np.triu_indices(len(matrix), 1)].mean())


def _share(value: float) -> float:
    return float(np.clip(value, 0.0, 1.0))
