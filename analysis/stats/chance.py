"""Sources of chance, one for each purpose, all from one seed."""

from __future__ import annotations

import zlib

import numpy as np


def stream(seed: int, name: str) -> np.random.Generator:
    """A source of chance of its own for each purpose, so that what is computed beside it changes nothing.

    Parameters
    ----------
    seed : int
        Of the whole: a run's.
    name : str
        The purpose; equal seeds and names give equal draws.

    Examples
    --------
    >>> stream(0, "topics").integers(10, size=3).tolist() == stream(0, "topics").integers(10, size=3).tolist()
    True
    >>> stream(0, "topics").random() == stream(0, "people").random()
    False
    """
    return np.random.default_rng([seed % 2**63, zlib.crc32(name.encode())])
