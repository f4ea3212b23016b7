"""Stochastic rankings of retrieved items: the Plackett-Luce model, sampled by the Gumbel trick (fair_rag, 3.2).

Items are drawn one after another without replacement, with probabilities proportional to exp(logit) among the remaining
items. Adding Gumbel noise to the logits and sorting gives the same distribution (the paper's method). This module uses
two equivalent methods. In the exponential race, each item arrives after an exponential time with rate exp(logit).
Drawing with replacement, and keeping only the first occurrence of each item, is much faster if few of many items are
needed.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Random numbers in one block: 16 MB.
_BLOCK = 2_000_000
# Extra draws beyond the number of items, because most rankings draw some item twice.
_SPARE = 3
#: Maximum number of items for enumeration: the number of rankings is the factorial.
MOST_ENUMERATED = 8


class UnusableScoresError(ValueError):
    """The scores cannot be ranked: there are none, or one is NaN or infinite."""


def normalise(scores: ArrayLike) -> Floats:
    """Normalise the retrieval scores of each query to [1, 2] by min-max (fair_rag, 3.2.1, footnote 2).

    Parameters
    ----------
    scores : array_like, shape (..., n_items)
        Higher is better. NaN: no item (for queries with fewer items than others).

    Returns
    -------
    ndarray, shape (..., n_items)
        NaN if the score is NaN. If all scores of a query are equal, all are 1.

    Raises
    ------
    UnusableScoresError
        If a query has no items, or a score is infinite.

    Examples
    --------
    >>> normalise([3.0, 5.0, 4.0]).tolist()
    [1.0, 2.0, 1.5]
    >>> normalise([7.0, 7.0]).tolist()
    [1.0, 1.0]
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim == 0 or values.shape[-1] == 0 or np.isnan(values).all(axis=-1).any():
        raise UnusableScoresError("a query has no retrieved item: leave it out, or retrieve more")
    if np.isinf(values).any():
        raise UnusableScoresError("a retrieval score is infinite: give finite scores, NaN where there is no item")
    low = np.nanmin(values, axis=-1, keepdims=True)
    span = np.nanmax(values, axis=-1, keepdims=True) - low
    shifted = np.divide(values - low, span, out=np.where(np.isnan(values), np.nan, 0.0), where=span > 0)
    return 1.0 + np.asarray(shifted, dtype=np.float64)


def logits(scores: ArrayLike, alpha: float) -> Floats:
    """Compute the logits of the fair retriever: normalised scores raised to the fairness parameter (fair_rag, eq. 2).

    Parameters
    ----------
    scores : array_like, shape (..., n_items)
        As for `normalise`.
    alpha : float
        0 gives a uniformly random ranking; larger values are closer to the deterministic one. The paper uses 1, 2, 4,
        8.

    Returns
    -------
    ndarray, shape (..., n_items)
        -inf if there is no item.

    Raises
    ------
    ValueError
        If alpha is negative or not finite.
    UnusableScoresError
        As from `normalise`.
    """
    if not (np.isfinite(alpha) and alpha >= 0):
        msg = f"the fairness parameter must be a finite number from 0 on, it is {alpha}"
        raise ValueError(msg)
    powered = normalise(scores) ** alpha
    return np.where(np.isnan(np.asarray(scores, dtype=np.float64)), -np.inf, powered)


def deterministic(scores: ArrayLike, k: int) -> Ints:
    """Return the k best items of each query by score; equal scores in the order of the items.

    Returns
    -------
    ndarray of int, shape (..., min(k, n_items))
        -1 if a query has fewer items.
    """
    values = np.asarray(scores, dtype=np.float64)
    order = np.argsort(-values, axis=-1, kind="stable")[..., : _cut(k, values.shape[-1])]
    is_candidate = ~np.isnan(np.take_along_axis(values, order, axis=-1))
    return np.where(is_candidate, order, -1)


