"""Looks at goals: by hand, against a simulation that looks at many campaigns at once, and forecasts by what comes."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from analysis.stats import designs
from analysis.stats.campaign_simulation import look_at, saving, simulate_campaigns, simulate_paths
from analysis.stats.designs import Design, Expectation
from analysis.stats.goal_decisions import UNDECIDED, decide, look, pair_error
from analysis.stats.goals import Goal, GoalKind
from analysis.stats.sequential import Outcome, SystemMeans, Votes, system_means

ABC = ("a", "b", "c")
SMALL = Design(topics=12, responses=6, dimensions=1, forced=0, k=3, both_orders=0.4)


def expectation(**fields: object) -> Expectation:
    people = designs.competence(0.42, 0.29, dimensions=1, rng=np.random.default_rng(0))
    return Expectation(people, **{"spread": 2.8, "neutral": 0.25, "difficulty": 0.6, **fields})


def known(grade: list[float], error: float, *, topics: int = 50, judges: int = 100) -> SystemMeans:
    """Return grades with independent errors of this size."""
    size, none = len(grade), np.zeros((len(grade),) * 2)
    return SystemMeans(np.array(grade), none, np.eye(size) * error**2, none, 1000, topics, judges)


def seen(goal: Goal, means: SystemMeans, *, left: int = 1000, systems: tuple[str, ...] = ABC):
    return look(
        goal, means, systems=systems[: len(means.grade)], scale=6, votes_left=left, topics_in_all=50,
        rng=np.random.default_rng(0),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("goal", "grade", "answer"),
    [
        (Goal(GoalKind.BEST, ABC), [2.0, 4.0, 2.1], ("b",)),
        (Goal(GoalKind.BEST, ABC), [2.0, 4.0, 3.98], None),
        (Goal(GoalKind.BEST, ("a", "c")), [3.0, 9.0, 2.0], ("a",)),
        (Goal(GoalKind.BETTER, ("a", "b")), [4.0, 3.0, 2.0], ("a",)),
        (Goal(GoalKind.BETTER, ("b", "a")), [4.0, 3.0, 2.0], ()),
        (Goal(GoalKind.BETTER, ("a", "b"), margin=0.5), [4.0, 3.0, 2.0], ("a",)),
        (Goal(GoalKind.BETTER, ("a", "b"), margin=1.0), [4.0, 3.0, 2.0], None),
        (Goal(GoalKind.BETTER, ("a", "b"), margin=2.0), [4.0, 3.0, 2.0], ()),
        (Goal(GoalKind.RANKING, ABC), [3.0, 2.0, 4.0], ("c", "a", "b")),
        (Goal(GoalKind.RANKING, ABC), [3.0, 2.99, 4.0], None),
        (Goal(GoalKind.WIDTH, ABC, width=0.5), [3.0, 2.99, 4.0], ()),
        (Goal(GoalKind.WIDTH, ABC, width=0.2), [3.0, 2.99, 4.0], None),
    ],
)
def test_answers_by_hand(goal: Goal, grade: list[float], answer: tuple[str, ...] | None) -> None:
    found = seen(goal, known(grade, 0.05))
    assert found.answer == answer
    assert (found.outcome == Outcome.DECIDED) == (answer is not None)
    assert (found.forecast is None) == (answer is not None)


def test_a_decision_needs_enough_topics_and_judges() -> None:
    goal = Goal(GoalKind.BEST, ("a", "b"))
    for few in ({"topics": 9}, {"judges": 19}):
        assert seen(goal, known([4.0, 2.0], 0.01, **few)).answer is None


def test_a_decision_agrees_with_the_interval_that_is_shown() -> None:
    for goal in (Goal(GoalKind.BEST, ABC), Goal(GoalKind.BETTER, ("a", "b"), margin=0.3)):
        for gap in np.linspace(0, 1, 11):
            found = seen(goal, known([3.0 + gap, 3.0, 2.0], 0.1), left=0)
            first = found.comparisons[0]
            excludes = not first.low <= goal.margin <= first.high
            assert excludes == (first.p <= 0.05)
            assert (found.answer is not None) == excludes


def test_what_more_votes_cannot_decide_is_out_of_reach() -> None:
    close = known([3.1, 3.0], 0.15)
    goal = Goal(GoalKind.BEST, ("a", "b"))
    short, long = seen(goal, close, left=100), seen(goal, close, left=10**7)
    assert short.outcome == Outcome.OUT_OF_REACH
    assert short.forecast is not None
    assert short.forecast.chance < 0.05
    assert long.outcome == Outcome.UNDECIDED
    assert long.forecast is not None
    assert long.forecast.chance > 0.7
    over_topics = replace(close, over_topics=close.over_judges, over_judges=close.over_topics)
    assert seen(goal, over_topics, left=10**7).outcome == Outcome.OUT_OF_REACH


def test_a_width_needs_as_many_votes_as_its_square_says() -> None:
    goal = Goal(GoalKind.WIDTH, ("a", "b"), width=0.6)
    found = seen(goal, known([3.0, 3.0], 0.2, topics=10**6, judges=10**6), left=10**5)
    assert found.forecast is not None
    assert found.forecast.chance == 1
    needed = found.forecast.votes[1]
    nearer = seen(goal, known([3.0, 3.0], 0.2 * np.sqrt(1000 / needed), topics=10**6, judges=10**6))
    assert nearer.grades[0].high - nearer.grades[0].low == pytest.approx(0.6, rel=0.1)


def test_intervals_share_the_error() -> None:
    assert pair_error(GoalKind.BEST, 2, 0.05) == pair_error(GoalKind.RANKING, 2, 0.05) == 0.05
    assert pair_error(GoalKind.BEST, 4, 0.05) == pytest.approx(0.025)
    assert pair_error(GoalKind.RANKING, 4, 0.05) == pytest.approx(0.05 / 6)


def test_unknown_systems_are_refused() -> None:
    with pytest.raises(ValueError, match="d"):
        seen(Goal(GoalKind.BEST, ("a", "d")), known([3.0, 3.0], 0.1))


def test_looks_at_many_campaigns_are_looks_at_each() -> None:
    for effects in ([1.0, 0.0], [1.0, 0.5, 0.0]):
        campaigns = simulate_campaigns(SMALL, expectation(topic_effect=1.0), effects, 3, np.random.default_rng(1))
        paths = look_at(campaigns)
        unit = np.eye(len(effects))
        for questionnaires in (4, 30, len(paths.topics)):
            means = system_means(campaigns.votes(1, questionnaires), [6 // len(effects)] * len(effects))
            contrasts = [unit[first] - unit[second] for first, second in combinations(range(len(effects)), 2)]
            at = (questionnaires - 1, 1)
            assert paths.difference[at] == pytest.approx([contrast @ means.grade for contrast in contrasts])
            assert paths.variance[at] == pytest.approx([means.variance(contrast) for contrast in contrasts])
            assert (paths.topics[at], questionnaires) == (means.topics, means.judges)


def test_simulated_labels_have_the_difference_they_were_given() -> None:
    honest = designs.competence(0.999, 0.0, dimensions=1, rng=np.random.default_rng(0))
    expected = designs.with_grade_difference(SMALL, expectation(difficulty=0.0), 1.0)
    paths = simulate_paths(
        SMALL, replace(expected, competence=honest), [expected.effect, 0.0], 150, np.random.default_rng(2)
    )
    assert paths.difference[-1].mean() == pytest.approx(1.0, abs=0.12)


def test_later_estimates_add_independent_steps() -> None:
    """The covariance of an early and a late estimate is the late one's variance: the bound rests on this."""
    paths = simulate_paths(SMALL, expectation(topic_effect=2.0), [0.0, 0.0], 500, np.random.default_rng(4))
    early, late = paths.difference[24, :, 0], paths.difference[-1, :, 0]
    steps = early - late
    assert abs(np.corrcoef(steps, late)[0, 1]) < 0.13
    assert paths.variance[-1].mean() == pytest.approx(late.var(), rel=0.25)


