"""Expected exposure to a reader of the first k items, all with equal attention (fair_rag, 3.3; Diaz 2020).

The exposure of each item in a set of rankings is compared with its exposure under an ideal ranker. The ideal ranker
places useful items above the others, and treats items of a kind equally. Disparity measures how unevenly exposure is
distributed, and relevance how much of it useful items get. All functions accept many queries at once, and use each
query's own number of items if queries differ in size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: How exposure is compared with its target, and the bounds for normalisation.
#: published: as in the authors' code. Useless items have a target of 0, and the lowest disparity is 0. The highest
#: relevance still includes the exposure of useless items.
#: definition: equation 6, with the bounds that its measures can reach.
#: infinite: the limit of the definition for infinitely many items.
#: tight: the definition, with the lowest relevance that a ranker can really reach.
Bounds = Literal["published", "definition", "infinite", "tight"]
#: Bounds with which useless items share the positions left by useful ones (equation 6); otherwise their target is 0.
_SHARED: frozenset[Bounds] = frozenset({"definition", "tight"})


@dataclass(frozen=True, eq=False)
class Exposure:
    """Fairness and quality of the rankings of each query.

    Attributes
    ----------
    disparity, relevance, distance : ndarray, shape (n_queries,)
        EE-D, EE-R and the squared distance from the target (fair_rag, eq. 3).
    disparity_normalised, relevance_normalised : ndarray, shape (n_queries,)
        Normalised by the bounds; NaN if both bounds are equal (nothing useful, everything useful, or all items read).
    """

    disparity: Floats
    relevance: Floats
    distance: Floats
    disparity_normalised: Floats
    relevance_normalised: Floats


def exposure(rankings: ArrayLike, items: int, *, counted: ArrayLike | None = None) -> Floats:
    """Compute the share of rankings that contain each item (fair_rag, eq. 5), or attributed exposure (eq. 10).

    Parameters
    ----------
    rankings : array_like of int, shape (..., n_samples, k)
        Items as indices, from `plackett_luce.sample`; -1 for no item.
    items : int
        The number of items.
    counted : array_like of bool, shape (..., n_samples, k), optional
        The positions that count. For attributed exposure: positions whose item entails the output.

    Returns
    -------
    ndarray, shape (..., items)

    Raises
    ------
    ValueError
        If an index is out of range, or the shapes differ.
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
    """Compute the exposure of items under an ideal ranker, which places useful items first (fair_rag, eq. 6).

    Parameters
    ----------
    useful : array_like of bool, shape (..., n_items)
    k : int
        Cutoff of the rankings.
    present : array_like of bool, shape (..., n_items), optional
        The items that each query has; all by default.
    bounds : str
        See `Bounds`.

    Returns
    -------
    ndarray, shape (..., n_items)
        With m useful of n items: 1 for each useful item if m <= k, else k / m; (k - m) / (n - m) for each other item if
        m < k, else 0. If k > n, every ranking contains all items, and all have 1. Published and infinite: 0 for each
        other item.
    """
    is_useful, is_present = _masks(useful, present)
    n, m, cut = _sizes(is_useful, is_present, k)
    for_useful = np.where(m <= cut, 1.0, cut / np.maximum(m, 1))
    if bounds not in _SHARED:
        return np.where(is_useful, for_useful[..., None], 0.0)
    spare = np.divide(cut - m, n - m, out=np.zeros(np.shape(m)), where=(m < cut) & (n > m))
    return np.where(is_useful, for_useful[..., None], spare[..., None]) * is_present


def disparity_bounds(n: ArrayLike, k: ArrayLike, *, endless: bool = False) -> tuple[Floats, Floats]:
    """Compute the bounds of the squared norm of an exposure that sums to k over n items, each between 0 and 1.

    Parameters
    ----------
    n, k : array_like, shape (...)
        For attributed exposure, `k` is its sum s, which need not be an integer (design 7.7). The bounds are then s^2 /
        n and s; only integers reach the upper bound.
    endless : bool
        Whether to take n as infinite, as in the authors' code: the lower bound is 0.

    Returns
    -------
    (ndarray, ndarray)
        k^2 / n if all items have equal exposure, and k if the same k items are always shown.
    """
    total, size = np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64)
    low = np.zeros(np.broadcast(total, size).shape) if endless else total**2 / size
    return low, total + np.zeros_like(low)


def relevance_bounds(m: ArrayLike, n: ArrayLike, k: ArrayLike, *, kind: Bounds = "published") -> tuple[Floats, Floats]:
    """Compute the bounds of the product of an exposure with its target, for m useful of n items and cutoff k.

    Parameters
    ----------
    m, n, k : array_like, shape (...)
        k is at most n, except for `published`, where the authors' code does not limit it.
    kind : str
        See `Bounds`.

    Returns
    -------
    (ndarray, ndarray)
        published and definition: [0, m + (k - m)^2 / (n - m)] if m <= k, else [0, k^2 / m]. If all items are useful and
        m <= k, the authors' code divides by 0, and the bounds here are [0, m]. infinite: [0, m] and [0, k^2 / m].
        tight: the lower bound is reached by a ranker that shows as few useful items as possible.
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
    """Compute disparity, relevance and distance of the exposure of each query (fair_rag, 3.3.1 and 3.3.5).

    Parameters
    ----------
    exposed : array_like, shape (n_queries, n_items)
        From `exposure` (or exact).
    useful : array_like of bool, shape (n_queries, n_items)
    k : int
    present : array_like of bool, shape (n_queries, n_items), optional
    bounds : str
        See `Bounds`. For disparity, definition and tight are equal, and so are published and infinite. With published
        bounds, relevance and distance also follow the authors' code: the target of useless items is 0.

    Returns
    -------
    Exposure
    """
    e = np.atleast_2d(np.asarray(exposed, dtype=np.float64))
    is_useful, is_present = _masks(np.atleast_2d(useful), None if present is None else np.atleast_2d(present))
    n, m, cut = _sizes(is_useful, is_present, k)
    target_exposure = target(is_useful, k, present=is_present, bounds=bounds)
    # The authors' code keeps k for queries with fewer items, so no ranking of them can reach the bounds.
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
    """Compute the normalised disparity of exposure over the items that entail outputs (eq. 11, 3.3.5).

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
        NaN if nothing was attributed, or if there is only one item.
    """
    e = np.atleast_2d(np.asarray(attributed, dtype=np.float64))
    _, is_present = _masks(np.ones(e.shape, dtype=bool), None if present is None else np.atleast_2d(present))
    squared = np.einsum("qi,qi->q", e, e)
    return between(squared, *disparity_bounds(is_present.sum(axis=-1), e.sum(axis=-1), endless=endless))


def is_endless(bounds: Bounds) -> bool:
    """Check whether the lowest disparity is 0, as with infinitely many items."""
    return bounds not in _SHARED


def between(value: ArrayLike, low: ArrayLike, high: ArrayLike) -> Floats:
    """Rescale a value between two bounds to 0 and 1; NaN if the bounds are equal.

    Values within 1e-12 of a bound, for example by rounding, are set to the bound.
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
