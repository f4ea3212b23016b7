"""Spearman's rank correlation of many short lists at once (design 7.4)."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike

from analysis.stats.bootstrap import Floats


def spearman(first: ArrayLike, second: ArrayLike) -> Floats:
    """Spearman's rho along the last axis: Pearson's correlation of mid-ranks.

    Parameters
    ----------
    first, second : array_like, shape (..., n)
        Values of the same things. A thing whose value is NaN in either list is left out of that list, so that lists
        of different lengths stand side by side.

    Returns
    -------
    ndarray of shape (...)
        From -1 to 1; NaN where fewer than two things have both values, or one of the lists is constant.

    Raises
    ------
    ValueError
        If the shapes differ.

    References
    ----------
    Spearman, The proof and measurement of association between two things, American Journal of Psychology 15 (1904).

    Examples
    --------
    >>> spearman([[1, 2, 3], [1, 2, 3]], [[10, 30, 20], [5, 5, 5]]).tolist()
    [0.5, nan]
    """
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if x.shape != y.shape or x.ndim < 1:
        msg = f"both lists must have the same shape, they have {x.shape} and {y.shape}"
        raise ValueError(msg)
    missing = np.isnan(x) | np.isnan(y)
    ranks = [_centred_ranks(values, missing) for values in (x, y)]
    together = (ranks[0] * ranks[1]).sum(axis=-1)
    scale = np.sqrt((ranks[0] ** 2).sum(axis=-1) * (ranks[1] ** 2).sum(axis=-1))
    found: Floats = np.divide(together, scale, out=np.full(scale.shape, np.nan), where=scale > 0)
    return np.clip(found, -1.0, 1.0)


def _centred_ranks(values: Floats, missing: np.ndarray) -> Floats:
    """Mid-ranks less their mean; 0 where missing."""
    if not values.shape[-1]:
        return values
    n = (~missing).sum(axis=-1, keepdims=True)
    ranks = scipy.stats.rankdata(np.where(missing, np.nan, values), axis=-1, nan_policy="omit")
    centred: Floats = np.where(missing, 0.0, ranks - (n + 1) / 2)
    return centred
