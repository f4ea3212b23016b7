"""Draws without replacement whose probabilities change with what was found, and weights that keep estimates unbiased.

Each free slot of a questionnaire owns an arc of a circle of length 1, as long as its weight. A draw takes a fresh
uniform number and the first free slot at or after it, so that a slot which is no longer free leaves its arc to the next
one. The probability of a draw, given everything before it, is therefore known exactly, whatever was taken, returned or
laid out anew in between (docs/methods/policies.md).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.stats.bootstrap import Floats

Ints = NDArray[np.int64]
#: The least weight of a slot, relative to the largest: every free slot can be drawn.
LEAST_WEIGHT = 1e-4


def positions(weight: ArrayLike, rng: np.random.Generator) -> Floats:
    """Lay slots out on the circle: the end of each slot's arc, in (0, 1].

    Slots are ordered by descending weight, equal ones at random: the arc of a drawn slot falls to a similar one.

    Parameters
    ----------
    weight : array_like, shape (n_slots,)
        Non-negative weights, not all 0. Those below `LEAST_WEIGHT` of the largest are raised to it.
    rng : numpy.random.Generator

    Raises
    ------
    ValueError
        if a weight is negative or not finite, or all are 0.

    Examples
    --------
    >>> positions([1, 3], np.random.default_rng(0)).tolist()
    [1.0, 0.75]
    """
    weights = np.asarray(weight, dtype=np.float64)
    if not weights.size:
        return weights
    if not np.all(np.isfinite(weights)) or weights.min() < 0 or weights.max() <= 0:
        raise ValueError("Weights of slots are finite, not negative, and not all 0.")
    raised = np.maximum(weights, LEAST_WEIGHT * weights.max())
    order = np.lexsort((rng.random(weights.size), -raised))
    ends: Floats = np.empty(raised.size)
    ends[order] = np.cumsum(raised[order]) / raised.sum()
    ends[order[-1]] = 1.0
    return ends


def draw(position: Floats, is_free: NDArray[np.bool_], uniform: float) -> int:
    """Return the index of the first free slot at or after a number on the circle.

    Parameters
    ----------
    position : ndarray, shape (n_slots,)
        Distinct positions, see `positions`.
    is_free : ndarray of bool, shape (n_slots,)
        The slots that can be drawn; at least one.
    uniform : float
        A uniform random number from 0 to 1.
    """
    free = np.flatnonzero(is_free)
    distance = (position[free] - uniform) % 1.0
    return int(free[np.argmin(distance)])


def probabilities(position: Floats, is_free: NDArray[np.bool_]) -> Floats:
    """Compute the probability that each slot is drawn, shape (n_slots,); 0 for slots that are not free.

    It is the distance to the free slot before it on the circle.
    """
    free = np.flatnonzero(is_free)
    chance = np.zeros(len(position))
    if free.size:
        order = free[np.argsort(position[free])]
        chance[order] = np.diff(position[order], prepend=position[order[-1]] - 1.0)
    return chance


def pool_weights(ratio: ArrayLike, size: int) -> Floats:
    """Compute the weight of each drawn unit in a mean over all units of the pool.

    The mean of the drawn values times these weights is an unbiased estimate of the mean over the pool, although the
    draws depended on earlier values. With uniform draws, or if all units were drawn, each weight is 1. The weights add
    up to the number of draws on average, not always.

    Parameters
    ----------
    ratio : array_like, shape (n_draws,)
        For each draw in order, the probability of the drawn unit in a uniform draw from the remaining units, over the
        probability with which it was drawn. Positive.
    size : int
        Number of units in the pool, at least the number of draws.

    Raises
    ------
    ValueError
        if there are more draws than units, or a ratio is not positive.

    References
    ----------
    Farquhar, Gal and Rainforth, On Statistical Bias in Active Learning: How and When to Fix It (ICLR 2021), the
    weights of R_LURE, equation 9; Des Raj, Some Estimators in Sampling with Varying Probabilities without
    Replacement (1956).

    Examples
    --------
    >>> pool_weights([1.0, 0.5], size=3).tolist()
    [1.0, 0.5]
    """
    ratios = np.asarray(ratio, dtype=np.float64)
    draws = ratios.size
    if draws > size:
        raise ValueError(f"There are {draws} draws from a pool of {size}.")
    if draws and not np.all(ratios > 0):
        raise ValueError("A unit that was drawn had a positive probability.")
    if draws == size:
        return np.ones(draws)
    remaining = size - np.arange(1, draws + 1)
    return np.asarray(1.0 + (size - draws) / remaining * (ratios - 1.0))


def effective_draws(weight: ArrayLike) -> float:
    """Compute how many draws of equal weight have the same variance as these weighted ones (Kish); NaN if none.

    Examples
    --------
    >>> effective_draws([1.0, 1.0, 1.0]), effective_draws([2.0, 0.0])
    (3.0, 1.0)
    """
    weights = np.asarray(weight, dtype=np.float64)
    square = float((weights**2).sum())
    return float(weights.sum() ** 2 / square) if square else float("nan")
