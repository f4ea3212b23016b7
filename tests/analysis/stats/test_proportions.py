"""Score intervals of shares and of paired differences: published values, brute force, and what must hold of any."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.stats.proportions import paired_difference, paired_difference_of_counts, planned_width, wilson

counts = st.integers(0, 60)


@pytest.mark.parametrize(
    ("count", "n", "low", "high"),
    # Newcombe, Two-sided confidence intervals for the single proportion (1998), Table I, method 3.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_gives_the_published_intervals(count, n, low, high):
    found = wilson(count, n)
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)
    assert found.estimate == count / n


@pytest.mark.parametrize(
    ("table", "low", "high"),
    # Newcombe (1998), paired data, method 10: both, only first, only second, neither.
    [((36, 12, 2, 0), 0.0569, 0.3404), ((36, 14, 0, 0), 0.1528, 0.4167), ((54, 0, 0, 0), -0.0664, 0.0664)],
)
def test_the_paired_difference_has_the_published_intervals(table, low, high):
    found = paired_difference_of_counts(*table)
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


def test_the_interval_holds_the_truth_as_often_as_it_says_by_brute_force():
    """All tables of 25 things, weighted by their exact probability: the share whose interval holds the difference."""
    n = 25
    tables = [(a, b, c, n - a - b - c) for a, b, c in product(range(n + 1), repeat=3) if a + b + c <= n]
    logs = [math.lgamma(i + 1) for i in range(n + 1)]
    found = {table: paired_difference_of_counts(*table) for table in tables}
    covered = []
    for truth in [(0.3, 0.2, 0.1, 0.4), (0.05, 0.4, 0.05, 0.5), (0.1, 0.1, 0.1, 0.7), (0.6, 0.15, 0.02, 0.23)]:
        difference = truth[1] - truth[2]
        total = 0.0
        for table in tables:
            chance = math.exp(logs[n] + sum(k * math.log(p) - logs[k] for k, p in zip(table, truth, strict=True)))
            if found[table].low <= difference <= found[table].high:
                total += chance
        covered.append(total)
    assert min(covered) > 0.93
    assert np.mean(covered) == pytest.approx(0.955, abs=0.02)


@settings(deadline=None)
@given(counts, counts, counts, counts)
def test_what_must_hold_of_any_table(both, first, second, neither):
    found = paired_difference_of_counts(both, first, second, neither)
    if not found.n:
        assert math.isnan(found.estimate)
        return
    assert -1 - 1e-9 <= found.low <= found.estimate <= found.high <= 1 + 1e-9
    # Conditions or outcomes the other way round mirror the interval.
    turned = paired_difference_of_counts(both, second, first, neither)
    assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low), abs=1e-9)
    negated = paired_difference_of_counts(neither, second, first, both)
    assert (negated.low, negated.high) == pytest.approx((-found.high, -found.low), abs=1e-9)


def test_values_and_counts_say_the_same():
    first = np.array([1, 1, 1, 0, 0, 1], dtype=bool)
    second = np.array([1, 0, 0, 1, 0, 0], dtype=bool)
    assert paired_difference(first, second) == paired_difference_of_counts(1, 3, 1, 1)


def test_of_nothing_nothing_is_said():
    assert math.isnan(wilson(0, 0).estimate)
    assert math.isnan(paired_difference([], []).low)


@pytest.mark.parametrize(("count", "n", "level"), [(3, 2, 0.95), (-1, 2, 0.95), (1, 2, 1.0), (1, 2, 0.0)])
def test_what_cannot_be_is_refused(count, n, level):
    with pytest.raises(ValueError, match=r"\S"):
        wilson(count, n, level=level)


def test_both_conditions_are_of_the_same_things():
    with pytest.raises(ValueError, match=r"\S"):
        paired_difference([True], [True, False])


@pytest.mark.parametrize(("clusters", "trials"), [(10, 1), (40, 5), (7, 3)])
def test_planned_width_is_wilsons_for_independent_trials_and_for_equal_ones(clusters, trials):
    even = 2 * clusters
    independent, equal = wilson(even * trials // 2, even * trials), wilson(clusters, even)
    assert planned_width(even, trials, 0) == pytest.approx(independent.high - independent.low)
    assert planned_width(even, trials, 1) == pytest.approx(equal.high - equal.low)


def test_planned_width_covers_simulated_clusters():
    rng = np.random.default_rng(0)
    clusters, trials, correlation = 60, 5, 0.3
    spread = (1 - correlation) / correlation / 2  # of a beta distribution with this intraclass correlation
    shares = rng.binomial(trials, rng.beta(spread, spread, (4000, clusters))).mean(axis=1) / trials
    within = np.abs(shares - 0.5) <= planned_width(clusters, trials, correlation) / 2
    assert within.mean() == pytest.approx(0.95, abs=0.015)


def test_planned_width_without_trials_is_undefined():
    assert math.isnan(planned_width(0, 5, 0.3))
    assert math.isnan(planned_width(5, 0, 0.3))
