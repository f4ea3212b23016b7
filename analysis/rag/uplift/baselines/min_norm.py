"""Weighing objectives so that none is made worse: the shortest convex combination of their gradients.

Multiple-gradient descent (Desideri 2012; Sener and Koltun 2018): the shortest vector in the convex hull of the
gradients points down for all objectives at once, or is 0 where no direction does.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def weights(gradients: Floats) -> Floats:
    """The weights of the shortest convex combination; exact, for a handful of objectives.

    Parameters
    ----------
    gradients : ndarray, shape (n_objectives, n_numbers)
        Finite. Few objectives: their subsets are gone through.

    Returns
    -------
    ndarray, shape (n_objectives,)
        0 or more, of sum 1. An objective whose gradient is 0 takes all the weight: where it is a question of weighing
        the others, leave it out beforehand.

    Examples
    --------
    >>> weights(np.array([[1.0, 0.0], [0.0, 1.0]])).tolist()
    [0.5, 0.5]
    """
    products = gradients @ gradients.T
    best, shortest = np.zeros(len(gradients)), float("inf")
    for size in range(1, len(gradients) + 1):
        for chosen in map(list, combinations(range(len(gradients)), size)):
            found = _inside(products[np.ix_(chosen, chosen)])
            if found is None:
                continue
            length = float(found @ products[np.ix_(chosen, chosen)] @ found)
            if length < shortest * (1 - 1e-12):
                best = np.zeros(len(gradients))
                best[chosen], shortest = found, length
    return best


def _inside(products: Floats) -> Floats | None:
    """The shortest affine combination, if all its weights are 0 or more: products times weights is constant."""
    n = len(products)
    system = np.block([[products, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    solution = np.linalg.lstsq(system, np.append(np.zeros(n), 1.0), rcond=None)[0][:n]
    return solution if solution.min() >= -1e-12 and abs(solution.sum() - 1) < 1e-9 else None
