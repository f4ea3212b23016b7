"""Policies: which questionnaire is worth the next judgment, and whose (docs/methods/policies.md).

A policy is one value. It scores the open questionnaires of a campaign by what the next judgment of each is expected to
tell, for each tier of judges. `slot_weights` turns scores into the weights of free slots, from which
`adaptive_draws` draws.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import scipy
from numpy.typing import NDArray

from analysis.stats.bootstrap import Floats
from analysis.stats.goals import Goal, GoalKind
from analysis.stats.judge_tiers import Tier

Ints = NDArray[np.int64]
#: Weight of a slot of the next round relative to one of this round: nearly all questionnaires get their first judge
#: before any gets a second one.
NEXT_ROUND: Final = 0.02
#: Standard deviation of systems' merits a priori, and of the responses of one system around it: log odds of votes.
PRIOR_SPREAD: Final = 2.0
RESPONSE_SPREAD: Final = 1.0
#: With more systems, only neighbours in the current order are compared.
MOST_SYSTEMS: Final = 30
#: How much the questionnaires with known labels are favoured for judges about whom little is known.
KNOWN_FIRST: Final = 10.0


@dataclass(frozen=True, eq=False)
class Votes:
    """Votes on one dimension.

    Attributes
    ----------
    item : ndarray of int, shape (n_votes,)
    lead : ndarray, shape (n_votes,)
        From -1 to 1: 1 if the first response is better (of a single response: the best rating), 0 if neither.
    spam : ndarray, shape (n_votes,)
        Spam probability of the judge.
    """

    item: Ints
    lead: Floats
    spam: Floats


@dataclass(frozen=True, eq=False)
class Pool:
    """The items and questionnaires of a campaign, and its votes so far.

    Attributes
    ----------
    first, second : ndarray of int, shape (n_items,)
        Responses of each item; `second` is -1 if a single response is judged.
    topic, system : ndarray of int, shape (n_responses,)
    systems : int
    entry_questionnaire, entry_item : ndarray of int, shape (n_entries,)
        Which questionnaire holds which item. Items with known labels are not among them.
    known : ndarray, shape (n_questionnaires,)
        Share of each questionnaire's items that have known labels.
    taken, free : ndarray of int, shape (n_questionnaires,)
        Number of slots that are held (also by people who are still judging) and free.
    votes : sequence of Votes
        By dimension.
    """

    first: Ints
    second: Ints
    topic: Ints
    system: Ints
    systems: int
    entry_questionnaire: Ints
    entry_item: Ints
    known: Floats
    taken: Ints
    free: Ints
    votes: Sequence[Votes]

    @property
    def expected_votes(self) -> Floats:
        """Votes of each item when everybody who has a questionnaire has finished it, shape (n_items,)."""
        weights = self.taken[self.entry_questionnaire].astype(np.float64)
        votes: Floats = np.bincount(self.entry_item, weights=weights, minlength=len(self.first)).astype(np.float64)
        return votes

    def by_questionnaire(self, value: Floats) -> Floats:
        """Average a value of items over each questionnaire; 0 without items. Shape (n_questionnaires,)."""
        n = np.bincount(self.entry_questionnaire, minlength=len(self.taken))
        total = np.bincount(self.entry_questionnaire, weights=value[self.entry_item], minlength=len(self.taken))
        return np.asarray(np.divide(total, n, out=np.zeros(len(n)), where=n > 0))


Scores = dict[Tier, Floats]


def with_free(pool: Pool, *, free: Ints, taken: Ints) -> Pool:
    """Return the pool with other numbers of free and held slots of each questionnaire."""
    return replace(pool, free=free, taken=taken)


@dataclass(frozen=True)
class Policy:
    """How the next questionnaire is chosen.

    Attributes
    ----------
    name, title, description : str
    score : callable or None
        From the pool and the goal to the scores of the questionnaires by tier, positive, on any scale. None: no scores
        are needed, since the order is fixed or purely random.
    is_random : bool
        Whether questionnaires are drawn at random, with logged probabilities.
    limits_unproven : bool
        Whether judges about whom too little is known get one questionnaire at a time, and doubtful ones no more.
    """

    name: str
    title: str
    description: str
    score: Callable[[Pool, Goal | None], Scores] | None = None
    is_random: bool = True
    limits_unproven: bool = False


def slot_weights(score: Floats, pool: Pool) -> Floats:
    """Compute the weight of each free slot for draws that tell at least as much as balanced random ones.

    The second judgment in a row of one questionnaire is worth a quarter of the first, the third a ninth. A slot weighs
    what it is worth; or, if that tells less on average because it fills questionnaires unevenly, its weight in balanced
    random draws times its worth, which never tells less than these.

    Returns
    -------
    ndarray, shape (free.sum(),)
        Slots by questionnaire, in the order of the pool.
    """
    worth, by_chance = _slot_worth(score, pool), balanced_weights(pool)
    return max((worth, by_chance * worth), key=lambda weight: _expected(weight, worth))


def _slot_worth(score: Floats, pool: Pool) -> Floats:
    return np.asarray(np.repeat(score, pool.free) / (1.0 + _number_among_free(pool)) ** 2)


def _expected(weight: Floats, worth: Floats) -> float:
    total = float(weight.sum())
    return float(weight @ worth) / total if total > 0 else 0.0


def balanced_weights(pool: Pool) -> Floats:
    """Compute the weights of free slots for balanced random draws: equal, and small for later rounds."""
    rounds = np.repeat(pool.taken, pool.free) + _number_among_free(pool)
    return np.asarray(NEXT_ROUND ** (rounds - rounds.min(initial=10**6)).astype(np.float64))


def _number_among_free(pool: Pool) -> Ints:
    ends = np.cumsum(pool.free)
    return np.arange(int(pool.free.sum())) - np.repeat(ends - pool.free, pool.free)


def information(pool: Pool, goal: Goal | None = None) -> Scores:
    """Score questionnaires by how much a judgment narrows the comparisons that the goal still needs.

    A hierarchical Bradley-Terry model in Gaussian approximation: the merit of a response is that of its system plus a
    deviation. The value of an item is the relative reduction of the variance of each comparison of systems by one more
    vote, weighted by the probability that its sign is still wrong, and averaged over comparisons and dimensions. Items
    with many votes, and topics with many, tell little more.

    Without a goal, the ranking of all systems is asked. Names in a goal are matched by the caller: `Goal.systems` are
    the indices of systems as strings.
    """
    by_dimension = [_normalised(pool.by_questionnaire(_item_gain(pool, votes, goal))) for votes in pool.votes]
    score = np.mean(by_dimension, axis=0) if by_dimension else np.ones(len(pool.taken))
    return dict.fromkeys(Tier, score)


def competence(pool: Pool, goal: Goal | None = None) -> Scores:
    """Score questionnaires by difficulty for trusted judges, and by known labels for all others.

    An item is difficult as far as its votes so far leave its label open (entropy of the posterior under the judges'
    spam probabilities). Trusted judges rather get difficult ones. Others get questionnaires with known labels first,
    which show how good they are, then easy ones.
    """
    by_dimension = [pool.by_questionnaire(_difficulty(pool, votes)) for votes in pool.votes]
    difficulty = np.mean(by_dimension, axis=0) if by_dimension else np.full(len(pool.taken), 0.5)
    return {
        Tier.TRUSTED: np.asarray(0.25 + difficulty),
        Tier.UNPROVEN: np.asarray((1.25 - difficulty) * (1.0 + KNOWN_FIRST * (pool.known > 0))),
    }


POLICIES: Final[dict[str, Policy]] = {
    policy.name: policy
    for policy in (
        Policy("FIXED", "Fixed order", "Fill one questionnaire after the other.", is_random=False),
        Policy("RANDOM", "Balanced random", "Draw at random. All questionnaires fill evenly."),
        Policy(
            "INFORMATION", "Information gain", "Prefer questionnaires that tell most about the order of systems.",
            information,
        ),
        Policy(
            "COMPETENCE", "Competence-aware routing",
            "Give hard items and further questionnaires to judges who are known to be good.",
            competence, limits_unproven=True,
        ),
    )
}  # fmt: skip


def advantage(score: Floats, pool: Pool) -> float:
    """Compute the expected worth of a slot drawn by these scores over that of a balanced random one.

    1 means that the policy saves nothing; it is never less. NaN without free slots.
    """
    if not pool.free.sum():
        return float("nan")
    worth = _slot_worth(score, pool)
    return _expected(slot_weights(score, pool), worth) / _expected(balanced_weights(pool), worth)


def _normalised(score: Floats) -> Floats:
    mean = score.mean() if score.size else 0.0
    return score / mean if mean > 0 else np.ones_like(score)


def _item_gain(pool: Pool, votes: Votes, goal: Goal | None) -> Floats:
    """Compute the value of one more vote on each item, shape (n_items,)."""
    merit = _merits(pool, votes)
    lead = _lead(merit[pool.system], pool)
    bend = scipy.special.expit(lead) * scipy.special.expit(-lead)
    expected = pool.expected_votes
    blocks = list(_blocks(pool, expected * bend))
    precision = np.eye(pool.systems) / PRIOR_SPREAD**2
    for block in blocks:
        precision[np.ix_(block.system, block.system)] += block.spread_out(block.shrink @ block.hessian)
    covariance: Floats = np.asarray(np.linalg.inv(precision), dtype=np.float64)
    contrasts, weight = _comparisons(pool.systems, merit, covariance, goal)
    variance = np.einsum("cs,st,ct->c", contrasts, covariance, contrasts)
    gain = np.zeros(len(pool.first))
    for block in blocks:
        direction, bent = block.directions(pool, bend)  # (n_items of the topic, systems of the topic)
        along = (contrasts @ covariance[:, block.system]) @ direction.T
        prior_term = np.einsum("is,st,it->i", direction, covariance[np.ix_(block.system, block.system)], direction)
        reduction = along**2 * bent / (1.0 + prior_term * bent)
        gain[block.items] = (weight / variance) @ reduction
    return gain


@dataclass(frozen=True, eq=False)
class _Block:
    """One topic: its items, responses and systems, and the information of its votes about responses.

    `shrink` is (I + s^2 H)^-1 with the Hessian H of responses' merits and their spread s around their system.
    """

    items: Ints
    responses: Ints
    system: Ints
    member: Ints
    hessian: Floats
    shrink: Floats

    def spread_out(self, matrix: Floats) -> Floats:
        """Sum a matrix of responses by their systems."""
        one_hot = np.eye(len(self.system))[self.member]
        return np.asarray(one_hot.T @ matrix @ one_hot)

    def directions(self, pool: Pool, bend: Floats) -> tuple[Floats, Floats]:
        """Return how one more vote on each item enters the precision of systems: direction and factor."""
        index = np.searchsorted(self.responses, pool.first[self.items])
        moved = self.shrink[index].copy()
        second = pool.second[self.items]
        is_pair = second >= 0
        other = np.searchsorted(self.responses, second[is_pair])
        moved[is_pair] -= self.shrink[other]
        own_term = moved[np.arange(len(index)), index]
        own_term[is_pair] -= moved[np.flatnonzero(is_pair), other]
        factor = bend[self.items] / (1.0 + RESPONSE_SPREAD**2 * bend[self.items] * own_term)
        return moved @ np.eye(len(self.system))[self.member], factor


def _blocks(pool: Pool, information_of_item: Floats) -> Sequence[_Block]:
    """Divide the items by topic."""
    topic = pool.topic[pool.first]
    order = np.argsort(topic, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(topic[order]) > 0]) if order.size else np.empty(0, dtype=np.int64)
    blocks = []
    for items in np.split(order, starts[1:]) if order.size else []:
        first, second = pool.first[items], pool.second[items]
        is_pair = second >= 0
        responses = np.unique(np.r_[first, second[is_pair]])
        a, b = np.searchsorted(responses, first), np.searchsorted(responses, second[is_pair])
        amount = information_of_item[items]
        hessian = np.zeros((len(responses), len(responses)))
        np.add.at(hessian, (a, a), amount)
        np.add.at(hessian, (b, b), amount[is_pair])
        np.add.at(hessian, (a[is_pair], b), -amount[is_pair])
        np.add.at(hessian, (b, a[is_pair]), -amount[is_pair])
        system, member = np.unique(pool.system[responses], return_inverse=True)
        inverse = np.linalg.inv(np.eye(len(responses)) + RESPONSE_SPREAD**2 * hessian)
        shrink: Floats = np.asarray(inverse, dtype=np.float64)
        blocks.append(_Block(items, responses, system, member, hessian, shrink))
    return blocks


def _merits(pool: Pool, votes: Votes) -> Floats:
    """Compute the posterior mode of systems' merits from votes: Bradley-Terry with ties as half wins, by Newton."""
    merit = np.zeros(pool.systems)
    one, is_pair = pool.system[pool.first[votes.item]], pool.second[votes.item] >= 0
    other = np.where(is_pair, pool.system[pool.second[votes.item]], -1)
    won = (1.0 + votes.lead) / 2.0
    for _ in range(25):
        lead = merit[one] - np.where(is_pair, merit[other], 0.0)
        expected = scipy.special.expit(lead)
        slope, bend = won - expected, expected * (1.0 - expected)
        gradient = np.bincount(one, weights=slope, minlength=pool.systems) - merit / PRIOR_SPREAD**2
        gradient -= np.bincount(other[is_pair], weights=slope[is_pair], minlength=pool.systems)
        hessian = np.eye(pool.systems) / PRIOR_SPREAD**2
        np.add.at(hessian, (one, one), bend)
        np.add.at(hessian, (other[is_pair], other[is_pair]), bend[is_pair])
        np.add.at(hessian, (one[is_pair], other[is_pair]), -bend[is_pair])
        np.add.at(hessian, (other[is_pair], one[is_pair]), -bend[is_pair])
        step = np.linalg.solve(hessian, gradient)
        merit = merit + step
        if np.abs(step).max(initial=0.0) < 1e-8:
            break
    return merit