def test_equal_systems_are_seldom_told_apart_and_different_ones_early() -> None:
    rng, goal = np.random.default_rng(5), Goal(GoalKind.BEST, ("a", "b"))
    equal = simulate_paths(SMALL, expectation(), [0.0, 0.0], 200, rng)
    assert (equal.decisions(goal) != UNDECIDED).any(axis=0).mean() < 0.05
    assert (equal.decisions(goal, is_fixed=True) != UNDECIDED).any(axis=0).mean() > 0.07
    different = simulate_paths(SMALL, expectation(), [8.0, 0.0], 50, rng)
    found = saving(different, goal, 0)
    assert found.power > 0.9
    assert found.wrong == 0
    assert found.judgments < len(different.topics) * different.items


def test_many_decisions_at_once_are_those_one_by_one() -> None:
    rng = np.random.default_rng(6)
    difference, p = rng.normal(size=(40, 3)), rng.uniform(size=(40, 3)) ** 4
    for kind in (GoalKind.BEST, GoalKind.RANKING):
        goal = Goal(kind, ABC)
        together = decide(goal, difference=difference, p=p, topics=np.full(40, 50), judges=np.full(40, 50))
        single = [
            int(decide(goal, difference=d, p=q, topics=50, judges=50)) for d, q in zip(difference, p, strict=True)
        ]
        assert together.tolist() == single


@pytest.mark.extended
def test_forecasts_come_true() -> None:
    """The mean chance of a decision, as forecast half way, is the share of campaigns that are decided later."""
    rng, goal = np.random.default_rng(7), Goal(GoalKind.BEST, ("a", "b"))
    design = replace(SMALL, topics=40)
    campaigns = simulate_campaigns(design, expectation(), [1.3, 0.0], 200, rng)
    codes = look_at(campaigns).decisions(goal) != UNDECIDED
    half = len(codes) // 2
    chances, comes = [], []
    for campaign in range(200):
        if codes[:half, campaign].any():
            continue
        shown: Votes = campaigns.votes(campaign, half)
        found = look(
            goal, system_means(shown, [3, 3]), systems=("a", "b"), scale=6, votes_left=len(shown.score),
            topics_in_all=40, rng=rng,
        )  # fmt: skip
        assert found.forecast is not None
        chances.append(found.forecast.chance)
        comes.append(codes[half:, campaign].any())
    assert np.mean(chances) == pytest.approx(np.mean(comes), abs=0.1)
