"""Anytime-valid bounds and mean grades of systems: by hand, against other code of the project, and by simulation."""

from itertools import combinations

import numpy as np
import pytest
import scipy

from analysis.stats import cluster_variance
from analysis.stats.sequential import Boundary, Votes, fixed_p, holm, system_means

MANY = 1e9


def votes(seed: int, *, systems: int = 3, number: int = 400, topics: int = 12, judges: int = 25) -> Votes:
    """Return random votes in which lower systems win more often."""
    rng = np.random.default_rng(seed)
    first = rng.integers(systems, size=number)
    second = (first + rng.integers(1, systems, size=number)) % systems
    score = np.clip(np.round(2 * rng.uniform(size=number) + 0.3 * (second - first)), 0, 2) / 2
    return Votes(first, second, score, rng.integers(topics, size=number), rng.integers(judges, size=number))


def test_the_bound_is_the_normal_mixtures() -> None:
    bound, variance, error = Boundary.tuned(0.5, 0.05), 0.04, 0.05
    time, rho = 1 / variance, bound.mixture
    expected = np.sqrt((time + rho) * np.log((time + rho) / (rho * error**2))) / time
    assert float(bound.reach(variance, MANY, error)) == pytest.approx(expected, rel=1e-6)
    assert float(bound.p(expected, variance, MANY)) == pytest.approx(error, rel=1e-5)


def test_the_bound_is_narrowest_where_it_is_tuned() -> None:
    tuned = Boundary.tuned(0.5, 0.05)
    squared = -float(np.real(scipy.special.lambertw(-(0.05**2) / np.e, -1)))
    variance = 0.25 / squared
    assert float(tuned.reach(variance, MANY, 0.05)) == pytest.approx(0.5, rel=1e-6)
    assert all(float(Boundary(tuned.mixture * by).reach(variance, MANY, 0.05)) > 0.5 for by in (0.8, 1.25))


@pytest.mark.parametrize("freedom", [9, 30, 200])
def test_an_interval_excludes_zero_where_p_is_small(freedom: int) -> None:
    bound, variance = Boundary.tuned(0.5, 0.05), np.array([0.3, 0.05, 0.01])
    reach = bound.reach(variance, freedom, 0.05)
    assert np.all(bound.p(reach * 1.001, variance, freedom) < 0.05)
    assert np.all(bound.p(reach * 0.999, variance, freedom) > 0.05)
    assert np.all(reach > bound.reach(variance, 10 * freedom, 0.05))


def test_what_has_no_variance_is_not_decided() -> None:
    bound = Boundary.tuned(0.5, 0.05)
    assert bound.p([1.0, 1.0, np.nan], [0.0, np.nan, 0.1], 20).tolist() == [1.0, 1.0, 1.0]
    assert np.isinf(bound.reach([0.0, np.nan], 20, 0.05)).all()
    assert fixed_p([1.0, 1.0], [0.0, np.nan], 20).tolist() == [1.0, 1.0]


def test_a_brownian_motion_crosses_the_bound_as_seldom_as_stated() -> None:
    rng, bound, campaigns = np.random.default_rng(3), Boundary.tuned(0.5, 0.2), 2000
    time = np.geomspace(0.5, 5000, 200)
    path = np.cumsum(rng.normal(size=(campaigns, 200)) * np.sqrt(np.diff(time, prepend=0)), axis=1)
    crossed = (bound.p(path / time, 1 / time, MANY) <= 0.2).any(axis=1).mean()
    assert 0.13 < crossed < 0.2


def test_mean_grades_of_all_pairs_are_sums_of_chances_to_win() -> None:
    pairs = np.array(list(combinations(range(3), 2)) * 4)
    score = np.array([1, 0.5, 1, 1, 1, 0, 0, 1, 0.5, 1, 0.5, 0.5])
    shown = Votes(*pairs.T, score, np.repeat(np.arange(4), 3), np.arange(12))
    wins = np.zeros((3, 3))
    for (first, second), value in zip(pairs, score, strict=True):
        wins[first, second] += value / 4
        wins[second, first] += (1 - value) / 4
    assert system_means(shown, [1, 1, 1]).grade == pytest.approx(1 + wins.sum(axis=1))


def test_sides_do_not_matter() -> None:
    one = votes(1)
    turned = Votes(one.second, one.first, 1 - one.score, one.topic, one.judge)
    for name in ("grade", "over_topics", "over_judges", "over_cells"):
        assert getattr(system_means(one, [2, 2, 2]), name) == pytest.approx(
            getattr(system_means(turned, [2, 2, 2]), name)
        )


def test_variances_are_those_of_clusters_of_topics_and_judges() -> None:
    shown = votes(2, systems=2)
    means = system_means(shown, [3, 3])
    signed = np.where(shown.first == 0, shown.score, 1 - shown.score)
    terms = cluster_variance.Terms.of(
        shown.topic, shown.judge, None, 6 * (signed - signed.mean()) / len(signed)
    )  # fmt: skip
    assert means.grade[0] - means.grade[1] == pytest.approx(6 * (signed.mean() - 0.5))
    assert (means.topics, means.judges) == (terms.topics, terms.judges)
    difference = np.array([1.0, -1.0])
    assert difference @ means.over_topics @ difference == pytest.approx(terms.over_topics())
    assert difference @ means.over_judges @ difference == pytest.approx(terms.over_judges())
    assert difference @ means.over_cells @ difference == pytest.approx(terms.of_both())


def test_chosen_judges_have_no_variance() -> None:
    one = votes(3)
    means = system_means(Votes(one.first, one.second, one.score, one.topic, None), [1, 1, 1])
    assert not means.over_judges.any()
    assert means.over_topics == pytest.approx(system_means(one, [1, 1, 1]).over_topics)
    assert means.is_enough
    assert means.freedom == means.topics - 1


def test_weights_undo_that_some_pairs_are_asked_more_often() -> None:
    # Not additive: 0 beats 1, 1 beats 2, 2 beats 0, so that the mean depends on how often each pair is asked.
    pairs, number = np.array([[0, 1], [1, 2], [0, 2]]), np.array([600, 100, 300])
    asked = np.repeat(np.arange(3), number)
    score = np.where(asked == 2, 0.0, 1.0)
    columns = (*pairs[asked].T, score, np.arange(1000) % 20, np.arange(1000) % 50)
    weighted = system_means(Votes(*columns, 1 / number[asked]), [1, 1, 1])
    assert weighted.grade == pytest.approx([2, 2, 2])
    assert system_means(Votes(*columns), [1, 1, 1]).grade != pytest.approx([2, 2, 2])


def test_systems_that_were_never_compared_have_no_grade() -> None:
    one = votes(4, systems=2)
    means = system_means(one, [1, 1, 1])
    assert np.isnan(means.grade).tolist() == [False, False, True]


@pytest.mark.parametrize(
    "wrong",
    [{"second": np.array([0])}, {"score": np.array([2.0])}, {"topic": np.array([0, 1])}, {"weight": np.zeros(1)}],
)
def test_impossible_votes_are_refused(wrong: dict) -> None:
    columns = {"first": np.array([0]), "second": np.array([1]), "score": np.array([1.0]), "topic": np.array([0])}
    with pytest.raises(ValueError, match=r"otes|vote|Scores|Weights"):
        Votes(**{**columns, "judge": np.array([0]), **wrong})


def test_holms_adjustment_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([[0.5, 0.9], [0.02, 0.01]]) == pytest.approx(np.array([[1, 1], [0.02, 0.02]]))
