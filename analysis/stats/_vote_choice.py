"""Choice of the votes whose removal changes a difference most (`analysis.stats.fragility`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from analysis.stats.bootstrap import Floats
from analysis.stats.bradley_terry import Ints

#: Up to this many votes are chosen as the best set to first order; more are chosen one by one.
_CHOSEN_TOGETHER: Final = 30


@dataclass(frozen=True, eq=False)
class ChoiceOfVotes:
    """Chooses votes to remove: how many of each comparison, in its order of removal.

    Attributes
    ----------
    comparison : ndarray of int, shape (n,)
        Candidates, the one with the largest gain for each removed vote first.
    gain : ndarray of shape (n, most + 1)
        Gain of removing 0, 1, ... votes; minus infinity beyond what a comparison has.
    owner, number : ndarray of int, shape (n_votes,)
        Candidate of each vote, and the vote's number in it from 0, in the greedy order.
    slope, cumulative : ndarray of shape (n_votes,)
        Gain of each vote, and of it and those before it.
    vote : callable
        Returns the votes of comparisons with these numbers.
    """

    comparison: Ints
    gain: Floats
    owner: Ints
    number: Ints
    slope: Floats
    cumulative: Floats
    vote: Callable[[Ints, Ints], Ints]

    @classmethod
    def of(
        cls, gain: Floats, count: Ints, begins: Ints, sizes: Ints, vote: Callable[[Ints, Ints], Ints], wanted: float
    ) -> ChoiceOfVotes:
        """Keep the most efficient comparisons whose votes together gain what is wanted."""
        efficiency = np.maximum.reduceat(gain / count, begins)
        order = np.flatnonzero(efficiency > 0)
        order = order[np.argsort(-efficiency[order], kind="stable")]
        best = np.maximum.reduceat(gain, begins)
        order = order[: int(np.searchsorted(np.cumsum(best[order]), wanted)) + 100]
        most = int(sizes[order].max(initial=0))
        table = np.full((len(order), most + 1), -np.inf)
        table[:, 0] = 0.0
        for number in range(1, most + 1):
            has = sizes[order] >= number
            table[has, number] = gain[begins[order[has]] + number - 1]
        slopes = _majorant_slopes(table)
        owner, numbers = np.nonzero(slopes > 0)
        greedy = np.lexsort((numbers, owner, -slopes[owner, numbers]))
        owner, numbers = owner[greedy], numbers[greedy]
        slope = slopes[owner, numbers]
        return cls(order, table, owner, numbers, slope, np.cumsum(slope), vote)

    def best(self, size: int) -> Ints:
        """Return as many votes with the largest gain."""
        if size > _CHOSEN_TOGETHER:
            return self.vote(self.comparison[self.owner[:size]], self.number[:size])
        removed = self._best_together(size)
        candidate = np.repeat(np.arange(len(removed)), removed)
        begins = np.repeat(np.cumsum(removed) - removed, removed)
        return self.vote(self.comparison[candidate], np.arange(len(candidate)) - begins)

    @cached_property
    def _together(self) -> tuple[Floats, Ints]:
        """Solve the choice of up to `_CHOSEN_TOGETHER` votes (a knapsack, by dynamic programming).

        Returns the gain of each number of votes, and how many of them are of each candidate, given those before it.
        """
        table = self.gain[: 4 * _CHOSEN_TOGETHER + 20, : _CHOSEN_TOGETHER + 1]
        sizes = np.arange(_CHOSEN_TOGETHER + 1)
        # The number of votes that are left for the candidates before, if a candidate has 0, 1, ... of them.
        rest = sizes[None, :] - np.arange(table.shape[1])[:, None]
        is_possible = rest >= 0
        rest = np.where(is_possible, rest, 0)
        value = np.full(_CHOSEN_TOGETHER + 1, -np.inf)
        value[0] = 0.0
        taken = np.zeros((len(table), _CHOSEN_TOGETHER + 1), dtype=np.int64)
        for candidate, gains in enumerate(table):
            options = np.where(is_possible, value[rest] + gains[:, None], -np.inf)
            taken[candidate] = options.argmax(axis=0)
            value = options[taken[candidate], sizes]
        return value, taken

    def _best_together(self, size: int) -> Ints:
        """Return how many votes of each candidate gain most together."""
        value, taken = self._together
        numbers = np.zeros(len(taken), dtype=np.int64)
        left = int(np.flatnonzero(np.isfinite(value[: size + 1])).max())
        for candidate in range(len(taken) - 1, -1, -1):
            numbers[candidate] = taken[candidate, left]
            left -= int(numbers[candidate])
        return numbers


def _majorant_slopes(table: Floats) -> Floats:
    """Return the slopes of the least concave majorant of each row, shape (n, most): gains of each vote in turn."""
    rows, most = len(table), table.shape[1] - 1
    slope = np.full((rows, most), -np.inf)
    at = np.zeros(rows, dtype=np.int64)
    numbers = np.arange(most + 1)
    while (active := np.flatnonzero(at < most)).size:
        ahead = numbers[None, :] - at[active, None]
        rise = table[active] - table[active, at[active]][:, None]
        slopes = np.divide(rise, ahead, out=np.full(rise.shape, -np.inf), where=ahead > 0)
        # Of equal slopes the longest step.
        longest = most - np.argmax(slopes[:, ::-1], axis=1)
        best = slopes[np.arange(len(active)), longest]
        ended = ~np.isfinite(best) | (best <= 0)
        inside = (numbers[None, 1:] > at[active, None]) & (numbers[None, 1:] <= longest[:, None]) & ~ended[:, None]
        slope[active] = np.where(inside, best[:, None], slope[active])
        at[active] = np.where(ended, most, longest)
    return slope
