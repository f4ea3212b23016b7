"""The randomisation test of sides against counting every combination, and against the binomial test."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from analysis.stats import position_bias
from analysis.stats.position_bias import side_test


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_p_is_the_share_of_sign_combinations_with_as_large_a_total(excess):
    found = side_test(excess)
    leaning = [each for each in excess if each]
    if not leaning:
        assert np.isnan(found.p)
        return
    totals = [
        sum(s * each for s, each in zip(signs, leaning, strict=True)) for signs in product((-1, 1), repeat=len(leaning))
    ]
    expected = np.mean([abs(total) >= abs(sum(leaning)) for total in totals])
    assert found.p == pytest.approx(expected, abs=1e-12)
    assert (found.excess, found.pairs, found.exact) == (sum(excess), len(leaning), True)


@given(st.integers(0, 300), st.integers(0, 300))
def test_with_one_choice_a_pair_it_is_the_binomial_test(first, second):
    if first + second:
        p = side_test([1] * first + [-1] * second).p
        assert p == pytest.approx(binomtest(first, first + second).pvalue, rel=1e-9)


def test_of_many_choices_it_is_normal_and_near_to_what_counting_gives(monkeypatch):
    excess = np.random.default_rng(0).integers(-5, 7, size=1500)
    counted = side_test(excess)
    monkeypatch.setattr(position_bias, "COUNTED_OUT", 10)
    near = side_test(excess)
    assert (counted.exact, near.exact) == (True, False)
    assert near.p == pytest.approx(counted.p, rel=0.02)


def test_votes_on_a_pair_turn_together_and_are_no_evidence_by_number():
    # Ten people choose the first response of one pair: one pair leans, which chance does every time.
    assert side_test([10]).p == 1.0
    assert side_test([1] * 10).p == pytest.approx(2 / 2**10)


def test_nothing_chosen_has_no_p_and_fractions_are_refused():
    assert np.isnan(side_test([]).p)
    assert np.isnan(side_test([0, 0]).p)
    with pytest.raises(ValueError, match=r"\S"):
        side_test([0.5])
