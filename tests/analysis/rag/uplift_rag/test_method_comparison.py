"""Means, shares and differences of methods against plain computations and scipy."""

import numpy as np
import pytest
from scipy import stats

from analysis.rag.uplift_rag.method_comparison import Resampled, corrected, shares

N = 60


@pytest.fixture
def resampled() -> Resampled:
    return Resampled(N, 2000, np.random.default_rng(0))


def test_a_mean_is_the_mean_and_its_interval_that_of_theory(resampled):
    values = np.random.default_rng(1).random(N)
    found = resampled.mean(values)
    half = 1.96 * values.std() / np.sqrt(N)
    assert found.value == pytest.approx(values.mean())
    assert (found.low, found.high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.01)
    assert found.n == N


def test_missing_queries_are_left_out(resampled):
    values = np.random.default_rng(1).random(N)
    values[:10] = np.nan
    found = resampled.mean(values)
    assert (found.value, found.n) == (pytest.approx(values[10:].mean()), 50)
    nothing = resampled.mean(np.full(N, np.nan))
    assert np.isnan([nothing.value, nothing.low, nothing.high]).all()
    assert nothing.n == 0
    empty = Resampled(0, 100, np.random.default_rng(0)).mean([])
    assert np.isnan(empty.value)


def test_a_ratio_weighs_queries_by_what_they_hold(resampled):
    below = np.random.default_rng(2).integers(0, 4, N).astype(float)
    above = below * 0.25
    found = resampled.ratio(above, below)
    assert found.value == pytest.approx(0.25)
    assert np.isnan([found.low, found.high]).all()  # the same in all resamples: nothing says how it varies
    assert np.isnan(resampled.ratio(np.zeros(N), np.zeros(N)).value)


def test_differences_are_paired_and_tested_as_scipy_does(resampled):
    rng = np.random.default_rng(3)
    base = rng.random(N)
    better = base + rng.normal(0.05, 0.1, N)
    worse = base - 0.01 * rng.random(N)
    found = resampled.differences({"better": better, "worse": worse, "same": base}, base)
    expected = [stats.wilcoxon(each - base).pvalue for each in (better, worse)]
    adjusted = stats.false_discovery_control(expected)
    assert [found[name].p for name in ("better", "worse")] == pytest.approx(expected)
    assert [found[name].p_adjusted for name in ("better", "worse")] == pytest.approx(adjusted)
    assert found["better"].mean.value == pytest.approx((better - base).mean())
    assert np.isnan(found["same"].p)
    assert found["same"].note
    assert found["same"].mean.value == 0


def test_exact_match_is_tested_as_mcnemar_does():
    """30 questions only one of both answers right, 10 only the other: chi-square of one degree, uncorrected."""
    values = np.concatenate([np.ones(30), np.zeros(10), np.ones(20)])
    base = np.concatenate([np.zeros(30), np.ones(10), np.ones(20)])
    found = Resampled(60, 100, np.random.default_rng(0)).difference(values, base)
    assert found.p == pytest.approx(stats.chi2.sf((30 - 10) ** 2 / 40, 1))


def test_no_tests_are_corrected_to_none():
    assert corrected({}) == {}


def test_shares_add_up_and_skip_queries_without_anything(resampled):
    of = [["a", "b"], [], ["a"]] * 20
    found = shares(of, ["a", "b", "c"], resampled)
    assert [found[kind].value for kind in "abc"] == pytest.approx([2 / 3, 1 / 3, 0])
    assert found["a"].n == 40


def test_a_query_without_the_one_number_does_not_count_with_the_other():
    above, below = np.array([1.0, np.nan, 0.0]), np.array([2.0, 50.0, 2.0])
    found = Resampled(3, 100, np.random.default_rng(0)).ratio(above, below)
    assert (found.value, found.n) == (0.25, 2)
