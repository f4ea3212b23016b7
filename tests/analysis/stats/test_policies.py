"""What policies prefer: against a dense covariance of all merits, by hand, and by what goals ask."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import scipy

from analysis.stats import policies
from analysis.stats.goals import Goal, GoalKind
from analysis.stats.judge_tiers import Tier, may_continue, tier_of
from analysis.stats.policies import POLICIES, Pool, Votes
from annotation.enums import AssignmentPolicy


def a_pool(topics: int = 3, systems: int = 4, votes: int = 60, seed: int = 0, *, pointwise: bool = False) -> Pool:
    """Return a pool of one questionnaire for each pair (or response), with random votes."""
    rng = np.random.default_rng(seed)
    pairs = [
        (topic * systems + a, topic * systems + b)
        for topic in range(topics)
        for a, b in combinations(range(systems), 2)
    ]
    items = np.array(pairs)
    if pointwise:
        items = np.c_[np.arange(topics * systems), np.full(topics * systems, -1)]
    n = len(items)
    item = rng.integers(n, size=votes)
    taken = np.bincount(item, minlength=n)
    lead = rng.choice([-1.0, 0.0, 1.0], size=votes, p=[0.2, 0.2, 0.6])
    return Pool(
        first=items[:, 0],
        second=items[:, 1],
        topic=np.repeat(np.arange(topics), systems),
        system=np.tile(np.arange(systems), topics),
        systems=systems,
        entry_questionnaire=np.arange(n),
        entry_item=np.arange(n),
        known=np.zeros(n),
        taken=taken,
        free=np.full(n, 3),
        votes=[Votes(item, lead, rng.uniform(0.1, 0.9, votes))],
    )


def dense_gain(pool: Pool) -> np.ndarray:
    """Reduction of the variances of all comparisons by one vote on each item, from the covariance of all merits."""
    merit = policies._merits(pool, pool.votes[0])
    responses = len(pool.topic)
    size = pool.systems + responses
    prior = np.diag(
        np.r_[np.full(pool.systems, policies.PRIOR_SPREAD**-2.0), np.full(responses, policies.RESPONSE_SPREAD**-2.0)]
    )
    rows = np.zeros((len(pool.first), size))
    for row, first, second in zip(rows, pool.first, pool.second, strict=True):
        row[pool.system[first]] += 1
        row[pool.systems + first] += 1
        if second >= 0:
            row[pool.system[second]] -= 1
            row[pool.systems + second] -= 1
    lead = rows[:, : pool.systems] @ merit
    bend = scipy.special.expit(lead) * scipy.special.expit(-lead)
    precision = prior + rows.T @ (rows * (bend * pool.taken)[:, None])
    contrasts = [(a, b) for a, b in combinations(range(pool.systems), 2)]
    before = np.linalg.inv(precision)
    gains = []
    for row, one in zip(rows, bend, strict=True):
        after = np.linalg.inv(precision + one * np.outer(row, row))
        total = 0.0
        for a, b in contrasts:
            was, now = (c[a, a] + c[b, b] - 2 * c[a, b] for c in (before, after))
            open_ = 2 * scipy.special.ndtr(-abs(merit[a] - merit[b]) / np.sqrt(was))
            total += open_ * (was - now) / was
        gains.append(total)
    return np.array(gains)


@pytest.mark.parametrize("pointwise", [False, True])
def test_information_is_the_reduction_of_variances_that_a_dense_covariance_gives(pointwise: bool) -> None:
    pool = a_pool(pointwise=pointwise)
    expected = dense_gain(pool)
    gain = policies._item_gain(pool, pool.votes[0], None)
    assert gain == pytest.approx(expected, rel=1e-9)
    score = policies.information(pool)[Tier.TRUSTED]
    assert score == pytest.approx(expected / expected.mean(), rel=1e-9)


def test_merits_maximise_the_penalised_likelihood() -> None:
    pool = a_pool(votes=200)
    votes = pool.votes[0]
    merit = policies._merits(pool, votes)
    one, other = pool.system[pool.first[votes.item]], pool.system[pool.second[votes.item]]

    def loss(theta: np.ndarray) -> float:
        lead = theta[one] - theta[other]
        won = (1 + votes.lead) / 2
        return float(-(won * lead - np.logaddexp(0, lead)).sum() + (theta**2).sum() / 2 / policies.PRIOR_SPREAD**2)

    found = scipy.optimize.minimize(loss, np.zeros(pool.systems), method="BFGS").x
    assert merit == pytest.approx(found, abs=1e-4)


def test_a_goal_about_two_systems_prefers_their_pairs_and_votes_make_an_item_less_telling() -> None:
    pool = a_pool(topics=6, votes=0)
    pool = replace(pool, taken=np.zeros_like(pool.taken))
    goal = Goal(GoalKind.BETTER, ("1", "3"))
    score = policies.information(pool, goal)[Tier.UNPROVEN]
    systems = np.sort(np.c_[pool.system[pool.first], pool.system[pool.second]], axis=1)
    asked = (systems == [1, 3]).all(axis=1)
    none = ~np.isin(systems, [1, 3]).any(axis=1)
    assert score[asked].min() > 2 * score[~asked].max()
    assert score[none].max() < score[~none].min()
    taken = np.where(np.arange(len(asked)) == np.flatnonzero(asked)[0], 4, 0)
    after = policies.information(replace(pool, taken=taken), goal)[Tier.UNPROVEN]
    assert after[asked][0] < after[asked][1:].min()
    for kind, more in ((GoalKind.BEST, {}), (GoalKind.WIDTH, {"width": 0.5})):
        any_goal = Goal(kind, ("0", "1", "2", "3"), **more)
        assert np.all(policies.information(pool, any_goal)[Tier.TRUSTED] > 0)


def test_hard_items_go_to_trusted_judges_and_known_labels_to_others() -> None:
    pool = a_pool(topics=1, systems=3, votes=0)
    item = np.array([0, 0, 1, 1])
    votes = Votes(item, np.array([1.0, -1.0, 1.0, 1.0]), np.full(4, 0.2))
    pool = replace(pool, votes=[votes], known=np.array([0.0, 0.0, 0.1]))
    scores = policies.competence(pool)
    assert np.argmax(scores[Tier.TRUSTED]) == 0
    assert np.argmax(scores[Tier.UNPROVEN]) == 2
    assert scores[Tier.UNPROVEN][1] > scores[Tier.UNPROVEN][0]
    # Two judges of spam probability 0.2 who agree: odds of (0.8 + 0.2/3) / (0.2/3) = 13 each, 169 together.
    p = np.array([169, 1, 1]) / 171
    expected = -(p * np.log(p)).sum() / np.log(3)
    assert scores[Tier.TRUSTED][1] == pytest.approx(0.25 + expected)
    assert scores[Tier.TRUSTED][2] == pytest.approx(0.75), "nothing is known of an item with no votes"
    assert [tier_of(spam) for spam in (None, 0.5, 0.4)] == [Tier.UNPROVEN, Tier.UNPROVEN, Tier.TRUSTED]
    assert [may_continue(spam) for spam in (None, 0.75, 0.74)] == [False, False, True]


def test_weights_of_slots() -> None:
    pool = replace(a_pool(topics=1, systems=3, votes=0), taken=np.array([0, 1, 2]), free=np.array([3, 2, 0]))
    assert policies.slot_weights(np.array([1.0, 2.0, 9.0]), pool) == pytest.approx([1, 1 / 4, 1 / 9, 2, 1 / 2])
    b = policies.NEXT_ROUND
    assert policies.balanced_weights(pool) == pytest.approx([1, b, b * b, b, b * b])
    assert 1.0 <= policies.advantage(np.ones(3), pool) < 1.05
    assert 1.0 <= policies.advantage(np.array([2.0, 1.0, 1.0]), pool) < 2.0
    # Where worth alone would fill questionnaires unevenly, random draws are only tilted by it.
    even = policies.slot_weights(np.ones(3), pool)
    assert even == pytest.approx([1, b / 4, b * b / 9, b, b * b / 4])
    assert np.isnan(policies.advantage(np.ones(3), replace(pool, free=np.zeros(3, dtype=np.int64))))


def test_the_database_knows_the_same_policies() -> None:
    assert set(POLICIES) == set(AssignmentPolicy.values)
    for name, policy in POLICIES.items():
        assert (policy.name, policy.is_random) == (name, name != AssignmentPolicy.FIXED)
        assert (policy.score is None) == (name in {AssignmentPolicy.FIXED, AssignmentPolicy.RANDOM})


def test_scores_without_any_votes_or_items() -> None:
    pool = replace(a_pool(votes=0), taken=np.zeros(18, dtype=np.int64))
    pool = replace(pool, votes=[])
    assert policies.information(pool)[Tier.TRUSTED].tolist() == [1.0] * 18
    assert np.all(policies.competence(pool)[Tier.TRUSTED] == 0.75)
