"""Orientation: from judgments as presented to the canonical orientation, in one place (design 2).

A judgment is stored as it was presented: A is the left response. Whatever pools or compares both orders of the
same two responses goes through `canonical`, and through nothing else: forgetting to mirror on one side only is
easy, and makes agreement look poor when it is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


class SelfComparisonError(ValueError):
    """A pair of a response with itself: it has no orientation."""


@dataclass(frozen=True)
class Orientation:
    """How presented pairs map to the canonical orientation, the lower response id first.

    Attributes
    ----------
    low, high : ndarray of shape (n_pairs,)
        The two responses of each pair, ``low < high``.
    flipped : ndarray of bool, shape (n_pairs,)
        Where the pair was presented with the higher id on the left.
    """

    low: NDArray[Any]
    high: NDArray[Any]
    flipped: NDArray[np.bool_]

    def signed(self, values: ArrayLike) -> NDArray[np.float64]:
        """Turn signed judgments: -1 (left preferred), 0 (neither), 1 (right preferred) become -1 (low), 0, 1 (high).

        Parameters
        ----------
        values : array_like, shape (n_pairs,) or (n_pairs, ...)
            One judgment a pair, or several beside each other; NaN (missing) stays NaN.
        """
        array = np.asarray(values, dtype=np.float64)
        # 0 - x, not -x: a neutral judgment must not become -0.0
        return np.where(self._along(array), 0.0 - array, array)

    def labels(self, codes: ArrayLike) -> NDArray[np.int64]:
        """Turn label codes: 0 (a), 1 (n), 2 (b) as presented become 0 (low), 1 (neither), 2 (high); negative stays.

        Parameters
        ----------
        codes : array_like of int, shape (n_pairs,) or (n_pairs, ...)
            Negative codes are missing judgments.
        """
        array = np.asarray(codes, dtype=np.int64)
        return np.where(self._along(array) & (array >= 0), 2 - array, array)

    def posteriors(self, probabilities: ArrayLike) -> NDArray[np.float64]:
        """Turn label probabilities of shape (n_pairs, 3), in the order a, n, b: a and b change places where flipped."""
        array = np.asarray(probabilities, dtype=np.float64)
        return np.where(self._along(array), array[..., ::-1], array)

    def _along(self, array: NDArray[Any]) -> NDArray[np.bool_]:
        if array.shape[:1] != self.flipped.shape:
            msg = f"there are {self.flipped.size} pairs but values of shape {array.shape}: the first axis is the pairs"
            raise ValueError(msg)
        return self.flipped.reshape(self.flipped.shape + (1,) * (array.ndim - 1))


def canonical(left: ArrayLike, right: ArrayLike) -> Orientation:
    """The canonical orientation of presented pairs: the lower response id first.

    Parameters
    ----------
    left, right : array_like, shape (n_pairs,)
        Ids of the responses shown on the left (A) and on the right (B): numbers or strings, compared as such.

    Returns
    -------
    Orientation
        Turns the pairs' judgments, labels and posteriors.

    Raises
    ------
    SelfComparisonError
        If a pair holds the same response twice.
    ValueError
        If the two are not of one shape.

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
        where = np.flatnonzero(a == b)[:5].tolist()
        msg = f"pairs {where} hold the same response twice: leave them out"
        raise SelfComparisonError(msg)
    flipped = np.asarray(a > b, dtype=np.bool_)
    return Orientation(low=np.where(flipped, b, a), high=np.where(flipped, a, b), flipped=flipped)
