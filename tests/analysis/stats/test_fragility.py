"""Fragility: against all subsets of small studies, by hand, and merits without votes by the definition."""

from itertools import combinations

import numpy as np
import pytest

from analysis.stats import bradley_terry, fragility
from analysis.stats.labels import gold

SYSTEMS, TOPICS, JUDGES, VOTES = 4, 4, 5, 3


def study(seed: int, *, is_hard: bool) -> fragility.Board:
    """Return every pair of four systems on four topics, judged by three of five judges who prefer lower numbers."""
    rng = np.random.default_rng(seed)
    pairs = np.array([pair for _topic in range(TOPICS) for pair in combinations(range(SYSTEMS), 2)])
    turned = rng.random(len(pairs)) < 0.5
    first, second = np.where(turned, pairs[:, 1], pairs[:, 0]), np.where(turned, pairs[:, 0], pairs[:, 1])
    vote_of = np.repeat(np.arange(len(pairs)), VOTES)
    judge = np.concatenate([rng.choice(JUDGES, VOTES, replace=False) for _pair in pairs])
    value = rng.choice(3, size=len(vote_of), p=[0.42, 0.2, 0.38])
    value = np.where(turned[vote_of], 2 - value, value)
    competence = rng.uniform(0.3, 0.95, JUDGES)[judge]
    likelihood = np.repeat((1 - competence)[:, None] / 3, 3, axis=1)
    likelihood[np.arange(len(value)), value] += competence
    topic = np.repeat(np.arange(TOPICS), len(pairs) // TOPICS)
    chances = posterior(vote_of, likelihood, np.arange(len(vote_of)), len(pairs))
    return fragility.Board(first, second, chances, topic, vote_of, judge, likelihood, SYSTEMS, is_hard)


def posterior(vote_of, likelihood, kept, pairs):
    """Return the product of the likelihoods of the kept votes, scaled to a sum of 1."""
    product = np.ones((pairs, 3))
    np.multiply.at(product, vote_of[kept], likelihood[kept])
    return product / product.sum(axis=1, keepdims=True)


def merits(board: fragility.Board, removed) -> np.ndarray:
    """Fit the merits without some votes, from the votes that are left."""
    kept = np.setdiff1d(np.arange(len(board.vote_of)), removed)
    chances = posterior(board.vote_of, board.likelihood, kept, len(board.first))
    if board.is_hard:
        chances = np.eye(3)[gold(chances)]
    chances = chances[judged := np.unique(board.vote_of[kept])]
    outcome = np.tile([-1, 0, 1], len(judged))
    sides = (np.repeat(side[judged], 3) for side in (board.first, board.second))
    tallies = bradley_terry.tally(np.zeros_like(outcome), *sides, outcome, weight=chances.ravel(), items=board.systems)
    return bradley_terry.fit(tallies).merit[0]


def smallest_by_trying(board, question, group, largest):
    """Return the size of the smallest set of groups that changes the order, up to a size; None if there is none."""
    for size in range(1, largest + 1):
        for members in combinations(range(int(group.max()) + 1), size):
            merit = board.without(np.flatnonzero(np.isin(group, members)))
            if not merit[question.first] - merit[question.second] > fragility.EQUAL:
                return size
    return None


@pytest.mark.parametrize("is_hard", [False, True])
@pytest.mark.parametrize(
    ("seed", "most_votes"), [(0, 1), (1, 1), *(pytest.param(seed, 2, marks=pytest.mark.extended) for seed in range(6))]
)
def test_sets_are_as_small_as_the_smallest_of_all_subsets(seed, most_votes, is_hard):
    board = study(seed, is_hard=is_hard)
    every = np.arange(len(board.vote_of))
    assert board.merit == pytest.approx(merits(board, []), abs=1e-7)
    order = np.argsort(-board.merit)
    for question in board.questions(order[:-1], order[1:]):
        for flip, group, largest in zip(
            board.fewest(question), (every, board.judge, board.topic[board.vote_of]), (most_votes, 4, 3), strict=True
        ):
            size = None if flip is None else len(flip.members)
            tried = smallest_by_trying(board, question, group, largest)
            assert tried == size if tried is not None else size is None or size > largest
            if flip is not None:
                merit = merits(board, np.flatnonzero(np.isin(group, flip.members)))
                lead = merit[question.first] - merit[question.second]
                assert lead == pytest.approx(flip.difference, abs=1e-7, nan_ok=True)
                assert not lead > fragility.EQUAL


def of_single_votes(outcomes, judge, topic) -> fragility.Board:
    """Return comparisons of two systems by one vote each, all weights 1."""
    count = len(outcomes)
    return fragility.Board(
        first=np.zeros(count, dtype=np.int64),
        second=np.ones(count, dtype=np.int64),
        chances=np.eye(3)[np.array(outcomes)],
        topic=np.array(topic),
        vote_of=np.arange(count),
        judge=np.array(judge),
        likelihood=np.ones((count, 3)),
        systems=2,
    )


def test_two_systems_by_hand():
    """Seven wins, a tie and four losses: without three wins they are equal. Judge 0 and topic 2 hold three."""
    outcomes = [0] * 7 + [1] + [2] * 4
    judge = [0, 0, 0, 0, 1, 1, 2, 0, 0, 1, 2, 2]
    topic = [0, 0, 1, 1, 2, 2, 2, 0, 1, 0, 0, 1]
    board = of_single_votes(outcomes, judge, topic)
    (question,) = board.questions(np.array([0]), np.array([1]))
    votes, judges, topics = board.fewest(question)
    assert sorted(votes.members.tolist()) == sorted(set(votes.members.tolist()) & set(range(7)))
    assert len(votes.members) == 3
    assert votes.difference == pytest.approx(0, abs=1e-7)
    assert (judges.members.tolist(), topics.members.tolist()) == ([0], [2])


def test_an_order_without_opposition_falls_only_with_all_of_its_votes():
    board = of_single_votes([0, 0, 0], [0, 1, 2], [0, 0, 0])
    (question,) = board.questions(np.array([0]), np.array([1]))
    votes, judges, topics = board.fewest(question)
    assert [len(flip.members) for flip in (votes, judges, topics)] == [3, 3, 1]
    assert np.isnan(votes.difference)


def test_judges_of_the_same_pairs_are_listed_by_their_influence():
    """Judges 1 and 2 hold ten wins together; each alone decides less than judge 0. Judge 2 holds one more win."""
    likelihood = np.array([0.98, 0.01, 0.01])
    single, twice = likelihood / likelihood.sum(), likelihood**2 / (likelihood**2).sum()
    wins, losses = 14, 4
    board = fragility.Board(
        first=np.zeros(wins + losses, dtype=np.int64),
        second=np.ones(wins + losses, dtype=np.int64),
        chances=np.array([twice] * 10 + [single] * 4 + [single[::-1]] * losses),
        topic=np.zeros(wins + losses, dtype=np.int64),
        vote_of=np.array([*np.repeat(np.arange(10), 2), *range(10, wins + losses)]),
        judge=np.array([1, 2] * 10 + [2, 0, 0, 0] + [3] * losses),
        likelihood=np.array([likelihood] * 24 + [likelihood[::-1]] * losses),
        systems=2,
    )
    (question,) = board.questions(np.array([0]), np.array([1]))
    assert board.fewest_judges(question).members.tolist() == [2, 1]


def test_many_votes_are_found_one_by_one():
    """More than are chosen together: 300 against 100, each vote alike."""
    board = of_single_votes([0] * 300 + [2] * 100, np.arange(400) % 40, np.arange(400) % 50)
    (question,) = board.questions(np.array([0]), np.array([1]))
    assert len(board.fewest_votes(question).members) == 200


def test_wrong_arrays_and_questions_are_refused():
    board = of_single_votes([0, 0, 2], [0, 1, 2], [0, 0, 0])
    with pytest.raises(ValueError, match="higher merit"):
        board.questions(np.array([1]), np.array([0]))
    with pytest.raises(ValueError, match="must have a vote"):
        fragility.Board(
            **{**vars(of_single_votes([0, 0], [0, 1], [0, 0])), "vote_of": np.array([0, 0])},
        )
