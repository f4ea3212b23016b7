"""Rank intervals: against refitting in a loop, and what must hold of them."""

import numpy as np
import pytest

from analysis.stats import bradley_terry as bt
from analysis.stats import ranks


def round_robin(times):
    """Four items; the lower always beats the higher, `times` times."""
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)] * times
    first, second = np.array(pairs).T
    return np.zeros(len(pairs), int), first, second, np.full(len(pairs), -1)


def test_clear_results_have_narrow_intervals():
    intervals = ranks.rank_intervals(*round_robin(30), rng=np.random.default_rng(0), resamples=200)
    assert intervals.low[0].tolist() == intervals.high[0].tolist() == [4, 3, 2, 1]
    assert intervals.not_converged == 0


@pytest.mark.parametrize("seed", range(8))
def test_intervals_equal_a_loop_of_fits(seed):
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 4, 24)
    second = (first + rng.integers(1, 4, 24)) % 4
    outcome = rng.integers(-1, 2, 24)
    intervals = ranks.rank_intervals(
        np.zeros(24, int), first, second, outcome, rng=np.random.default_rng(1), resamples=50
    )
    draws = np.random.default_rng(1)
    grades = []
    for row in np.floor(draws.random((50, 24)) * 24).astype(int):
        sample = bt.tally(np.zeros(24, int), first[row], second[row], outcome[row], problems=1, items=4)
        everybody = np.ones((1, 4), dtype=bool)
        grades.append(bt.fit(bt.Tallies(sample.wins, sample.ties, everybody)).grade[0])
    low, high = np.sort(grades, axis=0)[[1, -2]]  # 2.5 % of 50 resamples, rounded outwards
    assert intervals.low[0].tolist() == low.tolist()
    assert intervals.high[0].tolist() == high.tolist()


def test_problems_of_different_size_in_blocks(monkeypatch):
    problem, first, second, outcome = round_robin(10)
    both = [np.r_[a, b] for a, b in ((problem, [2, 2]), (first, [0, 1]), (second, [1, 2]), (outcome, [-1, 0]))]
    whole = ranks.rank_intervals(*both, rng=np.random.default_rng(0), resamples=40, weight=np.ones(len(both[0])))
    monkeypatch.setattr(ranks, "_PROBLEMS_AT_ONCE", 7)
    blocks = ranks.rank_intervals(*both, rng=np.random.default_rng(0), resamples=40)
    assert np.array_equal(whole.low, blocks.low, equal_nan=True)
    assert np.array_equal(whole.high, blocks.high, equal_nan=True)
    assert np.isnan(whole.low[1]).all()  # a problem without comparisons
    assert np.isnan(whole.low[2, 3])  # an item without comparisons
    assert whole.low[2, 0] <= whole.high[2, 0]


def test_a_single_comparison_says_nothing():
    intervals = ranks.rank_intervals([0], [0], [1], [-1], rng=np.random.default_rng(0), resamples=10)
    assert np.isnan(intervals.low).all()


def test_bad_requests_are_refused():
    with pytest.raises(ValueError, match="resample"):
        ranks.rank_intervals([0], [0], [1], [-1], rng=np.random.default_rng(0), resamples=0)
    with pytest.raises(ValueError, match="level"):
        ranks.rank_intervals([0], [0], [1], [-1], rng=np.random.default_rng(0), level=1)
