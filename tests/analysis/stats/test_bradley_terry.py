"""Grades: the definition as printed under another optimiser, closed forms, finite differences, and choix."""

import choix
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, brentq, check_grad, minimize

from analysis.stats import bradley_terry as bt
from tests.examples import examples

T = 0.05


def random_comparisons(seed, problems=4, items=5, count=60):
    rng = np.random.default_rng(seed)
    problem = rng.integers(0, problems, count)
    first = rng.integers(0, items, count)
    second = (first + rng.integers(1, items, count)) % items
    return problem, first, second, rng.integers(-1, 2, count), rng.random(count) + 0.1


def printed_log_likelihood(m, first, second, outcome, weight, t=T):
    """Design 7.3, letter by letter."""
    total = 0.0
    for i, j, y, w in zip(first, second, outcome, weight, strict=True):
        a, b = np.exp(m[i]), np.exp(m[j])
        if y < 0:
            p = a / (a + b * np.exp(t))
        elif y > 0:
            p = b / (b + a * np.exp(t))
        else:
            p = a * b * (np.exp(2 * t) - 1) / ((a + b * np.exp(t)) * (a * np.exp(t) + b))
        total += w * np.log(p)
    dummy = np.exp(1)
    for merit in np.exp(m):
        total += 0.2 * (np.log(merit / (merit + dummy)) + np.log(dummy / (merit + dummy)))
    return total


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=examples(15), deadline=None)
def test_equals_bfgs_on_the_printed_definition(seed):
    problem, first, second, outcome, weight = random_comparisons(seed)
    grades = bt.fit(bt.tally(problem, first, second, outcome, weight=weight, problems=4, items=5))
    assert grades.converged.all()
    assert grades.gradient_norm.max() < 1e-8
    for p in range(4):
        mine = problem == p
        present = np.unique(np.r_[first[mine], second[mine]])
        place = np.searchsorted(present, np.arange(5))
        data = (place[first[mine]], place[second[mine]], outcome[mine], weight[mine])
        found = minimize(lambda m, *d: -printed_log_likelihood(m, *d), np.ones(len(present)), data, method="BFGS")
        assert grades.merit[p, present] == pytest.approx(found.x, abs=2e-4)
        assert grades.log_likelihood[p] == pytest.approx(-found.fun, abs=1e-7)
        assert grades.log_likelihood[p] >= -found.fun - 1e-9
        assert np.isnan(grades.merit[p, np.setdiff1d(np.arange(5), present)]).all()


def test_gradient_and_hessian_against_finite_differences():
    problem, first, second, outcome, weight = random_comparisons(3, problems=1)
    tallies = bt.tally(problem, first, second, outcome, weight=weight)
    problems = bt._Problems.of(tallies, bt.BradleyTerrySettings())

    def at(m):
        return problems.slope(m[:, None])

    point = np.random.default_rng(0).normal(size=5)
    assert check_grad(lambda m: at(m).value[0], lambda m: at(m).gradient[:, 0], point) < 1e-5
    numeric = np.array([approx_fprime(point, lambda m, i=i: at(m).gradient[i, 0], 1e-6) for i in range(5)])
    assert -problems.hessian(at(point))[:, :, 0] == pytest.approx(numeric, abs=1e-5)
    step = problems.newton_step(at(point))[:, 0]
    assert -numeric @ step == pytest.approx(at(point).gradient[:, 0], abs=1e-4)


@pytest.mark.parametrize("wins", [1, 3, 1000])
def test_closed_form_of_one_pair(wins):
    """Two items, one beats the other w times: m = 1 + d and 1 - d with w s(t - 2d) = 0.2 tanh(d / 2)."""
    grades = bt.fit(bt.tally(np.zeros(wins, int), np.zeros(wins, int), np.ones(wins, int), np.full(wins, -1)))
    d = brentq(lambda d: wins / (1 + np.exp(2 * d - T)) - 0.2 * np.tanh(d / 2), 0, 50, xtol=1e-14)
    assert grades.merit[0] == pytest.approx([1 + d, 1 - d], abs=1e-9)
    assert grades.grade[0].tolist() == [2, 1]


def test_only_ties_leave_everybody_at_the_dummy():
    grades = bt.fit(bt.tally([0, 0], [0, 1], [1, 2], [0, 0]))
    assert grades.merit[0] == pytest.approx([1, 1, 1])
    assert grades.grade[0].tolist() == [2, 2, 2]


def test_standard_errors_of_one_item_pair():
    """By symmetry the Hessian is [[a + b, -a], [-a, a + b]], whose inverse is known."""
    grades = bt.fit(bt.tally([0, 0], [0, 0], [1, 1], [-1, 1]))
    s = 1 / (1 + np.exp(-T))
    a, b = 2 * s * (1 - s), 2 * 0.2 * 0.25
    assert grades.standard_error[0] == pytest.approx(np.sqrt((a + b) / ((a + b) ** 2 - a**2)), abs=1e-12)


