"""Krippendorff's alpha and Gwet's AC1 from value counts, with intervals over topics and coders (design 7.2).

Every unit adds a small coincidence matrix, and alpha depends only on their sum. The interval is computed from what each
pair of judgments of a unit contributes to the statistic (`analysis.stats.cluster_variance`).

References: Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section C to E; Gwet, Computing inter-rater
reliability and its variance in the presence of high agreement (2008), British Journal of Mathematical and Statistical
Psychology 61, 29-48, for several coders and missing judgments as in Gwet, Handbook of Inter-Rater Reliability (2014).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.stats.bootstrap import Floats, Interval
from analysis.stats.cluster_variance import Clusters, Ints, Numbers, Terms, interval_of
from analysis.stats.judgments import check

Level = Literal["nominal", "ordinal", "interval"]
ORDINAL: Final = "ordinal"


class Options(TypedDict, total=False):
    """Keyword arguments of `alpha_terms` and `alpha_interval`, other than the judgments."""

    drawn_coders: bool
    level: Level
    domain: ArrayLike | None
    pairs: SelectedPairs | None


#: With fewer randomly sampled coders, intervals of alpha cover the true value too rarely (docs/methods/intervals.md).
FEWEST_CODERS = 24


class AlphaUndefinedError(ValueError):
    """Alpha cannot be computed from these data."""


class NoPairableValuesError(AlphaUndefinedError):
    """No unit has two judgments, so agreement cannot be measured."""


class NoVariationError(AlphaUndefinedError):
    """All pairable values are equal: expected disagreement is 0, and alpha is 0/0."""


def count_values(
    unit: ArrayLike, coder: ArrayLike, value: ArrayLike, *, units: int | None = None, values: int | None = None
) -> NDArray[np.int64]:
    """Count how often each value was given to each unit.

    Parameters
    ----------
    unit : array_like of int, shape (n_judgments,)
        The unit (presented pair) of each judgment, from 0.
    coder : array_like of int, shape (n_judgments,)
        The coder of each judgment.
    value : array_like of int, shape (n_judgments,)
        Index of the value in its domain, from 0, in ascending order if the order matters. Negative: missing.
    units, values : int, optional
        Number of units, and of values in the domain. Default: the largest index plus one.

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
    """Compute the coincidence matrix of each unit.

    Parameters
    ----------
    counts : array_like, shape (n_units, n_values)
        How often each value was given to each unit.

    Returns
    -------
    ndarray of shape (n_units, n_values, n_values)
        The number of ordered pairs of values within the unit, divided by (judgments of the unit - 1). Zero for units
        with fewer than two judgments. The overall coincidence matrix is the sum over units.
    """
    n = np.asarray(counts, dtype=np.float64)
    judgments = n.sum(axis=1)
    pairs = n[:, :, None] * n[:, None, :]
    diagonal = np.arange(n.shape[1])
    pairs[:, diagonal, diagonal] -= n
    divisor = np.where(judgments > 1, judgments - 1, np.inf)
    result: Floats = pairs / divisor[:, None, None]
    return result


