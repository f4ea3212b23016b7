"""Sources of chance: one for each purpose from one seed, or following from who or what it is for.

Each thing has a stream of its own (SplitMix64, Steele et al., Fast Splittable Pseudorandom Number Generators, 2014),
begun from a seed and the thing's key. What comes or goes elsewhere changes nothing of it: what is computed of a part of
the data that stays the same, with chance in it, stays the same to the last bit.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from analysis.stats.bootstrap import Floats


def named_rng(seed: int, name: str) -> np.random.Generator:
    """A source of chance of its own for each purpose, so that what is computed beside it changes nothing.

    Parameters
    ----------
    seed : int
        Of the whole: a run's.
    name : str
        The purpose; equal seeds and names give equal draws.

    Examples
    --------
    >>> named_rng(0, "topics").integers(10, size=3).tolist() == named_rng(0, "topics").integers(10, size=3).tolist()
    True
    >>> named_rng(0, "topics").random() == named_rng(0, "people").random()
    False
    """
    return np.random.default_rng([seed % 2**63, zlib.crc32(name.encode())])


_Words = NDArray[np.uint64]
_STEP = np.uint64(0x9E3779B97F4A7C15)


class KeyedRng:
    """Uniform numbers between 0 and 1, neither of them included, for each of several things.

    Parameters
    ----------
    keys : ndarray of uint64, shape (n,)
        A number for each thing, which follows from what it is: see `key`.
    rng : numpy.random.Generator
        Source of the seed.
    """

    def __init__(self, keys: NDArray[np.uint64], rng: np.random.Generator) -> None:
        seed = rng.integers(2**64, dtype=np.uint64)
        self._state = mixed(mixed(keys) + seed)
        self._drawn = 0

    def uniform(self, times: int, width: int) -> Floats:
        """The next numbers of each thing, shape (times, n, width): those of one time after those of another."""
        first = 1 + self._drawn
        self._drawn += times * width
        number = np.arange(first, first + times * width, dtype=np.uint64).reshape(times, 1, width)
        words = mixed(self._state[:, None] + number * _STEP)
        return np.asarray(((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52)


class ConcatenatedRng:
    """Several draws as one: the things of the first, then those of the second, and so on."""

    def __init__(self, draws: Sequence[KeyedRng]) -> None:
        self._draws = tuple(draws)

    def uniform(self, times: int, width: int) -> Floats:
        """The next numbers of each thing, shape (times, n, width): those that it has alone."""
        return np.concatenate([stream.uniform(times, width) for stream in self._draws], axis=1)


def key(*names: str) -> int:
    """A key that follows from names alone: the first 64 bits of a digest of them."""
    return int.from_bytes(hashlib.blake2b("\0".join(names).encode(), digest_size=8).digest(), "little")


def mixed(words: _Words) -> _Words:
    """The finalizer of SplitMix64: each bit of the outcome depends on all bits of the word."""
    x = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))