def test_equals_choix_without_threshold_and_with_a_faint_dummy():
    rng = np.random.default_rng(0)
    data = [(i, j) for i in range(6) for j in range(6) if i != j for _ in range(int(rng.integers(1, 5)))]
    winner, loser = np.array(data).T
    faint = bt.BradleyTerrySettings(threshold=0.0, dummy_weight=1e-7)
    grades = bt.fit(bt.tally(np.zeros(len(data), int), winner, loser, np.full(len(data), -1)), settings=faint)
    expected = choix.opt_pairwise(6, data, alpha=0.0, tol=1e-10)
    assert grades.merit[0] - grades.merit[0].mean() == pytest.approx(expected - expected.mean(), abs=1e-5)


def test_disconnected_comparisons_are_joined_by_the_dummy():
    grades = bt.fit(bt.tally([0, 0], [0, 2], [1, 3], [-1, -1]))
    assert grades.converged.all()
    assert grades.merit[0, 0] == pytest.approx(grades.merit[0, 2])
    assert grades.grade[0].tolist() == [3.5, 1.5, 3.5, 1.5]


def test_many_problems_at_once_equal_one_by_one():
    problem, first, second, outcome, weight = random_comparisons(9, problems=6, count=200)
    together = bt.fit(bt.tally(problem, first, second, outcome, weight=weight))
    for p in range(6):
        mine = problem == p
        alone = bt.fit(bt.tally(problem[mine] * 0, first[mine], second[mine], outcome[mine], weight=weight[mine]))
        assert together.merit[p] == pytest.approx(alone.merit[0], abs=1e-8)
        assert together.standard_error[p] == pytest.approx(alone.standard_error[0], abs=1e-8)


def test_weights_count_like_repetitions():
    twice = bt.fit(bt.tally([0, 0, 0], [0, 0, 1], [1, 1, 2], [-1, -1, 0]))
    weighted = bt.fit(bt.tally([0, 0], [0, 1], [1, 2], [-1, 0], weight=[2, 1]))
    assert twice.merit == pytest.approx(weighted.merit)
    unseen = bt.fit(bt.tally([0, 0], [0, 1], [1, 2], [-1, 0], weight=[1, 0]))
    assert unseen.merit[0, 2] == pytest.approx(1)  # judged, but by nobody who counts: where the dummy is


def test_extreme_tallies_converge():
    grades = bt.fit(bt.tally([0, 1], [0, 0], [1, 1], [-1, 1], weight=[1e9, 1e-9]))
    assert np.isfinite(grades.merit).all()
    assert grades.merit[0, 0] > grades.merit[0, 1]
    start = bt.fit(bt.tally([0], [0], [1], [-1]), start=np.array([[-60.0, np.nan]]))
    assert start.converged.all()
    assert start.grade[0].tolist() == [2, 1]


def test_too_few_iterations_are_told():
    problem, first, second, outcome, _ = random_comparisons(1)
    short = bt.fit(bt.tally(problem, first, second, outcome), settings=bt.BradleyTerrySettings(max_iter=1))
    assert not short.converged.all()
    assert short.iterations == 1


def test_grade_ranks_within_rows():
    nan = np.nan
    found = bt.grade([[0.1, 3.0, -2.0], [1.0, 1.0 + 1e-9, nan], [nan, nan, nan]])
    assert np.array_equal(found, [[2, 3, 1], [1.5, 1.5, nan], [nan, nan, nan]], equal_nan=True)


def test_unusable_comparisons_get_named_errors():
    with pytest.raises(bt.NoComparisonsError):
        bt.tally([], [], [], [])
    with pytest.raises(bt.UnusableComparisonError, match="outcome"):
        bt.tally([0], [0], [1], [np.nan])
    with pytest.raises(bt.UnusableComparisonError, match="weight"):
        bt.tally([0], [0], [1], [1], weight=[np.nan])
    with pytest.raises(bt.UnusableComparisonError):
        bt.tally([0], [1], [1], [1])
    with pytest.raises(ValueError, match=r"\S"):
        bt.tally([0, 0], [0], [1], [1])
    with pytest.raises(ValueError, match=r"\S"):
        bt.fit(bt.tally([0], [0], [1], [0]), settings=bt.BradleyTerrySettings(threshold=0.0))
    with pytest.raises(ValueError, match="dummy"):
        bt.fit(bt.tally([0], [0], [1], [0]), settings=bt.BradleyTerrySettings(dummy_weight=0.0))


def test_influences_are_the_derivatives_of_a_difference():
    """Each win a little heavier: the fit changes by the influence."""
    rng = np.random.default_rng(4)
    wins = rng.uniform(0, 3, (1, 5, 5)) * (1 - np.eye(5))
    wins[0, 3], wins[0, :, 3] = 0, 0
    tallies = bt.Tallies(wins, np.zeros(1), np.array([[True, True, True, False, True]]))
    merit = bt.fit(tallies).merit[0]
    influence = bt.influence_on_differences(tallies, merit, [0, 2], [1, 4])
    step = 1e-4
    for winner, loser in [(0, 1), (1, 0), (2, 4), (4, 0), (1, 2)]:
        ends = []
        for sign in (1, -1):
            moved = wins.copy()
            moved[0, winner, loser] += sign * step
            again = bt.fit(bt.Tallies(moved, np.zeros(1), tallies.present)).merit[0]
            ends.append(again[[0, 2]] - again[[1, 4]])
        slope = (ends[0] - ends[1]) / (2 * step)
        assert influence[:, winner, loser] == pytest.approx(slope, rel=1e-5, abs=1e-7)
