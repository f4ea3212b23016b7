"""Groups of identical columns, so that a result is computed only once for equal draws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.stats.bootstrap import Floats
from analysis.stats.random_streams import mixed

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class UniqueColumns:
    """The unique draws of each group.

    Attributes
    ----------
    group, column : ndarray of int, shape (n_distinct,)
        Group and column of the first occurrence of each unique draw, groups in ascending order.
    positions : ndarray of int, shape (n_groups, n_columns)
        Index of the unique draw that equals each draw of a group.
    """

    group: Ints
    column: Ints
    positions: Ints


def unique_columns(begin: Ints, *values: Floats) -> UniqueColumns:
    """Find the columns whose values are bitwise equal in all rows of a group.

    Parameters
    ----------
    begin : ndarray of int, shape (n_groups,)
        The first row of each group, from 0, strictly ascending: no group is empty.
    *values : ndarray of shape (n_rows, n_columns)
        The draws, one in each column.

    Returns
    -------
    UniqueColumns
        Columns are matched by hashes and then compared value by value. If two different draws have the same hash, all
        draws count as distinct, which only costs time.

    Examples
    --------
    There is a group of two rows and a group of one row. The first and the last draw of the first group are equal; all
    draws of the second group are equal.

    >>> found = unique_columns(np.array([0, 2]), np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]))
    >>> [sorted(set(row)) for row in found.positions.tolist()], len(found.group)
    ([[0, 1], [2]], 3)
    """
    rows, columns = values[0].shape
    groups = len(begin)
    sums = np.zeros((rows, columns), dtype=np.uint64)
    for number, array in enumerate(values):
        factors = mixed(np.arange(number * rows + 1, (number + 1) * rows + 1, dtype=np.uint64)) | np.uint64(1)
        # The significant bits of small multiples of 1/2 are high bits, which a product would shift out. Fold them down
        # first.
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
