"""Draws that say the same: what is computed of each need be computed of one of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.stats.bootstrap import Floats
from analysis.stats.random_streams import mixed

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class UniqueColumns:
    """The different draws of each group.

    Attributes
    ----------
    group, column : ndarray of int, shape (n_distinct,)
        Where each stands first; groups in ascending order.
    place : ndarray of int, shape (n_groups, n_columns)
        Which of them each draw of a group equals.
    """

    group: Ints
    column: Ints
    positions: Ints


def unique_columns(begin: Ints, *values: Floats) -> UniqueColumns:
    """Find the columns that hold the same in all rows of a group, to the bit.

    Parameters
    ----------
    begin : ndarray of int, shape (n_groups,)
        The first row of each group, from 0, ascending without repetition: no group is empty.
    *values : ndarray of shape (n_rows, n_columns)
        What was drawn, one column a draw.

    Returns
    -------
    Distinct
        Found by sums of mixed bits, then compared value by value: should two different draws have one sum, all draws
        count as distinct, which costs time alone.

    Examples
    --------
    Two groups of two rows and one: the first and the last draw of the first group are alike, of the second all are.

    >>> found = unique_columns(np.array([0, 2]), np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]))
    >>> [sorted(set(row)) for row in found.positions.tolist()], len(found.group)
    ([[0, 1], [2]], 3)
    """
    rows, columns = values[0].shape
    groups = len(begin)
    sums = np.zeros((rows, columns), dtype=np.uint64)
    for number, array in enumerate(values):
        factors = mixed(np.arange(number * rows + 1, (number + 1) * rows + 1, dtype=np.uint64)) | np.uint64(1)
        # The bits of halves and wholes are high ones, which a product would push out: fold them down first.
        bits = np.ascontiguousarray(array, dtype=np.float64).view(np.uint64)
        sums += (bits ^ (bits >> np.uint64(44))) * factors[:, None]
    keys = np.add.reduceat(sums, begin, axis=0)
    order = np.argsort(keys, axis=1, kind="stable")
    ordered = np.take_along_axis(keys, order, axis=1)
    is_new = np.ones((groups, columns), dtype=bool)
    is_new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    positions = np.empty((groups, columns), dtype=np.int64)
    np.put_along_axis(positions, order, (np.cumsum(is_new) - 1).reshape(groups, columns), axis=1)
    group, column = np.nonzero(is_new)[0], order[is_new]
    sizes = np.diff(np.r_[begin, rows])
    same = np.repeat(column[positions], sizes, axis=0)
    if all(np.array_equal(np.take_along_axis(array, same, axis=1), array) for array in values):
        return UniqueColumns(group, column, positions)
    every = np.arange(groups * columns)
    return UniqueColumns(*np.divmod(every, columns), every.reshape(groups, columns))
