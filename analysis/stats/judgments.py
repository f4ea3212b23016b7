"""Judgments as arrays: the checks that every method makes before it counts anything."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int64]


class RepeatedJudgmentError(ValueError):
    """A coder judged a unit more than once; coders would agree with themselves."""


@dataclass(frozen=True)
class Judgments:
    """Checked judgments, missing ones left out: one entry each, in the order given.

    Attributes
    ----------
    unit, coder, value : ndarray of int, shape (n_judgments,)
        What was judged, by whom, and the value's position in its domain; all from 0.
    units, coders, values : int
        How many there are of each; not all need occur.
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
    """Check judgments given as three equally long lists of indices.

    Parameters
    ----------
    unit, coder, value : array_like of int, shape (n_judgments,)
        What was judged, by whom, and the value's position in its domain, from 0. A negative value is missing and
        left out.
    units, coders, values : int, optional
        How many there are of each; by default the largest index plus one.

    Raises
    ------
    RepeatedJudgmentError
        If a coder judged a unit more than once.
    ValueError
        If the lists are not equally long, hold no whole numbers, or an index lies outside its range.
    """
    u, c, v = _indices(unit, "unit"), _indices(coder, "coder"), _indices(value, "value")
    if not u.shape == c.shape == v.shape:
        msg = f"unit, coder and value must be equally long, they have shapes {u.shape}, {c.shape} and {v.shape}"
        raise ValueError(msg)
    there = v >= 0
    if not there.all():
        u, c, v = u[there], c[there], v[there]
    sizes = (_size(u, units, "unit"), _size(c, coders, "coder"), _size(v, values, "value"))
    _refuse_repeats(u, c, sizes[1])
    return Judgments(u, c, v, *sizes)


def _indices(array: ArrayLike, name: str) -> Ints:
    given = np.asarray(array)
    if given.size == 0:
        given = given.astype(np.int64)
    if given.ndim != 1 or not np.issubdtype(given.dtype, np.integer):
        msg = f"{name} must be a list of whole numbers, it has shape {given.shape} and type {given.dtype}"
        raise ValueError(msg)
    return given.astype(np.int64, copy=False)


def _size(index: Ints, size: int | None, name: str) -> int:
    largest = int(index.max(initial=-1))
    if index.min(initial=0) < 0 or (size is not None and largest >= size):
        msg = f"a {name} lies outside 0 to {largest if size is None else size - 1}"
        raise ValueError(msg)
    return largest + 1 if size is None else size


def _refuse_repeats(unit: Ints, coder: Ints, coders: int) -> None:
    key = np.sort(unit * coders + coder)
    again = np.flatnonzero(key[1:] == key[:-1])
    if again.size:
        first_unit, first_coder = divmod(int(key[again[0]]), coders)
        msg = (
            f"coder {first_coder} judged unit {first_unit} more than once, as did {again.size} in all: keep one "
            "judgment each"
        )
        raise RepeatedJudgmentError(msg)
