"""Fragility of a ranking: the fewest votes, judges or topics without which a system no longer ranks above another.

Systems are ranked by merits (`analysis.stats.bradley_terry`) that rest on labels of pairs, and these rest on votes.
Without a vote, the label of its pair has the probabilities

    P(label | votes but this one)  proportional to  P(label | all votes) / P(this vote | label),

with the competences of the judges held as they were fitted. A pair without votes is no comparison. To first order, a
comparison changes the difference between two merits by its influence. What has the largest influence is removed, the
merits are fitted again without it, and the number of what is removed is changed until it is the smallest that changes
the order. So the order is certainly another one without what is returned. Fewer might do it too, where influences of
the first order mislead.

References
----------
Broderick, Giordano and Meager, An automatic finite-sample robustness metric: when can dropping a little data make a big
difference? arXiv 2011.14999. Huang, Shen, Wei and Broderick, Dropping just a handful of preferences can change top
large language model rankings, arXiv 2508.11847.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Final

import numpy as np
import scipy.sparse

from analysis.stats import bradley_terry
from analysis.stats._vote_choice import ChoiceOfVotes
from analysis.stats.bootstrap import Floats
from analysis.stats.bradley_terry import Ints
from analysis.stats.labels import gold

#: Merits that differ by less are equal, as in `sparse_bradley_terry.ranks`.
EQUAL: Final = 1e-7
#: Fits without some votes, for each question.
_MOST_FITS: Final = 60
#: In small studies, all sets of judges or topics of a size are compared, if there are no more than this, with no more
#: votes together. The merits are fitted without the best of them.
_COMPARED_SETS, _COMPARED_VOTES, _FITTED_SETS = 100, 10_000, 5
#: Pairs of systems with less than this share of the largest influence are looked at only if the others do not suffice.
_LARGE: Final = 0.25
_OUTCOMES: Final = 3
_NOTHING: Final = 1e-9


@dataclass(frozen=True, eq=False)
class Flip:
    """Votes, judges or topics without which one system no longer ranks above another.

    Attributes
    ----------
    members : ndarray of int, shape (size,)
        Indices of the removed votes, judges or topics, the most influential first.
    difference : float
        Merit of the first system minus that of the second without them: at most `EQUAL`; NaN if one of them is no
        longer compared with others.
    """

    members: Ints
    difference: float


@dataclass(frozen=True, eq=False)
class Question:
    """Whether one system still ranks above another without some votes.

    Attributes
    ----------
    first, second : int
        The systems; the first has the higher merit.
    influence : ndarray of shape (n_systems, n_systems)
        Change of the first merit minus the second for each unit of weight that wins of i over j gain.
    """

    first: int
    second: int
    influence: Floats


@dataclass(frozen=True, eq=False)
class Board:
    """Comparisons of systems with the votes that they rest on.

    Attributes
    ----------
    first, second : ndarray of int, shape (n_comparisons,)
        The systems of the left and the right response, from 0. Equal systems say nothing.
    chances : ndarray of shape (n_comparisons, 3)
        Weight of the outcomes: the first is better, tie, the second is better. For labels, their probabilities.
    topic : ndarray of int, shape (n_comparisons,)
        From 0.
    vote_of : ndarray of int, shape (n_votes,)
        The comparison that each vote belongs to. Each comparison has one vote or more.
    judge : ndarray of int, shape (n_votes,)
        From 0.
    likelihood : ndarray of shape (n_votes, 3)
        Probability of the vote under each label, up to a factor; above 0.
    systems : int
    is_hard : bool
        Whether the most probable label is the outcome, and not the probabilities.

    Raises
    ------
    ValueError
        If arrays do not fit together, a likelihood is not positive, or a comparison has no vote.
    """

    first: Ints
    second: Ints
    chances: Floats
    topic: Ints
    vote_of: Ints
    judge: Ints
    likelihood: Floats
    systems: int
    is_hard: bool = False

    def __post_init__(self) -> None:
        """Check the arrays."""
        comparisons, votes = len(self.first), len(self.vote_of)
        if self.chances.shape != (comparisons, _OUTCOMES) or self.likelihood.shape != (votes, _OUTCOMES):
            msg = f"chances and likelihood must have three columns: {self.chances.shape}, {self.likelihood.shape}"
            raise ValueError(msg)
        if not len(self.second) == len(self.topic) == comparisons or len(self.judge) != votes:
            raise ValueError("first, second and topic must be equally long, and so must vote_of and judge")
        if not (self.likelihood > 0).all():
            raise ValueError("each vote must be possible under each label: a likelihood is not positive")
        if np.bincount(self.vote_of, minlength=comparisons).min(initial=1) < 1:
            raise ValueError("each comparison must have a vote: leave out those without")

    @cached_property
    def merit(self) -> Floats:
        """The merits, shape (n_systems,); NaN for systems that were never compared."""
        return self._fit(self._wins)

    def without(self, votes: Ints) -> Floats:
        """Return the merits without some votes (distinct indices), shape (n_systems,)."""
        return self._fit(self._wins + self._as_wins(*self._change(votes)))

    def questions(self, first: Ints, second: Ints) -> list[Question]:
        """Return questions about the order of pairs of systems: does the first still rank above the second?

        Raises
        ------
        ValueError
            If a first system does not rank above the second with all votes.
        """
        if not (self.merit[first] - self.merit[second] > EQUAL).all():
            raise ValueError("the first system of each question must have the higher merit")
        influences = bradley_terry.influence_on_differences(self._tallies(self._wins), self.merit, first, second)
        # Computed once, before several threads ask.
        _ = self._votes, self._changes_of_judges, self._votes_of_judges, self._wins_of_topics
        return [
            Question(one, other, influence)
            for one, other, influence in zip(first.tolist(), second.tolist(), influences, strict=True)
        ]

    def fewest(self, question: Question) -> tuple[Flip | None, Flip | None, Flip | None]:
        """Find the fewest votes, judges and topics without which the order is another one."""
        return self.fewest_votes(question), self.fewest_judges(question), self.fewest_topics(question)

    def fewest_votes(self, question: Question) -> Flip | None:
        """Find the fewest votes without which the order is another one; None if no votes change it."""
        influence = np.abs(question.influence)
        bound = (influence + influence.T).ravel()[self._cell]
        least = _LARGE * float(bound.max(initial=0.0))
        chosen = self._choice_of_votes(question, np.flatnonzero(bound >= least))
        size = self._size_to_first_order(question, chosen.cumulative)
        if size == len(chosen.cumulative) or chosen.slope[size] < least:
            chosen = self._choice_of_votes(question, np.arange(len(self.first)))
        return self._smallest(question, chosen.cumulative, chosen.best, self._wins_of_votes)

    def fewest_judges(self, question: Question) -> Flip | None:
        """Find the fewest judges without whose votes the order is another one; None if no judges change it."""
        gain = -(self._changes_of_judges @ question.influence.ravel())

        def change(judges: Ints) -> Floats:
            return self._wins_of_votes(np.concatenate([self._votes_of_judges[judge] for judge in judges]))

        return self._fewest_groups(question, gain, change, len(self.vote_of))

    def fewest_topics(self, question: Question) -> Flip | None:
        """Find the fewest topics without whose comparisons the order is another one; None if no topics change it."""
        gain = self._wins_of_topics @ question.influence.ravel()

        def change(topics: Ints) -> Floats:
            return -np.asarray(self._wins_of_topics[topics].sum(axis=0)).reshape(self._wins.shape)

        return self._fewest_groups(question, gain, change, len(self.first))

    def _fewest_groups(
        self, question: Question, gain: Floats, change: Callable[[Ints], Floats], rows: int
    ) -> Flip | None:
        """Remove whole groups of votes, those with the largest gain first; in a small study, also all small sets."""
        order = np.argsort(-gain, kind="stable")
        order = order[gain[order] > 0]
        flip = self._smallest(question, np.cumsum(gain[order]), lambda size: order[:size], change)
        # The gains of judges of the same pairs do not add up.
        for size in range(1, len(gain) if flip is None else len(flip.members)):
            count = comb(len(gain), size)
            if count > _COMPARED_SETS or count * size * rows // len(gain) > _COMPARED_VOTES:
                break
            sets = [np.array(members) for members in combinations(range(len(gain)), size)]
            gains = [-float((change(members) * question.influence).sum()) for members in sets]
            for number in np.argsort(-np.array(gains), kind="stable")[:_FITTED_SETS].tolist():
                lead = self._lead(question, change(sets[number]))
                if not lead > EQUAL:
                    members = sets[number]
                    return Flip(members[np.argsort(-gain[members], kind="stable")], lead)
        return flip

    def _size_to_first_order(self, question: Question, cumulative: Floats) -> int:
        whole = self.merit[question.first] - self.merit[question.second]
        return min(int(np.searchsorted(cumulative, whole)) + 1, len(cumulative))

    def _smallest(
        self,
        question: Question,
        cumulative: Floats,
        members: Callable[[int], Ints],
        change: Callable[[Ints], Floats],
    ) -> Flip | None:
        """Find the smallest size whose removal changes the order.

        Parameters
        ----------
        cumulative : ndarray of shape (most,)
            Gains to first order of the sizes 1, 2, ...
        members
            Returns what is removed for a size.
        change
            Returns the change of the wins then.
        """
        most, whole = len(cumulative), float(self.merit[question.first] - self.merit[question.second])
        if not most:
            return None
        size = self._size_to_first_order(question, cumulative)
        too_few, enough, difference = 0, most + 1, float("nan")
        for _fit in range(_MOST_FITS):
            lead = self._lead(question, change(members(size)))
            if lead > EQUAL:
                too_few = size
            else:
                enough, difference = size, lead
            if enough - too_few == 1:
                break
            if enough > most:
                # As many more as are missing, if each removes as much as those before.
                by_each = max(whole - lead, whole / 4) / size
                size = min(size + max(1, int(lead / by_each)), most)
            else:
                size = enough - 1 if enough - too_few < 4 else max((too_few + enough) // 2, enough * 3 // 4)
        return None if enough > most else Flip(members(enough), difference)

    def _lead(self, question: Question, change: Floats) -> float:
        merit = self._fit(self._wins + change, start=self.merit)
        return float(merit[question.first] - merit[question.second])

    def _fit(self, wins: Floats, start: Floats | None = None) -> Floats:
        tallies = self._tallies(wins)
        merit: Floats = bradley_terry.fit(tallies, start=None if start is None else start[None], errors=False).merit[0]
        return merit

    def _tallies(self, wins: Floats) -> bradley_terry.Tallies:
        # Rounding must not leave a weight where nothing is left.
        kept = np.where(wins < _NOTHING, 0.0, wins)
        present = (kept.sum(axis=0) + kept.sum(axis=1)) > 0
        return bradley_terry.Tallies(kept[None], np.ones(1), present[None])

    @cached_property
    def _cell(self) -> Ints:
        """Place of a win of the first over the second in the raveled matrix of wins, shape (n_comparisons,)."""
        return np.asarray(self.first * self.systems + self.second)

    @cached_property
    def _reverse_cell(self) -> Ints:
        return np.asarray(self.second * self.systems + self.first)

    @cached_property
    def _outcome(self) -> Floats:
        """Weights of the outcomes with all votes."""
        return self._weights(self.chances, np.ones(len(self.first), dtype=np.int64))

    @cached_property
    def _wins(self) -> Floats:
        return self._as_wins(np.arange(len(self.first)), self._outcome)

    def _as_wins(self, some: Ints, weights: Floats) -> Floats:
        """Return the wins of each system over each other from some comparisons, shape (n_systems, n_systems)."""
        cells = np.concatenate([self._cell[some], self._reverse_cell[some]])
        sides = np.concatenate([weights[:, 0] + weights[:, 1], weights[:, 1] + weights[:, 2]])
        sums = np.bincount(cells, weights=sides, minlength=self.systems**2).astype(np.float64)
        wins: Floats = sums.reshape(self.systems, self.systems)
        np.fill_diagonal(wins, 0.0)
        return wins

    def _by_group(self, group: Ints, comparison: Ints, weights: Floats) -> scipy.sparse.csr_array:
        """Return the wins from the comparisons of each group, shape (n_groups, n_systems ** 2)."""
        differ = self.first[comparison] != self.second[comparison]
        group, comparison, weights = group[differ], comparison[differ], weights[differ]
        cells = np.concatenate([self._cell[comparison], self._reverse_cell[comparison]])
        sides = np.concatenate([weights[:, 0] + weights[:, 1], weights[:, 1] + weights[:, 2]])
        shape = (int(group.max(initial=0)) + 1, self.systems**2)
        return scipy.sparse.coo_array((sides, (np.tile(group, 2), cells)), shape=shape).tocsr()

    @cached_property
    def _wins_of_topics(self) -> scipy.sparse.csr_array:
        return self._by_group(self.topic, np.arange(len(self.first)), self._outcome)

    @cached_property
    def _changes_of_judges(self) -> scipy.sparse.csr_array:
        """Changes of the wins if single votes of a judge are removed, added up."""
        kept = np.bincount(self.vote_of)[self.vote_of] - 1
        left = self._posterior(self.chances[self.vote_of], self._log_likelihood)
        # The probabilities also where the most probable label counts: it changes only with several votes.
        change = np.where(kept[:, None] > 0, left, 0.0) - self.chances[self.vote_of]
        return self._by_group(self.judge, self.vote_of, change)

    @cached_property
    def _votes_of_judges(self) -> list[Ints]:
        return np.split(np.argsort(self.judge, kind="stable"), np.cumsum(np.bincount(self.judge))[:-1])

    @cached_property
    def _log_likelihood(self) -> Floats:
        return np.log(self.likelihood)

    def _wins_of_votes(self, votes: Ints) -> Floats:
        return self._as_wins(*self._change(votes))

    def _change(self, votes: Ints) -> tuple[Ints, Floats]:
        """Return the comparisons of some votes, and the change of their weights without these votes."""
        touched, position, removed = np.unique(self.vote_of[votes], return_inverse=True, return_counts=True)
        log_removed = np.zeros((len(touched), _OUTCOMES))
        for outcome in range(_OUTCOMES):
            log_removed[:, outcome] = np.bincount(position, weights=self._log_likelihood[votes, outcome])
        kept = self._votes.sizes[touched] - removed
        left = self._weights(self._posterior(self.chances[touched], log_removed), kept)
        return touched, left - self._outcome[touched]

    def _posterior(self, chances: Floats, log_removed: Floats) -> Floats:
        """Return the probabilities without votes of these likelihoods; the total weight stays."""
        remaining = chances * np.exp(log_removed.min(axis=1, keepdims=True) - log_removed)
        total = remaining.sum(axis=1, keepdims=True)
        scaled: Floats = remaining * np.divide(
            chances.sum(axis=1, keepdims=True), total, out=np.zeros_like(total), where=total > 0
        )
        return scaled

    def _weights(self, chances: Floats, votes: Ints) -> Floats:
        """Return the weights of the outcomes; 0 for comparisons without votes."""
        if self.is_hard:
            chances = np.eye(_OUTCOMES)[gold(chances)]
        return np.where((votes > 0)[:, None], chances, 0.0)

    @cached_property
    def _votes(self) -> _VotesByComparison:
        """All votes by comparison, twice: those for the first system are removed first, and the reverse."""
        sizes = np.bincount(self.vote_of, minlength=len(self.first))
        begins = np.cumsum(sizes) - sizes
        comparison = np.repeat(np.arange(len(sizes)), sizes)
        support = self._log_likelihood[:, 0] - self._log_likelihood[:, 2]
        orders, changes = [], []
        for key in (-support, support):
            order = np.lexsort((key, self.vote_of))
            logs = self._log_likelihood[order]
            total = np.cumsum(logs, axis=0)
            removed = total - (total - logs)[np.repeat(begins, sizes)]
            left = np.repeat(sizes + begins, sizes) - 1 - np.arange(len(order))
            weights = self._weights(self._posterior(self.chances[comparison], removed), left)
            orders.append(order)
            changes.append(weights - self._outcome[comparison])
        return _VotesByComparison(begins, sizes, np.stack(orders), np.stack(changes))

    def _choice_of_votes(self, question: Question, some: Ints) -> ChoiceOfVotes:
        """Prepare the choice of votes of some comparisons."""
        votes = self._votes
        sizes = votes.sizes[some]
        begins = np.cumsum(sizes) - sizes
        count = np.arange(int(sizes.sum())) - np.repeat(begins, sizes) + 1
        position = np.repeat(votes.begins[some], sizes) + count - 1
        first_wins = question.influence.ravel()[self._cell[some]]
        second_wins = question.influence.ravel()[self._reverse_cell[some]]
        way = np.where(first_wins > 0, 0, 1)
        change = votes.change[np.repeat(way, sizes), position]
        gain = -(
            (change[:, 0] + change[:, 1]) * np.repeat(first_wins, sizes)
            + (change[:, 1] + change[:, 2]) * np.repeat(second_wins, sizes)
        )
        lead = float(self.merit[question.first] - self.merit[question.second])
        starts = votes.begins[some]

        def vote(comparison: Ints, number: Ints) -> Ints:
            return np.asarray(votes.order[way[comparison], starts[comparison] + number])

        return ChoiceOfVotes.of(gain, count, begins, sizes, vote, 2.0 * lead)


@dataclass(frozen=True, eq=False)
class _VotesByComparison:
    """Votes by comparison, in two orders of removal.

    Attributes
    ----------
    begins, sizes : ndarray of int, shape (n_comparisons,)
        Where the votes of each comparison begin, and how many it has.
    order : ndarray of int, shape (2, n_votes)
        The votes.
    change : ndarray of shape (2, n_votes, 3)
        Change of the weights of the comparison without the vote and those before it.
    """

    begins: Ints
    sizes: Ints
    order: Ints
    change: Floats