def alpha(counts: ArrayLike, *, level: Level = ORDINAL, values: ArrayLike | None = None) -> float:
    """Compute Krippendorff's alpha from the value counts of each unit.

    Parameters
    ----------
    counts : array_like, shape (n_units, n_values)
        How often each value was given to each unit. Units with fewer than two judgments are not pairable and are
        ignored. See `count_values`.
    level : {"ordinal", "nominal", "interval"}
        The distance between values.
    values : array_like, shape (n_values,), optional
        The values themselves, for the interval level. Default: 0, 1, 2, ...

    Returns
    -------
    float
        1 for perfect agreement, 0 for chance agreement, negative for systematic disagreement.

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
        raise NoPairableValuesError("no unit has two judgments: alpha needs at least two judgments of a unit")
    if expected[0] <= 0:
        raise NoVariationError("all paired judgments are equal: alpha needs judgments that differ")
    return float(1 - observed[0] / expected[0])


def alpha_interval(
    unit: ArrayLike,
    coder: ArrayLike,
    value: ArrayLike,
    topic: ArrayLike,
    *,
    values: int,
    coverage: float = 0.95,
    **options: Unpack[Options],
) -> Interval:
    """Compute alpha with its confidence interval over topics and coders.

    Parameters
    ----------
    unit, coder, value, topic, values, options
        As for `alpha_terms`.
    coverage : float
        Coverage of the interval: the share of studies whose interval should contain alpha in the population of topics
        and coders.

    Returns
    -------
    Interval
        No resamples are drawn. The ends are NaN with fewer than two topics or fewer than `FEWEST_CODERS` randomly
        sampled coders. They are also NaN if no topic and no coder has any influence on alpha.

    Raises
    ------
    NoPairableValuesError, NoVariationError
        If alpha is undefined.

    Examples
    --------
    >>> item, coder, value = [*range(20)] * 2, [0] * 20 + [1] * 20, [0, 1] * 19 + [1, 0]
    >>> found = alpha_interval(item, coder, value, range(20), values=2, drawn_coders=False)
    >>> round(found.estimate, 3), found.low < found.estimate < found.high < 1
    (0.805, True)
    """
    counts = count_values(unit, coder, value, units=len(np.asarray(topic)), values=values)
    estimate = alpha(counts, level=options.get("level", ORDINAL), values=options.get("domain"))
    terms = alpha_terms(unit, coder, value, topic, values=values, **options)
    low, high = interval_of(estimate, terms, level=coverage, upper_bound=1.0)
    return Interval(estimate, low, high, coverage, 0, 0, terms.topics)


def alpha_terms(
    unit: ArrayLike,
    coder: ArrayLike,
    value: ArrayLike,
    topic: ArrayLike,
    *,
    values: int,
    drawn_coders: bool = True,
    level: Level = ORDINAL,
    domain: ArrayLike | None = None,
    pairs: SelectedPairs | None = None,
) -> Terms:
    """Compute the first-order terms of alpha, one for each pair of judgments of a unit.

    Alpha is a function of the coincidence matrix, which is a sum over pairs of judgments. The term of a pair is its
    coincidences times the gradient of alpha.

    Parameters
    ----------
    unit, coder, value : array_like of int, shape (n_judgments,)
        As for `count_values`, without missing values. Units with one judgment have no term.
    topic : array_like of int, shape (n_units,)
        The topic of each unit.
    values : int
        Number of values in the domain.
    drawn_coders : bool
        Whether the coders are a random sample (workers). False if they were chosen (experts, a model).
    level : {"ordinal", "nominal", "interval"}
    domain : array_like, shape (n_values,), optional
        The values themselves, as for `alpha`.
    pairs : SelectedPairs, optional
        The pairs of these judgments, if they are known (`SharedPairs.select`). The terms then share their clusters.

    Returns
    -------
    Terms
        Input for `analysis.stats.cluster_variance.interval_of`; the upper bound of alpha is 1.
    """
    u, c, v = (np.asarray(array, dtype=np.int64) for array in (unit, coder, value))
    of_unit = np.asarray(topic, dtype=np.int64)
    counts = count_values(u, c, v, units=len(of_unit), values=values)
    gradient = _gradient(coincidences(counts).sum(axis=0), level, domain)
    first, second = _pairs_of(u) if pairs is None else (pairs.first, pairs.second)
    n = counts.sum(axis=1)[u[first]]
    added = (gradient + gradient.T)[v[first], v[second]] / (n - 1)
    if not drawn_coders:
        return Terms.of(of_unit[u[first]], None, None, added)
    if pairs is not None:
        return Terms(pairs.clusters, added, pairs.index, FEWEST_CODERS)
    return Terms.of(of_unit[u[first]], c[first], c[second], added, least=FEWEST_CODERS)


def ac1(counts: ArrayLike) -> float:
    """Compute Gwet's AC1 from the value counts of each unit: agreement corrected for chance.

    The chance model assumes that coders guess only when they are unsure. Unlike alpha, AC1 does not drop towards 0 if
    nearly all values are the same (Gwet 2008, equations 8 and 9).

    Parameters
    ----------
    counts : array_like, shape (n_units, n_values)
        How often each value was given to each unit; at least two values. Units with one judgment count towards the
        value frequencies, but not towards agreement.

    Returns
    -------
    float
        1 for perfect agreement, 0 for chance agreement.

    Raises
    ------
    NoPairableValuesError
        If no unit has two judgments.

    Examples
    --------
    >>> round(ac1([[2, 0], [0, 2], [1, 1]]), 4)
    0.3333
    """
    n = np.asarray(counts, dtype=np.float64)
    agreed, frequency = _ac1_parts(n)
    expected = float(np.sum(frequency * (1 - frequency))) / (n.shape[1] - 1)
    return float((agreed - expected) / (1 - expected))


def ac1_terms(
    unit: ArrayLike,
    coder: ArrayLike,
    value: ArrayLike,
    topic: ArrayLike,
    *,
    values: int,
    drawn_coders: bool = True,
    pairs: SelectedPairs | None = None,
) -> Terms:
    """Compute the first-order terms of AC1, one for each pair of judgments of a unit.

    Parameters and return value are those of `alpha_terms`, but a unit with one judgment also has a term. The terms use
    the derivatives of AC1 with respect to the share of agreeing pairs and to the frequency of each value.
    """
    u, c, v = (np.asarray(column, dtype=np.int64) for column in (unit, coder, value))
    of_unit = np.asarray(topic, dtype=np.int64)
    counts = count_values(u, c, v, units=len(of_unit), values=values).astype(np.float64)
    agreed, frequency = _ac1_parts(counts)
    expected = float(np.sum(frequency * (1 - frequency))) / (values - 1)
    by_agreement = 1 / (1 - expected)
    by_frequency = (agreed - 1) / (1 - expected) ** 2 * (1 - 2 * frequency) / (values - 1)
    n = counts.sum(axis=1)
    judged, pairable = int((n > 0).sum()), int((n > 1).sum())
    centred = (by_frequency - float(by_frequency @ frequency)) / judged
    first, second = _pairs_of(u) if pairs is None else (pairs.first, pairs.second)
    alone = np.flatnonzero(n[u] == 1)
    size = n[u[first]]
    agree = (v[first] == v[second]).astype(np.float64)
    in_pairs = by_agreement * (agree - agreed) / pairable + (centred[v[first]] + centred[v[second]]) / 2
    added = np.concatenate([in_pairs / (size * (size - 1) / 2), centred[v[alone]]])
    if drawn_coders and pairs is not None and not len(alone):
        return Terms(pairs.clusters, added, pairs.index, FEWEST_CODERS)
    topics = np.concatenate([of_unit[u[first]], of_unit[u[alone]]])
    if drawn_coders:
        one, other = (np.concatenate([c[side], c[alone]]) for side in (first, second))
        return Terms.of(topics, one, other, added, least=FEWEST_CODERS)
    return Terms.of(topics, None, None, added)


def _ac1_parts(counts: Floats) -> tuple[float, Floats]:
    """Return the share of agreeing pairs of judgments (mean over units) and the frequency of each value."""
    n = counts.sum(axis=1)
    pairable = n > 1
    if not pairable.any():
        raise NoPairableValuesError("no unit has two judgments: AC1 needs units with judgments by at least two coders")
    size = n[pairable]
    agreeing = np.sum(counts[pairable] * (counts[pairable] - 1), axis=1) / (size * (size - 1))
    frequency: Floats = np.mean(counts[n > 0] / n[n > 0, None], axis=0)
    return float(np.mean(agreeing)), frequency


def _gradient(matrix: Floats, level: Level, domain: ArrayLike | None) -> Floats:
    """Differentiate alpha by each cell of the coincidence matrix, with central differences."""
    size = len(matrix)
    step = 1e-5 * max(float(matrix.sum()), 1.0)
    moves = step * np.eye(size * size).reshape(-1, size, size)
    # Move cells in symmetric pairs, because alpha is a function of symmetric matrices.
    moves = (moves + moves.transpose(0, 2, 1)) / 2
    up, down = (alpha_of(matrix + sign * moves, level=level, values=domain) for sign in (1, -1))
    slope: Floats = ((up - down) / (2 * step)).reshape(size, size)
    return slope


@dataclass(frozen=True, eq=False)
class SelectedPairs:
    """All pairs of some judgments of a unit.

    Attributes
    ----------
    clusters : Clusters
        The clusters of these and other pairs.
    first, second : ndarray of int, shape (n_pairs,)
        The judgments of each pair, as indices of the selected judgments.
    index : ndarray of int, shape (n_pairs,)
        The index of each pair in `clusters`.
    """

    clusters: Clusters
    first: Ints
    second: Ints
    index: Numbers


class SharedPairs:
    """All pairs of the judges of a unit with their clusters, for statistics of subsets of the same judgments.

    Parameters
    ----------
    unit, coder : ndarray of int, shape (n,)
        Who judged which unit, each once. The first judge of a pair is the one that comes first here.
    topic : ndarray of int, shape (n_units,)
        The topic of each unit.
    """

    def __init__(self, unit: Ints, coder: Ints, topic: Ints) -> None:
        order = np.argsort(unit, kind="stable")
        unit, coder = unit[order], coder[order]
        self._sizes = np.bincount(unit, minlength=len(topic))
        ends = np.cumsum(self._sizes)
        self._place = np.arange(len(unit)) - (ends - self._sizes)[unit]  # among the judges of the unit
        pairs = self._sizes * (self._sizes - 1) // 2
        self._begin = np.cumsum(pairs) - pairs
        self._coders = 1 + int(coder.max(initial=0))
        key = unit * self._coders + coder
        self._sorted = np.argsort(key)
        self._keys = key[self._sorted]
        first, second = _pairs_of(unit)
        by_unit = np.empty((2, len(first)), dtype=np.int64)
        by_unit[:, self._pair(unit[first], self._place[first], self._place[second])] = first, second
        first, second = by_unit
        self.clusters = Clusters(topic[unit[first]], coder[first], coder[second])

    @classmethod
    def of_any(cls, judged: Sequence[tuple[Ints, Ints]], topic: Ints) -> SharedPairs:
        """Return the pairs for several questions, each with the units and coders of its judgments."""
        first = judged[0]
        # In most campaigns everybody answers all questions, so the first has all pairs.
        if not all(np.array_equal(unit, first[0]) and np.array_equal(coder, first[1]) for unit, coder in judged):
            unit, coder = (np.concatenate(columns) for columns in zip(*judged, strict=True))
            first = unit, coder
        key = first[0] * (1 + int(first[1].max(initial=0))) + first[1]
        _keys, places = np.unique(key, return_index=True)
        if len(places) < len(key):
            first = first[0][np.sort(places)], first[1][np.sort(places)]
        return cls(*first, topic)

    def select(self, unit: Ints, coder: Ints) -> SelectedPairs:
        """Return the pairs of some judgments, whose units and coders are among those here.

        Raises
        ------
        ValueError
            If somebody did not judge a unit here.
        """
        key = unit * self._coders + coder
        matches = np.minimum(np.searchsorted(self._keys, key), max(len(self._keys) - 1, 0))
        is_known = len(self._keys) and coder.max(initial=0) < self._coders and np.array_equal(self._keys[matches], key)
        if len(key) and not is_known:
            msg = "a judgment is not among those of the shared pairs"
            raise ValueError(msg)
        row = self._place[self._sorted[matches]]
        first, second = _pairs_of(unit)
        index = self._pair(unit[first], row[first], row[second]).astype(np.int32)
        return SelectedPairs(self.clusters, first, second, index)

    def _pair(self, unit: Ints, one: Ints, other: Ints) -> Ints:
        """Number the pairs: unit after unit, and within a unit by the places of their judges."""
        low, high = np.minimum(one, other), np.maximum(one, other)
        return np.asarray(self._begin[unit] + low * (2 * self._sizes[unit] - low - 1) // 2 + high - low - 1)


def _pairs_of(unit: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the indices of the first and second judgment of every pair within a unit."""
    order = np.argsort(unit, kind="stable")
    sizes = np.bincount(unit)
    begin = np.cumsum(sizes) - sizes
    firsts, seconds = [], []
    for size in np.flatnonzero(np.bincount(sizes)[2:]) + 2:
        first, second = np.triu_indices(int(size), 1)
        places = begin[sizes == size][:, None]
        firsts.append((places + first).ravel())
        seconds.append((places + second).ravel())
    if not firsts:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    return order[np.concatenate(firsts)], order[np.concatenate(seconds)]


