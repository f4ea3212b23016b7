"""Gold labels, majorities, differentiable pairs, and the corrected crowds (design 7.2; crowdrag25, 5.1).

Labels are codes in the order of their domain: 0 is a (the first response is better), 1 is n (neither), 2 is b.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.stats.bootstrap import Floats

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

#: The labels by code; ``code - 1`` is the signed judgment (a = -1, n = 0, b = 1).
LABELS = ("a", "n", "b")
A, N, B = range(3)

#: The published implementation numbers the labels a, b, n and selects the first most probable one.
TIE_ORDER = (A, B, N)


def gold(posterior: ArrayLike) -> Ints:
    """Return the gold label of each pair: the most probable label.

    Parameters
    ----------
    posterior : array_like, shape (n_pairs, 3)
        Probability of a, n and b; a row with NaN has no label.

    Returns
    -------
    ndarray of int, shape (n_pairs,)
        Codes into `LABELS`, -1 if the posterior is NaN. Exactly equal probabilities resolve to a before b before n, as
        in the published corpus; `tied` shows these cases.

    Raises
    ------
    ValueError
        If the posterior does not have three columns.

    Examples
    --------
    >>> [LABELS[code] for code in gold([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])]
    ['a', 'b']
    """
    p = _posterior(posterior)
    ordered = p[:, TIE_ORDER]
    undefined = np.asarray(np.isnan(ordered).any(axis=1))
    codes = np.asarray(TIE_ORDER)[np.argmax(np.where(undefined[:, None], 0.0, ordered), axis=1)]
    return np.where(undefined, -1, codes)


def tied(posterior: ArrayLike, *, tolerance: float = 1e-9) -> Mask:
    """Mark pairs whose two most probable labels are equally probable, within a tolerance; their gold label is weak."""
    p = np.sort(_posterior(posterior), axis=1)
    return np.asarray(p[:, -1] - p[:, -2] <= tolerance)


def first_votes(item: ArrayLike, k: int) -> Mask:
    """Mark the first k judgments of each item.

    If a questionnaire was assigned twice, its pairs have more than k votes, and only the first k count.

    Parameters
    ----------
    item : array_like of int, shape (n_judgments,)
        The item of each judgment, in the order in which judgments count (file order, or time order).
    k : int
        Number of judgments that count.

    Returns
    -------
    ndarray of bool, shape (n_judgments,)

    Raises
    ------
    ValueError
        If `k` is less than 1.
    """
    if k < 1:
        msg = f"at least one vote of each item must count, not {k}"
        raise ValueError(msg)
    return np.asarray(_place_within(np.asarray(item), np.arange(np.size(item))) < k)


def majority(counts: ArrayLike) -> Mask:
    """Check whether more than half of the votes are equal.

    Parameters
    ----------
    counts : array_like of int, shape (..., n_labels)
        How often each label was given. Without votes there is no majority.

    Returns
    -------
    ndarray of bool, shape (...)
    """
    n = np.asarray(counts)
    return np.asarray(2 * n.max(axis=-1) > n.sum(axis=-1))


def differentiable(counts: ArrayLike) -> Mask:
    """Check whether a pair's responses are differentiable: more than 4/7 of its dimensions have a majority.

    Parameters
    ----------
    counts : array_like of int, shape (n_pairs, n_dimensions, n_labels)
        How often each label was given to each pair on each dimension.

    Returns
    -------
    ndarray of bool, shape (n_pairs,)
        With seven dimensions, at least five majorities. Other pairs are minimally differentiable.

    Raises
    ------
    ValueError
        If the counts do not have these three axes, or there are no dimensions.

    Examples
    --------
    One pair has seven dimensions with five votes each: five majorities are enough.

    >>> bool(differentiable([[[3, 1, 1]] * 5 + [[2, 2, 1]] * 2])[0])
    True
    """
    n = np.asarray(counts)
    if n.ndim != 3 or n.shape[1] == 0:
        msg = f"counts must have the axes pair, dimension, label; the shape is {n.shape}"
        raise ValueError(msg)
    return np.asarray(7 * majority(n).sum(axis=1) > 4 * n.shape[1])


def competent(spam_probability: ArrayLike, *, limit: float = 0.7) -> Mask:
    """Select the corrected crowd C*: judgments of participants whose e0 on the dimension does not exceed the limit.

    Parameters
    ----------
    spam_probability : array_like, shape (n_judgments,)
        e0 of each judgment's participant on the judgment's dimension. NaN (not fitted) is an error.
    limit : float
        0.7 is the limit of the published tables.

    Returns
    -------
    ndarray of bool, shape (n_judgments,)
        True if the judgment is kept.

    Raises
    ------
    ValueError
        If an e0 is NaN.
    """
    return np.asarray(_fitted(spam_probability) <= limit)


def without_least_competent(
    item: ArrayLike, annotator: ArrayLike, spam_probability: ArrayLike, *, share: float = 0.25, keep: int = 3
) -> Mask:
    """Select the other corrected crowd: remove the least competent quarter, but keep three judgments per pair.

    Parameters
    ----------
    item, annotator : array_like of int, shape (n_judgments,)
        The item and annotator of each judgment, on one dimension.
    spam_probability : array_like, shape (n_annotators,)
        e0 of each annotator on this dimension.
    share : float
        Share of the annotators with judgments to remove, rounded down. Those with the highest e0 are removed; among
        equal ones, the higher index first.
    keep : int
        Minimum number of judgments of an item to keep: the most competent first, and earlier ones before later ones of
        equally competent people.

    Returns
    -------
    ndarray of bool, shape (n_judgments,)
        True if the judgment is kept.

    Raises
    ------
    ValueError
        If an e0 is NaN, or `share` is not between 0 and 1.
    """
    if not 0.0 <= share <= 1.0:
        msg = f"share lies between 0 and 1, it is {share}"
        raise ValueError(msg)
    annotators = np.asarray(annotator, dtype=np.int64)
    e0 = _fitted(spam_probability)
    present = np.unique(annotators)
    ascending = present[np.argsort(e0[present], kind="stable")]
    removed = np.zeros(len(e0), dtype=bool)
    removed[ascending[len(ascending) - int(share * len(ascending)) :]] = True
    return np.asarray(~removed[annotators] | (_place_within(np.asarray(item), e0[annotators]) < keep))


def _posterior(posterior: ArrayLike) -> Floats:
    p = np.asarray(posterior, dtype=np.float64)
    if p.ndim != 2 or p.shape[1] != len(LABELS):
        msg = f"the posterior must have one column for each of {LABELS}, its shape is {p.shape}"
        raise ValueError(msg)
    return p


def _fitted(spam_probability: ArrayLike) -> Floats:
    e0 = np.asarray(spam_probability, dtype=np.float64)
    if np.isnan(e0).any():
        raise ValueError("a spam probability is NaN: fit MACE on these judgments first")
    return e0


def _place_within(group: NDArray[np.int64], key: NDArray[np.float64] | Ints) -> Ints:
    """Return the rank (from 0) of each entry within its group, by ascending key; equal keys in input order."""
    order = np.lexsort((key, group))
    ordered = group[order]
    start = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if ordered.size else np.zeros(0, dtype=np.int64)
    sizes = np.diff(np.r_[start, ordered.size])
    rank = np.empty(len(group), dtype=np.int64)
    rank[order] = np.arange(len(group)) - np.repeat(start, sizes)
    return rank
