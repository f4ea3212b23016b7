"""Random numbers of MACE's search that follow from who an annotator is, not from their place among the others.

Each annotator has a stream of their own (SplitMix64, Steele et al., Fast Splittable Pseudorandom Number Generators,
2014), begun from the search's seed and the annotator's key. Who comes or goes elsewhere changes nothing of it, so that
a part of the judgments that stays the same is searched in the same way, and ends where it ended before.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from analysis.stats.bootstrap import Floats

_Words = NDArray[np.uint64]
_STEP = np.uint64(0x9E3779B97F4A7C15)


class Draws:
    """Uniform numbers between 0 and 1, neither of them included, for each annotator."""

    def __init__(self, keys: NDArray[np.uint64], rng: np.random.Generator) -> None:
        seed = rng.integers(2**64, dtype=np.uint64)
        self._state = _mixed(_mixed(keys) + seed)
        self._drawn = 0

    @property
    def annotators(self) -> int:
        """How many annotators there are."""
        return len(self._state)

    def uniform(self, restarts: int, width: int) -> Floats:
        """The next numbers of each annotator, shape (restarts, annotators, width), drawn restart by restart."""
        first = 1 + self._drawn
        self._drawn += restarts * width
        number = np.arange(first, first + restarts * width, dtype=np.uint64).reshape(restarts, 1, width)
        words = _mixed(self._state[:, None] + number * _STEP)
        return np.asarray(((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52)


def _mixed(words: _Words) -> _Words:
    """The finalizer of SplitMix64: each bit of the outcome depends on all bits of the word."""
    x = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))
