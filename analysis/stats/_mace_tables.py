"""How probable one judge's votes are under MACE, given how many of them say the true label.

Spam probability and strategy are integrated out. Of a judge with n votes for each label, of whom m say the true label
of their item, the probability of the votes is a sum over how many of the m were knowledge, k of each label:

    f(m)  =  sum over k <= m  of  product of C(m_l, k_l)  *  B(a + N - K, b + K) / B(a, b)  *  Dirichlet(n - k)

with N and K the sums of n and k. The sum is a product of binomial matrices, one a label, so that all of f is found at
once. Nothing but the counts n enters: judges with the same counts share a table.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, comb, gammaln

from analysis.stats.bootstrap import Floats

Singles = NDArray[np.float32]
Ints = NDArray[np.int64]
#: Judges with more votes, or whose table would have more entries, have none.
MOST, LARGEST = 200, 2048


@dataclass(frozen=True, eq=False)
class Table:
    """What follows from the counts m of a judge's votes that say the true label, at the place m @ strides.

    Attributes
    ----------
    log_likelihood : ndarray of shape (size,)
        Logarithm of f, up to a constant.
    spam : ndarray of shape (size,)
        Expected spam probability.
    gain : ndarray of float32, shape (labels, size)
        By how much the log likelihood grows if one more vote of each label says the true one; 0 where there is none.
    strides : ndarray of int, shape (labels,)
    """

    log_likelihood: Floats
    spam: Floats
    gain: Singles
    strides: Ints


def is_small(counts: Ints) -> NDArray[np.bool_]:
    """Whether judges have a table, by how often each gave each label, shape (judges, labels)."""
    return np.asarray((counts.sum(axis=1) <= MOST) & ((counts + 1.0).prod(axis=1) <= LARGEST))


@lru_cache(maxsize=512)
def table(counts: tuple[int, ...], spam_prior: tuple[float, float], strategy_prior: float) -> Table:
    """The table of judges who gave each label so many times."""
    a, b = spam_prior
    votes, labels = sum(counts), len(counts)
    known = np.indices([n + 1 for n in counts])
    total = known.sum(axis=0)
    log = betaln(a + votes - total, b + total) - gammaln(strategy_prior * labels + votes - total)
    for n, k in zip(counts, known, strict=True):
        log = log + gammaln(strategy_prior + n - k)
    likelihood = np.exp(log - log.max())
    spam = likelihood * (a + votes - total) / (a + b + votes)
    for axis, n in enumerate(counts):
        ways = comb(np.arange(n + 1)[:, None], np.arange(n + 1))
        likelihood, spam = (np.moveaxis(np.tensordot(ways, each, (1, axis)), 0, axis) for each in (likelihood, spam))
    log = np.log(likelihood)
    gain = np.zeros((labels, *log.shape), dtype=np.float32)
    for axis, n in enumerate(counts):
        inside = tuple(slice(0, n) if other == axis else slice(None) for other in range(labels))
        gain[(axis, *inside)] = np.diff(log, axis=axis)
    strides = np.array([int(np.prod([n + 1 for n in counts[axis + 1 :]])) for axis in range(labels)], dtype=np.int64)
    return Table(log.ravel(), (spam / likelihood).ravel(), gain.reshape(labels, -1), strides)
