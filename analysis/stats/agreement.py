"""Krippendorff's alpha from value counts, fast enough to be resampled a thousand times (design 7.2).

Every unit adds a small matrix of coincidences; alpha needs only their sum. A bootstrap over topics therefore
sums one matrix a topic, weighted by how often the topic was drawn, instead of going back to the judgments. The
ordinal distance depends on the marginals, so it is computed anew in every resample.

Reference: Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section C to E.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from analysis.stats.bootstrap import Floats, Interval, bootstrap
from analysis.stats.judgments import check

Level = Literal["nominal", "ordinal", "interval"]


class AlphaUndefinedError(ValueError):
    """Alpha cannot be computed from these data."""


class NoPairableValuesError(AlphaUndefinedError):
    """No unit was judged twice, so nothing can agree or disagree."""


class NoVariationError(AlphaUndefinedError):
    """All pairable values are equal: no disagreement can be expected by chance, alpha is 0/0."""


def count_values(
    unit: ArrayLike, coder: ArrayLike, value: ArrayLike, *, units: int | None = None, values: int | None = None
) -> NDArray[np.int64]:
    """Count how often each value was given to each unit.

    Parameters
    ----------
    unit : array_like of int, shape (n_judgments,)
        The unit (presented pair) of each judgment, from 0.
    coder : array_like of int, shape (n_judgments,)
        Who judged.
    value : array_like of int, shape (n_judgments,)
        The value's position in its domain, from 0; in ascending order where order matters. Negative: missing.
    units, values : int, optional
        Number of units and of values in the domain; by default the largest index plus one.

    Returns
    -------
    ndarray of int, shape (n_units, n_values)

    Raises
    ------
    RepeatedJudgmentError, ValueError
        See `analysis.stats.judgments.check`.
    """
    judged = check(unit, coder, value, units=units, values=values)
    cells = np.bincount(judged.unit * judged.values + judged.value, minlength=judged.units * judged.values)
    return cells.reshape(judged.units, judged.values)


def coincidences(counts: ArrayLike) -> Floats:
    """What each unit adds to the matrix of coincidences.

    Parameters
    ----------
    counts : array_like, shape (n_units, n_values)
        How often each value was given to each unit.

    Returns
    -------
    ndarray of shape (n_units, n_values, n_values)
        Pairs of values within the unit over (judgments of the unit - 1); zero for units with fewer than two judgments.
        The matrix of coincidences is the sum over units.
    """
    n = np.asarray(counts, dtype=np.float64)
    judgments = n.sum(axis=1)
    pairs = n[:, :, None] * n[:, None, :]
    diagonal = np.arange(n.shape[1])
    pairs[:, diagonal, diagonal] -= n
    divisor = np.where(judgments > 1, judgments - 1, np.inf)
    result: Floats = pairs / divisor[:, None, None]
    return result


def alpha(counts: ArrayLike, *, level: Level = "ordinal", values: ArrayLike | None = None) -> float:
    """Krippendorff's alpha of values counted by unit.

    Parameters
    ----------
    counts : array_like, shape (n_units, n_values)
        How often each value was given to each unit; units with fewer than two judgments are not pairable and do not
        count. See `count_values`.
    level : {"ordinal", "nominal", "interval"}
        Which distance holds between values.
    values : array_like, shape (n_values,), optional
        The values themselves, for the interval level; 0, 1, 2, ... by default.

    Returns
    -------
    float
        1 for perfect agreement, 0 for what chance gives, negative for systematic disagreement.

    Raises
    ------
    NoPairableValuesError
        If no unit has two judgments.
    NoVariationError
        If all pairable values are equal.

    Examples
    --------
    >>> round(alpha([[2, 0], [0, 2], [1, 1]], level="nominal"), 4)
    0.4444
    """
    matrix = coincidences(counts).sum(axis=0)[None]
    observed, expected = _disagreements(matrix, level, _as_values(values, matrix.shape[-1]))
    if not np.any(matrix):
        raise NoPairableValuesError(
            "no unit has two judgments: alpha needs units that were judged by at least two coders"
        )
    if expected[0] <= 0:
        raise NoVariationError("all pairable values are equal: alpha needs judgments that differ somewhere")
    return float(1 - observed[0] / expected[0])


def alpha_interval(
    counts: ArrayLike,
    topic: ArrayLike,
    weights: Floats,
    *,
    level: Level = "ordinal",
    values: ArrayLike | None = None,
    coverage: float = 0.95,
) -> Interval:
    """Alpha with its bootstrap interval over topics.

    Parameters
    ----------
    counts : array_like, shape (n_units, n_values)
        How often each value was given to each unit.
    topic : array_like of int, shape (n_units,)
        The topic of each unit, from 0 to ``n_topics - 1``.
    weights : ndarray of shape (resamples, n_topics)
        From `analysis.stats.bootstrap.resample_weights`. A topic drawn twice counts as two topics: its units do not
        pair with their copies.
    level, values
        As for `alpha`.
    coverage : float
        Share of resamples within the interval.

    Returns
    -------
    Interval
        Resamples in which alpha is undefined (no pairable values, no variation) are dropped and counted. Topics
        without a unit in `counts` take part in the draws and add nothing.

    Raises
    ------
    NoPairableValuesError, NoVariationError
        If alpha of the data themselves is undefined.
    """
    n = np.asarray(counts, dtype=np.float64)
    alpha(n, level=level, values=values)  # raises, with the cure, where undefined
    per_topic = topic_coincidences(n, topic, topics=weights.shape[1])
    return bootstrap(lambda w: resampled_alpha(per_topic, w, level=level, values=values), weights, level=coverage)


def topic_coincidences(counts: ArrayLike, topic: ArrayLike, *, topics: int) -> Floats:
    """What each topic adds to the matrix of coincidences: (n_topics, n_values, n_values)."""
    parts = coincidences(counts)
    index = np.asarray(topic, dtype=np.int64)
    if index.shape != parts.shape[:1] or np.any(index < 0) or np.any(index >= topics):
        msg = f"there must be one topic from 0 to {topics - 1} for each of the {parts.shape[0]} units"
        raise ValueError(msg)
    cells = parts.shape[1] * parts.shape[2]
    place = index[:, None] * cells + np.arange(cells)
    total = np.bincount(place.ravel(), weights=parts.ravel(), minlength=topics * cells).astype(np.float64)
    return total.reshape(topics, *parts.shape[1:])


def resampled_alpha(
    per_topic: Floats, weights: Floats, *, level: Level = "ordinal", values: ArrayLike | None = None
) -> Floats:
    """Alpha in every resample of topics.

    Parameters
    ----------
    per_topic : ndarray of shape (n_topics, n_values, n_values)
        From `topic_coincidences`.
    weights : ndarray of shape (resamples, n_topics)
        How often each topic was drawn.
    level, values
        As for `alpha`.

    Returns
    -------
    ndarray of shape (resamples,)
        NaN where alpha is undefined.
    """
    n_values = per_topic.shape[-1]
    matrix = (weights @ per_topic.reshape(len(per_topic), -1)).reshape(-1, n_values, n_values)
    return alpha_of(matrix, level=level, values=values)


def heard_coincidences(
    unit: ArrayLike, value: ArrayLike, heard: Floats, unit_weights: Floats, *, values: int
) -> Floats:
    """Matrices of coincidences where each resample hears other coders.

    Parameters
    ----------
    unit, value : array_like of int, shape (n_judgments,)
        As for `count_values`; nothing missing.
    heard : ndarray of shape (n_judgments, resamples)
        How often the coder of each judgment was drawn; 0: not heard. A coder drawn twice counts as two, whose judgments
        do not pair with their copies, as topics drawn twice do not pair with theirs.
    unit_weights : ndarray of shape (resamples, n_units)
        How often the topic of each unit was drawn; 0 leaves a unit out.
    values : int
        Number of values in the domain.

    Returns
    -------
    ndarray of shape (resamples, n_values, n_values)
        For `alpha_of`. A unit adds as much as it was heard: the divisor of its pairs is such that they sum to that.
    """
    units, resamples = unit_weights.shape[1], len(unit_weights)
    cell = np.asarray(unit, dtype=np.int64) * values + np.asarray(value, dtype=np.int64)
    count = len(cell)
    into = sparse.coo_array((np.ones(count), (cell, np.arange(count))), shape=(units * values, count)).tocsr()
    n = (into @ heard).reshape(units, values, resamples)
    itself = (into @ np.square(heard)).reshape(units, values, resamples)
    total = n.sum(axis=1)
    pairs = np.square(total) - itself.sum(axis=1)
    share = np.divide(total, pairs, out=np.zeros_like(total), where=pairs > 1e-9) * unit_weights.T
    found = np.empty((resamples, values, values))
    for one in range(values):
        for other in range(values):
            product = n[:, one] * n[:, other] - (itself[:, one] if one == other else 0.0)
            found[:, one, other] = (share * product).sum(axis=0)
    return found


def alpha_of(coincidences: Floats, *, level: Level = "ordinal", values: ArrayLike | None = None) -> Floats:
    """Alpha of matrices of coincidences, shape (resamples, n_values, n_values); NaN where it is undefined."""
    observed, expected = _disagreements(coincidences, level, _as_values(values, coincidences.shape[-1]))
    ratio: Floats = np.divide(observed, expected, out=np.full(observed.shape, np.nan), where=expected > 0)
    return 1 - ratio


def _as_values(values: ArrayLike | None, n_values: int) -> Floats:
    result = np.arange(n_values, dtype=np.float64) if values is None else np.asarray(values, dtype=np.float64)
    if result.shape != (n_values,):
        msg = f"there are {n_values} values in the counts but {result.shape} in the domain"
        raise ValueError(msg)
    return result


def _disagreements(matrix: Floats, level: Level, values: Floats) -> tuple[Floats, Floats]:
    """Observed and expected disagreement, each (resamples,), of matrices of coincidences (resamples, V, V)."""
    marginals = np.einsum("rij->ri", matrix)
    total = np.einsum("ri->r", marginals)
    if level == "nominal":
        distance = np.broadcast_to(1.0 - np.eye(len(values)), matrix.shape)
    else:
        # The ordinal distance, (sum of n_g for g from c to k, less half of both ends) squared, is the interval
        # distance between mid-ranks.
        place = np.cumsum(marginals, axis=1) - marginals / 2 if level == "ordinal" else values[None, :]
        distance = np.square(place[:, :, None] - place[:, None, :])
    # The diagonal of the expected coincidences, n_c (n_c - 1), never counts: a value's distance from itself is 0.
    # Sums along a few entries: einsum's loop is several times as fast as a reduction.
    distances = np.broadcast_to(distance, matrix.shape)
    pairs = np.where(total > 1, total - 1, np.inf)
    observed: Floats = np.einsum("rij,rij->r", matrix, distances)
    expected: Floats = np.einsum("ri,ri->r", np.einsum("rij,rj->ri", distances, marginals), marginals) / pairs
    return observed, expected
