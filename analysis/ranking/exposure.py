"""Expected exposure of items to a machine that reads the first k alike and nothing after (fair_rag, 3.3; Diaz 2020).

What a set of rankings gives each item is compared with what an ideal ranker would give it, which ranks useful items
above the others, all alike. Disparity is how unevenly exposure is spread, relevance how much of it falls on what is
useful. All functions take many queries at once; n_items is counted by query where some have fewer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: How exposure is compared with its target, and between which bounds it is normalised:
#: published: the authors' code. Useless items have a target of 0, the least disparity is 0, and the greatest relevance
#: still counts what a ranker would give useless items. definition: equation 6, and what its measures can reach.
#: infinite: the limit of the definition for infinitely many items. tight: as the definition, with the least relevance
#: that a ranker can really reach.
Bounds = Literal["published", "definition", "infinite", "tight"]
#: Those in which useless items share the places that useful ones leave (equation 6); in the others their target is 0.
_SHARED: frozenset[Bounds] = frozenset({"definition", "tight"})


@dataclass(frozen=True, eq=False)
class Exposure:
    """How fair and how good the rankings of each query are.

    Attributes
    ----------
    disparity, relevance, distance : ndarray, shape (n_queries,)
        EE-D, EE-R and the squared distance from the target (fair_rag, eq. 3).
    disparity_normalised, relevance_normalised : ndarray, shape (n_queries,)
        Between their bounds; NaN where both bounds are equal (nothing useful, everything useful, or all items read).
    """

    disparity: Floats
    relevance: Floats
    distance: Floats
    disparity_normalised: Floats
    relevance_normalised: Floats


def exposure(rankings: ArrayLike, items: int, *, counted: ArrayLike | None = None) -> Floats:
    """The share of rankings that hold each item (fair_rag, eq. 5); of attributed ones if `counted` says so (eq. 10).

    Parameters
    ----------
    rankings : array_like of int, shape (..., n_samples, k)
        Items as indices, from `plackett_luce.sample`; -1 stands for none.
    items : int
        How many items there are.
    counted : array_like of bool, shape (..., n_samples, k), optional
        Which places count: for attributed exposure, those whose item the output follows from.

    Returns
    -------
    ndarray, shape (..., items)

    Raises
    ------
    ValueError
        If an index is not one of the items', or the shapes differ.
    """
    ranking_array = np.asarray(rankings, dtype=np.int64)
    keep = ranking_array >= 0
    if counted is not None:
        is_counted = np.asarray(counted, dtype=bool)
        if is_counted.shape != ranking_array.shape:
            msg = f"what counts must have the shape of the rankings, {ranking_array.shape}, not {is_counted.shape}"
            raise ValueError(msg)
        keep &= is_counted
    if ranking_array.size and (ranking_array.max() >= items or ranking_array.min() < -1):
        msg = f"rankings name items from {ranking_array.min()} to {ranking_array.max()}, there are {items}"
        raise ValueError(msg)
    flat = ranking_array.reshape(-1, ranking_array.shape[-2] * ranking_array.shape[-1])
    rows = np.broadcast_to(np.arange(len(flat))[:, None], flat.shape)
    is_kept = keep.reshape(flat.shape)
    counts = np.bincount(rows[is_kept] * items + flat[is_kept], minlength=len(flat) * items)
    return np.asarray((counts / ranking_array.shape[-2]).reshape(*ranking_array.shape[:-2], items))


def target(useful: ArrayLike, k: int, *, present: ArrayLike | None = None, bounds: Bounds = "definition") -> Floats:
    """What an ideal ranker gives each item: useful ones above the others, all of a kind alike (fair_rag, eq. 6).

    Parameters
    ----------
    useful : array_like of bool, shape (..., n_items)
    k : int
        Where rankings are cut.
    present : array_like of bool, shape (..., n_items), optional
        Which items the query has; all by default.
    bounds : str
        See `Bounds`.

    Returns
    -------
    ndarray, shape (..., n_items)
        With m useful of n items: 1 for each useful one if m <= k, else k / m; (k - m) / (n - m) for each other one if
        m < k, else 0. If k > n, every ranking holds all items, and all have 1. Published and infinite: 0 for each
        other one.
    """
    is_useful, is_present = _masks(useful, present)
    n, m, cut = _sizes(is_useful, is_present, k)
    for_useful = np.where(m <= cut, 1.0, cut / np.maximum(m, 1))
    if bounds not in _SHARED:
        return np.where(is_useful, for_useful[..., None], 0.0)
    spare = np.divide(cut - m, n - m, out=np.zeros(np.shape(m)), where=(m < cut) & (n > m))
    return np.where(is_useful, for_useful[..., None], spare[..., None]) * is_present


def disparity_bounds(n: ArrayLike, k: ArrayLike, *, endless: bool = False) -> tuple[Floats, Floats]:
    """The least and the greatest squared norm of an exposure that sums to k over n items, each between 0 and 1.

    Parameters
    ----------
    n, k : array_like, shape (...)
        For attributed exposure, `k` is the sum of it, which need not be whole (design 7.7): the bounds are then
        s^2 / n and s, of which the latter is reached by whole numbers only.
    endless : bool
        Take n as infinite, as the authors' code does here: the least is 0.

    Returns
    -------
    (ndarray, ndarray)
        k^2 / n where all items are alike, k where the same k are always shown.
    """
    total, size = np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64)
    low = np.zeros(np.broadcast(total, size).shape) if endless else total**2 / size
    return low, total + np.zeros_like(low)


def relevance_bounds(m: ArrayLike, n: ArrayLike, k: ArrayLike, *, kind: Bounds = "published") -> tuple[Floats, Floats]:
    """The least and the greatest product of an exposure with its target, for m useful of n items, cut after k.

    Parameters
    ----------
    m, n, k : array_like, shape (...)
        k at most n, but for `published`, where the authors' code takes it as it is given.
    kind : str
        See `Bounds`.

    Returns
    -------
    (ndarray, ndarray)
        published and definition: [0, m + (k - m)^2 / (n - m)] if m <= k, else [0, k^2 / m]; where all items are useful
        and m <= k, for which the authors' code divides by 0, [0, m]. infinite: [0, m] and [0, k^2 / m]. tight: the
        least is what a ranker reaches that shows as few useful items as it can.
    """
    useful, size, cut = (np.asarray(array, dtype=np.float64) for array in (m, n, k))
    fits_cut = useful <= cut
    useless = size - useful
    spare = np.divide(cut - useful, useless, out=np.zeros(np.broadcast(useful, size, cut).shape), where=useless > 0)
    ideal = np.divide(cut, useful, out=np.ones(spare.shape), where=useful > 0)
    beyond_cut = np.where(fits_cut, 0.0 if kind == "infinite" else (cut - useful) * spare, 0.0)
    high = np.where(fits_cut, useful + beyond_cut, cut * ideal)
    low = np.zeros(high.shape)
    if kind == "tight":
        useless_shown = np.minimum(cut, useless)
        low = (cut - useless_shown) * np.where(fits_cut, 1.0, ideal) + useless_shown * np.where(fits_cut, spare, 0.0)
    return low, high


def measure(
    exposed: ArrayLike, useful: ArrayLike, k: int, *, present: ArrayLike | None = None, bounds: Bounds = "published"
) -> Exposure:
    """Disparity, relevance and distance of the exposure of each query (fair_rag, 3.3.1 and 3.3.5).

    Parameters
    ----------
    shown : array_like, shape (n_queries, n_items)
        From `exposure` (or exact).
    useful : array_like of bool, shape (n_queries, n_items)
    k : int
    present : array_like of bool, shape (n_queries, n_items), optional
    bounds : str
        See `Bounds`; of disparity, definition and tight are the same, and published and infinite. At published ones,
        relevance and distance are those of the authors' code too: of the target that is 0 for useless items.

    Returns
    -------
    Exposure
    """
    e = np.atleast_2d(np.asarray(exposed, dtype=np.float64))
    is_useful, is_present = _masks(np.atleast_2d(useful), None if present is None else np.atleast_2d(present))
    n, m, cut = _sizes(is_useful, is_present, k)
    target_exposure = target(is_useful, k, present=is_present, bounds=bounds)
    # The authors' code keeps k where a query has fewer items, so that no ranking of them reaches its bounds.
    places = np.full(n.shape, float(k)) if bounds == "published" else cut
    disparity = np.einsum("qi,qi->q", e, e)
    relevance = np.einsum("qi,qi->q", e, target_exposure)
    return Exposure(
        disparity=disparity,
        relevance=relevance,
        distance=disparity - 2 * relevance + np.einsum("qi,qi->q", target_exposure, target_exposure),
        disparity_normalised=between(disparity, *disparity_bounds(n, places, endless=is_endless(bounds))),
        relevance_normalised=between(relevance, *relevance_bounds(m, n, places, kind=bounds)),
    )


def attributed_disparity(attributed: ArrayLike, *, present: ArrayLike | None = None, endless: bool = False) -> Floats:
    """How unevenly exposure is spread over the items that outputs follow from, between its bounds (eq. 11, 3.3.5).

    Parameters
    ----------
    attributed : array_like, shape (n_queries, n_items)
        Attributed exposure: from `exposure` with `counted`.
    present : array_like of bool, shape (n_queries, n_items), optional
    endless : bool
        As for `disparity_bounds`.

    Returns
    -------
    ndarray, shape (n_queries,)
        NaN where nothing was attributed, or there is one item only.
    """
    e = np.atleast_2d(np.asarray(attributed, dtype=np.float64))
    _, is_present = _masks(np.ones(e.shape, dtype=bool), None if present is None else np.atleast_2d(present))
    squared = np.einsum("qi,qi->q", e, e)
    return between(squared, *disparity_bounds(is_present.sum(axis=-1), e.sum(axis=-1), endless=endless))


def is_endless(bounds: Bounds) -> bool:
    """Whether the least disparity is that of infinitely many items, 0."""
    return bounds not in _SHARED


def between(value: ArrayLike, low: ArrayLike, high: ArrayLike) -> Floats:
    """Where a value lies between two bounds, 0 at the lower one; NaN where they are equal.

    Values that rounding put outside by less than 1e-12 lie on the bound.
    """
    point, least, greatest = (np.asarray(array, dtype=np.float64) for array in (value, low, high))
    span = greatest - least
    scaled = np.divide(point - least, span, out=np.full(np.broadcast(point, span).shape, np.nan), where=span > 1e-12)
    is_end = (np.abs(scaled) < 1e-12) | (np.abs(scaled - 1) < 1e-12)
    return np.asarray(np.where(is_end, np.round(scaled), scaled))


def _masks(useful: ArrayLike, present: ArrayLike | None) -> tuple[Mask, Mask]:
    is_useful = np.asarray(useful, dtype=bool)
    is_present = np.ones(is_useful.shape, dtype=bool) if present is None else np.asarray(present, dtype=bool)
    if is_present.shape != is_useful.shape:
        msg = f"useful and present must have one shape, not {is_useful.shape} and {is_present.shape}"
        raise ValueError(msg)
    return is_useful & is_present, is_present


def _sizes(is_useful: Mask, is_present: Mask, k: int) -> tuple[Floats, Floats, Floats]:
    if k < 1:
        msg = f"rankings are cut after at least one item, not {k}"
        raise ValueError(msg)
    n = is_present.sum(axis=-1).astype(np.float64)
    return n, is_useful.sum(axis=-1).astype(np.float64), np.minimum(float(k), n)