def _lead(merit: Floats, pool: Pool) -> Floats:
    return np.asarray(merit[pool.first] - np.where(pool.second >= 0, merit[pool.second], 0.0))


def _comparisons(systems: int, merit: Floats, covariance: Floats, goal: Goal | None) -> tuple[Floats, Floats]:
    """Return the comparisons that the goal needs, shape (n, systems), and the weight of each."""
    some = np.array([int(name) for name in goal.systems]) if goal else np.arange(systems)
    order = some[np.argsort(-merit[some], kind="stable")]
    if goal and goal.kind == GoalKind.WIDTH:
        rows = np.eye(systems)[some]
        rows[:, some] -= 1.0 / len(some)
        return rows, np.ones(len(rows))
    if goal and goal.kind in {GoalKind.BEST, GoalKind.BETTER}:
        pairs = [(order[0], other) for other in order[1:]]
    elif len(order) <= MOST_SYSTEMS:
        pairs = [(order[i], order[j]) for i in range(len(order)) for j in range(i + 1, len(order))]
    else:
        pairs = list(itertools.pairwise(order))
    rows = np.zeros((len(pairs), systems))
    for row, (one, other) in zip(rows, pairs, strict=True):
        row[one], row[other] = 1.0, -1.0
    deviation = np.sqrt(np.einsum("cs,st,ct->c", rows, covariance, rows))
    still_open = 2.0 * scipy.special.ndtr(-np.abs(rows @ merit) / np.maximum(deviation, 1e-12))
    return rows, np.maximum(still_open, 1e-12)


def _difficulty(pool: Pool, votes: Votes) -> Floats:
    """Compute the entropy of each item's label given its votes, from 0 to 1; one half with fewer than two votes."""
    label = np.rint(votes.lead).astype(np.int64) + 1
    spam = np.clip(votes.spam, 0.01, 0.99)
    log_odds = np.log((1.0 - spam + spam / 3.0) / (spam / 3.0))
    support = np.zeros((len(pool.first), 3))
    np.add.at(support, (votes.item, label), log_odds)
    posterior = scipy.special.softmax(support, axis=1)
    entropy = scipy.special.entr(posterior).sum(axis=1) / np.log(3.0)
    n = np.bincount(votes.item, minlength=len(pool.first))
    return np.asarray(np.where(n >= 2, entropy, 0.5))