def alpha_of(coincidences: Floats, *, level: Level = ORDINAL, values: ArrayLike | None = None) -> Floats:
    """Compute alpha of coincidence matrices of shape (resamples, n_values, n_values); NaN where it is undefined."""
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
    """Return observed and expected disagreement, each (resamples,), of coincidence matrices (resamples, V, V)."""
    marginals = np.einsum("rij->ri", matrix)
    total = np.einsum("ri->r", marginals)
    if level == "nominal":
        distance = np.broadcast_to(1.0 - np.eye(len(values)), matrix.shape)
    else:
        # The ordinal distance is the squared sum of n_g for g from c to k, minus half of both ends. It equals the
        # interval distance between mid-ranks.
        position = np.cumsum(marginals, axis=1) - marginals / 2 if level == "ordinal" else values[None, :]
        distance = np.square(position[:, :, None] - position[:, None, :])
    # The diagonal of the expected coincidences, n_c (n_c - 1), has no effect: a value's distance from itself is 0.
    # For sums over few entries, einsum is several times as fast as a reduction.
    distances = np.broadcast_to(distance, matrix.shape)
    pairs = np.where(total > 1, total - 1, np.inf)
    observed: Floats = np.einsum("rij,rij->r", matrix, distances)
    expected: Floats = np.einsum("ri,ri->r", np.einsum("rij,rj->ri", distances, marginals), marginals) / pairs
    return observed, expected
