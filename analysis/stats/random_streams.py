"""Random streams: one for each purpose of a seed, or one for each keyed unit.

Each unit has its own stream (SplitMix64, Steele et al., Fast Splittable Pseudorandom Number Generators, 2014), derived
from a seed and the unit's key. Changes of other units do not affect it: random results for unchanged data stay bitwise
equal.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from analysis.stats.bootstrap import Floats


def named_rng(seed: int, name: str) -> np.random.Generator:
    """Create the random generator of a purpose, which is independent of draws for other purposes.

    Parameters
    ----------
    seed : int
        The seed of the run.
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
    """Uniform random numbers in the open interval (0, 1) for each of several units.

    Parameters
    ----------
    keys : ndarray of uint64, shape (n,)
        A number that identifies each unit: see `key`.
    rng : numpy.random.Generator
        Source of the seed.
    """

    def __init__(self, keys: NDArray[np.uint64], rng: np.random.Generator) -> None:
        seed = rng.integers(2**64, dtype=np.uint64)
        self._state = mixed(mixed(keys) + seed)
        self._drawn = 0

    def some(self, units: NDArray[np.int64]) -> KeyedRng:
        """Return a generator of some units, which goes on where this one is; both draw the same numbers of a unit."""
        chosen = copy(self)
        chosen._state = self._state[units]
        return chosen

    def uniform(self, times: int, width: int) -> Floats:
        """Draw the next numbers of each unit, shape (times, n, width), in the order of the first axis."""
        first = 1 + self._drawn
        self._drawn += times * width
        number = np.arange(first, first + times * width, dtype=np.uint64).reshape(times, 1, width)
        words = mixed(self._state[:, None] + number * _STEP)
        return np.asarray(((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52)


class ConcatenatedRng:
    """Several generators as one: the units of the first, then those of the second, and so on."""

    def __init__(self, draws: Sequence[KeyedRng]) -> None:
        self._draws = tuple(draws)

    def uniform(self, times: int, width: int) -> Floats:
        """Draw the next numbers of each unit, shape (times, n, width), equal to those of its own generator."""
        return np.concatenate([stream.uniform(times, width) for stream in self._draws], axis=1)


def key(*names: str) -> int:
    """Derive a key from names: the first 64 bits of their digest."""
    return int.from_bytes(hashlib.blake2b("\0".join(names).encode(), digest_size=8).digest(), "little")


def mixed(words: _Words) -> _Words:
    """Apply the finalizer of SplitMix64: each output bit depends on all input bits."""
    x = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))
