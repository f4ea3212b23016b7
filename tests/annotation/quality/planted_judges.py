"""Judges of known kinds, as arrays: what screening should and should not say of each is known beforehand.

Items differ by a quality common to all dimensions and by one of each dimension. An honest judge perceives both with
noise, of which most is common to an item's dimensions, as people's is; within a band they say neither, but on the last
dimension they must choose. `noise` 1.5 gives judges who agree with each other's majority in 62 of 100 answers.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from annotation.quality.check_results import CheckResult, GoldResult
from annotation.quality.screening.measures import Answer, Work

ITEMS, DIMENSIONS, OTHERS = 15, 7, 4
Votes = NDArray[np.int64]
NEITHER = 0.35


def truth(rng: Generator) -> NDArray[np.float64]:
    """By how much the right response is better, by item and dimension."""
    return 0.75 * rng.normal(size=(ITEMS, 1)) + 0.66 * rng.normal(size=(ITEMS, DIMENSIONS))


def honest(rng: Generator, items: NDArray[np.float64], *, noise: float = 1.0) -> Votes:
    common, own = rng.normal(size=(ITEMS, 1)), rng.normal(size=(ITEMS, DIMENSIONS))
    seen = items + noise * (0.6 * common + 0.8 * own)
    votes = np.where(np.abs(seen) < NEITHER, 0, np.sign(seen)).astype(np.int64)
    votes[:, -1] = np.where(seen[:, -1] > 0, 1, -1)
    return votes


def always_left(_rng: Generator, _items: NDArray[np.float64]) -> Votes:
    return np.full((ITEMS, DIMENSIONS), -1, dtype=np.int64)


def neither_where_allowed(_rng: Generator, _items: NDArray[np.float64]) -> Votes:
    votes = np.zeros((ITEMS, DIMENSIONS), dtype=np.int64)
    votes[:, -1] = 1
    return votes


def at_random(rng: Generator, _items: NDArray[np.float64]) -> Votes:
    votes = rng.integers(-1, 2, size=(ITEMS, DIMENSIONS))
    votes[:, -1] = rng.choice([-1, 1], size=ITEMS)
    return votes


def one_side_an_item(rng: Generator, _items: NDArray[np.float64]) -> Votes:
    """A side at random for each item, the same on all its dimensions."""
    return np.repeat(rng.choice([-1, 1], size=(ITEMS, 1)), DIMENSIONS, axis=1)


Judge = Callable[[Generator, NDArray[np.float64]], Votes]


def options(dimension: int) -> tuple[int, ...]:
    return (-1, 1) if dimension == DIMENSIONS - 1 else (-1, 0, 1)


def work(votes: Votes, others: Sequence[Votes] = (), **known: Any) -> Work:
    """What screening knows of somebody with these votes, where others gave these."""
    cells = [(item, dimension) for item in range(ITEMS) for dimension in range(DIMENSIONS)]
    theirs = {cell: Counter(int(other[cell]) for other in others) for cell in cells} if others else {}
    answers = tuple(Answer(*cell, int(votes[cell]), options(cell[1])) for cell in cells)
    return Work(answers, dict.fromkeys(range(ITEMS), 2), theirs, **known)


def planted(judge: Judge, rng: Generator, *, noise: float = 1.0, gold: int = 2, **known: Any) -> Work:
    """One questionnaire that this judge answered among four honest others, with known labels for some items."""
    items = truth(rng)
    votes = judge(rng, items)
    labels = np.where(np.abs(items) < NEITHER, 0, np.sign(items)).astype(np.int64)
    # Known labels are given for what is clear.
    clear = list(zip(*np.nonzero(np.abs(items[:gold]) > 1), strict=True))
    results = tuple(
        GoldResult(int(i), int(d), int(labels[i, d]), int(votes[i, d]), len(options(int(d)))) for i, d in clear
    )
    others = [honest(rng, items, noise=noise) for _ in range(OTHERS)]
    return work(votes, others, gold=results, **known)


def checked(passed: Sequence[bool]) -> tuple[CheckResult, ...]:
    return tuple(CheckResult(n, "Choose A.", "A", "A" if each else "B", each) for n, each in enumerate(passed))