def sample(item_logits: ArrayLike, *, samples: int, k: int, rng: np.random.Generator) -> Ints:
    """Draw rankings that are cut off after k items.

    Parameters
    ----------
    item_logits : array_like, shape (..., n_items)
        From `logits`; -inf if there is no item.
    samples : int
        Number of rankings per query (N = 100 in the paper).
    k : int
        Cutoff of the rankings (5 in the paper), limited to the number of items.
    rng : numpy.random.Generator
        Source of random numbers. The same queries in the same order give the same rankings. To make a query's rankings
        independent of the other queries, sample it alone with its own generator.

    Returns
    -------
    ndarray of int, shape (..., samples, min(k, n_items))
        Items as indices, best first; -1 if a query has fewer items.

    Raises
    ------
    ValueError
        If `samples` or `k` is less than 1.
    UnusableScoresError
        If a logit is NaN or inf, or a query has no items.
    """
    logits = _checked(item_logits)
    if samples < 1:
        msg = f"at least one ranking must be drawn, not {samples}"
        raise ValueError(msg)
    cut = _cut(k, logits.shape[-1])
    flat = logits.reshape(-1, logits.shape[-1])
    rankings = np.empty((len(flat), samples, cut), dtype=np.int64)
    rows_at_once = max(1, _BLOCK // (samples * (cut + _SPARE)))
    for begin in range(0, len(flat), rows_at_once):
        rankings[begin : begin + rows_at_once] = _sample_block(flat[begin : begin + rows_at_once], samples, cut, rng)
    return rankings.reshape(*logits.shape[:-1], samples, cut)


def _sample_block(block: Floats, samples: int, cut: int, rng: np.random.Generator) -> Ints:
    """Draw with replacement and keep first occurrences, which is faster; complete short rankings with a race."""
    draws = min(cut + _SPARE, block.shape[-1] + _SPARE)
    draws_made = _with_replacement(block, samples, draws, rng)
    rankings, n = _first_new(draws_made, cut)
    query, row = np.nonzero(n < cut)
    if query.size:
        # Continue with the remaining items: the model of the next draws is the same.
        remaining = block[query]  # a copy
        drawn_items = rankings[query, row]
        is_drawn = np.arange(cut) < n[query, row][:, None]
        np.put_along_axis(remaining, np.where(is_drawn, drawn_items, drawn_items[:, :1]), -np.inf, axis=1)
        raced = _race(remaining, cut, rng)
        behind = np.clip(np.arange(cut) - n[query, row][:, None], 0, cut - 1)
        rankings[query, row] = np.where(is_drawn, drawn_items, np.take_along_axis(raced, behind, axis=1))
    return rankings


def _with_replacement(block: Floats, samples: int, draws: int, rng: np.random.Generator) -> Ints:
    """Draw items with replacement, in proportion to exp(logit) of each query; shape (queries, samples, draws)."""
    weight = np.exp(block - block.max(axis=-1, keepdims=True))
    upto = np.cumsum(weight, axis=-1)
    points = rng.random((len(block), samples * draws)) * upto[:, -1:]
    items = np.empty(points.shape, dtype=np.int64)
    for query, (bounds, query_points) in enumerate(zip(upto, points, strict=True)):
        items[query] = np.searchsorted(bounds, query_points, side="right")
    # If rounding exceeds the total, use the last item with a positive weight.
    last = block.shape[-1] - 1 - np.argmax(weight[:, ::-1] > 0, axis=-1)
    return np.asarray(np.minimum(items, last[:, None]).reshape(len(block), samples, draws))


def _first_new(draws: Ints, cut: int) -> tuple[Ints, Ints]:
    """Return the first distinct items of each row of draws, padded with -1, and their number."""
    rankings = np.full((*draws.shape[:-1], cut), -1, dtype=np.int64)
    n = np.zeros(draws.shape[:-1], dtype=np.int64)
    flat, count = rankings.reshape(-1, cut), n.reshape(-1)
    rows = np.arange(len(flat))
    for item in np.moveaxis(draws.reshape(-1, draws.shape[-1]), -1, 0):
        is_new = (count < cut) & (flat != item[:, None]).all(axis=1)
        flat[rows[is_new], count[is_new]] = item[is_new]
        count += is_new
    return rankings, n


def _race(rows: Floats, cut: int, rng: np.random.Generator) -> Ints:
    """Draw the first items of each row by the exponential race, padded with -1; shape (n_rows, cut)."""
    rankings = np.empty((len(rows), cut), dtype=np.int64)
    rows_at_once = max(1, _BLOCK // rows.shape[-1])
    for begin in range(0, len(rows), rows_at_once):
        block = rows[begin : begin + rows_at_once]
        # On the log scale, because the rates of different items can exceed the range of a float.
        times = np.log(rng.standard_exponential(block.shape)) - block
        nearest = np.argpartition(times, cut - 1, axis=-1)[..., :cut]
        arrival_times = np.take_along_axis(times, nearest, axis=-1)
        order = np.argsort(arrival_times, axis=-1)
        is_finite = np.isfinite(np.take_along_axis(arrival_times, order, axis=-1))
        rankings[begin : begin + rows_at_once] = np.where(is_finite, np.take_along_axis(nearest, order, axis=-1), -1)
    return rankings


def log_probability(item_logits: ArrayLike, ranking: ArrayLike) -> float:
    """Compute the log probability that a ranking begins with these items in this order (fair_rag, eq. 1).

    Parameters
    ----------
    item_logits : array_like, shape (n_items,)
    ranking : array_like of int, shape (length,)
        The first items of a ranking; all items for the probability of a complete ranking.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an item is repeated or does not exist.

    Examples
    --------
    >>> round(float(np.exp(log_probability([0.0, 0.0, 0.0], [2, 0]))), 6)
    0.166667
    """
    remaining = _checked(item_logits).copy()
    total = 0.0
    for item in np.asarray(ranking, dtype=np.int64).tolist():
        if not (0 <= item < remaining.size) or remaining[item] == -np.inf:
            msg = f"item {item} does not exist or stands twice in the ranking"
            raise ValueError(msg)
        largest = remaining.max()
        total += float(remaining[item] - largest - np.log(np.exp(remaining - largest).sum()))
        remaining[item] = -np.inf
    return total


def exact_exposure(item_logits: ArrayLike, k: int) -> Floats:
    """Compute the probability that each item is among the first k, by enumeration of rankings (fair_rag, eq. 5).

    Parameters
    ----------
    item_logits : array_like, shape (n_items,)
        At most 8 items.
    k : int

    Returns
    -------
    ndarray, shape (n_items,)
        The sum is min(k, n_items).

    Raises
    ------
    ValueError
        If there are too many items to enumerate.
    """
    logits = _checked(item_logits)
    if logits.ndim != 1 or logits.size > MOST_ENUMERATED:
        msg = f"exact exposure is for one query of at most {MOST_ENUMERATED} items; draw rankings instead"
        raise ValueError(msg)
    exposure = np.zeros(logits.size)
    items = np.flatnonzero(logits > -np.inf).tolist()
    for first in permutations(items, min(_cut(k, logits.size), len(items))):
        exposure[list(first)] += np.exp(log_probability(logits, first))
    return exposure


def _cut(k: int, items: int) -> int:
    if k < 1:
        msg = f"rankings are cut after at least one item, not {k}"
        raise ValueError(msg)
    return min(k, items)


def _checked(item_logits: ArrayLike) -> Floats:
    logits = np.asarray(item_logits, dtype=np.float64)
    if logits.ndim == 0 or logits.shape[-1] == 0 or (logits == -np.inf).all(axis=-1).any():
        raise UnusableScoresError("a query has no item to rank")
    if np.isnan(logits).any() or (logits == np.inf).any():
        raise UnusableScoresError("a logit is NaN or infinite; -inf stands for an item that is not there")
    return logits
