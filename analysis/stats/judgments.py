"""Judgments as arrays: input checks and canonical orientation (design 2).

A judgment is stored as it was presented: A is the left response. All code that pools or compares both orders of the
same two responses must use `canonical`. It is easy to mirror only one of the two orders by mistake, and agreement then
looks poor when it is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int64]


class RepeatedJudgmentError(ValueError):
    """A coder judged a unit more than once, which would measure agreement of coders with themselves."""


@dataclass(frozen=True)
class Judgments:
    """Checked judgments in input order, without missing ones.

    Attributes
    ----------
    unit, coder, value : ndarray of int, shape (n_judgments,)
        The judged unit, the coder, and the index of the value in its domain; all from 0.
    units, coders, values : int
        The number of units, coders and values; some may not occur.
    """

    unit: Ints
    coder: Ints
    value: Ints
    units: int
    coders: int
    values: int


def check(
    unit: ArrayLike,
    coder: ArrayLike,
    value: ArrayLike,
    *,
    units: int | None = None,
    coders: int | None = None,
    values: int | None = None,
) -> Judgments:
    """Check judgments that are given as three lists of indices of equal length.

    Parameters
    ----------
    unit, coder, value : array_like of int, shape (n_judgments,)
        The judged unit, the coder, and the index of the value in its domain, from 0. Negative values are missing and
        are ignored.
    units, coders, values : int, optional
        The number of units, coders and values. Default: the largest index plus one.

    Raises
    ------
    RepeatedJudgmentError
        If a coder judged a unit more than once.
    ValueError
        If the lists have different lengths or are not integers, or if an index is out of range.
    """
    u, c, v = _indices(unit, "unit"), _indices(coder, "coder"), _indices(value, "value")
    if not u.shape == c.shape == v.shape:
        msg = f"unit, coder and value must be equally long, they have shapes {u.shape}, {c.shape} and {v.shape}"
        raise ValueError(msg)
    is_known = v >= 0
    if not is_known.all():
        u, c, v = u[is_known], c[is_known], v[is_known]
    sizes = (_size(u, units, "unit"), _size(c, coders, "coder"), _size(v, values, "value"))
    _refuse_repeats(u, c, sizes[1])
    return Judgments(u, c, v, *sizes)


def _indices(array: ArrayLike, name: str) -> Ints:
    values = np.asarray(array)
    if values.size == 0:
        values = values.astype(np.int64)
    if values.ndim != 1 or not np.issubdtype(values.dtype, np.integer):
        msg = f"{name} must be a list of whole numbers, it has shape {values.shape} and type {values.dtype}"
        raise ValueError(msg)
    return values.astype(np.int64, copy=False)


def _size(index: Ints, size: int | None, name: str) -> int:
    largest = int(index.max(initial=-1))
    if index.min(initial=0) < 0 or (size is not None and largest >= size):
        msg = f"a {name} lies outside 0 to {largest if size is None else size - 1}"
        raise ValueError(msg)
    return largest + 1 if size is None else size


def _refuse_repeats(unit: Ints, coder: Ints, coders: int) -> None:
    key = np.sort(unit * coders + coder)
    repeats = np.flatnonzero(key[1:] == key[:-1])
    if repeats.size:
        first_unit, first_coder = divmod(int(key[repeats[0]]), coders)
        msg = (
            f"coder {first_coder} judged unit {first_unit} more than once, as did {repeats.size} in all: keep one "
            "judgment each"
        )
        raise RepeatedJudgmentError(msg)


class SelfComparisonError(ValueError):
    """A pair contains the same response twice and has no orientation."""


@dataclass(frozen=True)
class Orientation:
    """Map from presented pairs to the canonical orientation, lower response id first.

    Attributes
    ----------
    low, high : ndarray of shape (n_pairs,)
        The two responses of each pair, ``low < high``.
    flipped : ndarray of bool, shape (n_pairs,)
        Whether the pair was presented with the higher id on the left.
    """

    low: NDArray[Any]
    high: NDArray[Any]
    flipped: NDArray[np.bool_]

    def signed(self, values: ArrayLike) -> NDArray[np.float64]:
        """Reorient signed judgments: -1 (left better), 0 (neither), 1 (right better) become -1 (low), 0, 1 (high).

        Parameters
        ----------
        values : array_like, shape (n_pairs,) or (n_pairs, ...)
            One judgment per pair, or several along further axes; NaN (missing) stays NaN.
        """
        array = np.asarray(values, dtype=np.float64)
        # 0 - x, not -x: a neutral judgment must not become -0.0
        return np.where(self._along(array), 0.0 - array, array)

    def labels(self, codes: ArrayLike) -> NDArray[np.int64]:
        """Reorient label codes: 0 (a), 1 (n), 2 (b) become 0 (low), 1 (neither), 2 (high); negative codes are kept.

        Parameters
        ----------
        codes : array_like of int, shape (n_pairs,) or (n_pairs, ...)
            Negative codes are missing judgments.
        """
        array = np.asarray(codes, dtype=np.int64)
        return np.where(self._along(array) & (array >= 0), 2 - array, array)

    def posteriors(self, probabilities: ArrayLike) -> NDArray[np.float64]:
        """Reorient label probabilities of shape (n_pairs, 3), in the order a, n, b: flipped pairs swap a and b."""
        array = np.asarray(probabilities, dtype=np.float64)
        return np.where(self._along(array), array[..., ::-1], array)

    def _along(self, array: NDArray[Any]) -> NDArray[np.bool_]:
        if array.shape[:1] != self.flipped.shape:
            msg = f"there are {self.flipped.size} pairs but values of shape {array.shape}: the first axis is the pairs"
            raise ValueError(msg)
        return self.flipped.reshape(self.flipped.shape + (1,) * (array.ndim - 1))


def canonical(left: ArrayLike, right: ArrayLike) -> Orientation:
    """Compute the canonical orientation of presented pairs: the lower response id first.

    Parameters
    ----------
    left, right : array_like, shape (n_pairs,)
        Ids of the responses shown on the left (A) and on the right (B): numbers or strings, compared by their type's
        order.

    Returns
    -------
    Orientation
        Reorients the judgments, labels and posteriors of the pairs.

    Raises
    ------
    SelfComparisonError
        If a pair contains the same response twice.
    ValueError
        If the two have different shapes.

    Examples
    --------
    >>> both = canonical([1, 2], [2, 1])  # the same two responses, shown in both orders
    >>> both.signed([-1, 1]).tolist()  # each time response 1 was preferred
    [-1.0, -1.0]
    """
    a, b = np.asarray(left), np.asarray(right)
    if a.shape != b.shape or a.ndim != 1:
        msg = f"left and right must be equally long lists of ids, they have shapes {a.shape} and {b.shape}"
        raise ValueError(msg)
    if np.any(a == b):
        same_response = np.flatnonzero(a == b)[:5].tolist()
        msg = f"pairs {same_response} hold the same response twice: leave them out"
        raise SelfComparisonError(msg)
    flipped = np.asarray(a > b, dtype=np.bool_)
    return Orientation(low=np.where(flipped, b, a), high=np.where(flipped, a, b), flipped=flipped)
