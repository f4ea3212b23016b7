"""Rank correlations from cross tables against scipy, against their definition, and in resamples."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from analysis.stats.correlation import ConstantError, TooFewUnitsError, cross_tables, of_tables, resampled, rho, tau_b

PAIRS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 3)), min_size=2, max_size=40)


def tables_of(pairs, topics=4):
    first, second, topic = (list(each) for each in zip(*pairs, strict=True))
    return cross_tables(first, second, topic, topics=topics, values=3)


def varies(pairs):
    return len({pair[0] for pair in pairs}) > 1 and len({pair[1] for pair in pairs}) > 1


@given(PAIRS)
def test_both_are_those_of_scipy(pairs):
    assume(varies(pairs))
    first, second, _ = zip(*pairs, strict=True)
    assert of_tables(tables_of(pairs), tau_b) == pytest.approx(kendalltau(first, second).statistic, abs=1e-12)
    assert of_tables(tables_of(pairs), rho) == pytest.approx(spearmanr(first, second).statistic, abs=1e-12)


@given(PAIRS)
def test_tau_is_concordant_less_discordant_pairs_over_those_not_tied(pairs):
    assume(varies(pairs))
    signs = [(np.sign(x[0] - y[0]), np.sign(x[1] - y[1])) for x, y in combinations(pairs, 2)]
    score = sum(int(one * other) for one, other in signs)
    untied = [sum(bool(sign[side]) for sign in signs) for side in (0, 1)]
    assert of_tables(tables_of(pairs), tau_b) == pytest.approx(score / np.sqrt(untied[0] * untied[1]), abs=1e-12)


def test_tau_of_four_pairs_by_hand():
    # (a, a), (a, n), (b, b), (n, b): of 6 pairs of units 4 agree, none contradicts, one is tied in each variable.
    tables = cross_tables([0, 0, 2, 1], [0, 1, 2, 2], [0, 0, 0, 0], topics=1, values=3)
    assert of_tables(tables, tau_b) == pytest.approx(float(Fraction(4, 5)))
    # Mid-ranks 1.5, 1.5, 4, 3 and 1, 2, 3.5, 3.5: products of deviations sum to 4, their squares to 4.5 each.
    assert of_tables(tables, rho) == pytest.approx(float(Fraction(8, 9)))


@given(PAIRS, st.lists(st.integers(0, 3), min_size=4, max_size=4))
def test_a_topic_drawn_twice_counts_as_two(pairs, weights):
    copied = [pair for pair in pairs for _ in range(weights[pair[2]])]
    found = resampled(tables_of(pairs), np.array([weights], dtype=float), tau_b)[0]
    if copied and varies(copied):
        first, second, _ = zip(*copied, strict=True)
        assert found == pytest.approx(kendalltau(first, second).statistic, abs=1e-12)
    else:
        assert np.isnan(found)


def test_units_that_lack_a_value_are_left_out():
    with_missing = cross_tables([0, -1, 2, 1], [0, 2, -1, 2], [0, 0, 1, 1], topics=2, values=3)
    assert with_missing.sum(axis=(1, 2)).tolist() == [1, 1]


def test_what_cannot_be_said_is_an_error_with_the_cure():
    with pytest.raises(TooFewUnitsError):
        of_tables(cross_tables([0], [1], [0], topics=1, values=3), tau_b)
    with pytest.raises(ConstantError):
        of_tables(cross_tables([0, 1, 2], [1, 1, 1], [0, 0, 0], topics=1, values=3), rho)


def test_bad_lists_are_refused():
    for lists in (([0, 1], [0], [0, 0]), ([3], [0], [0]), ([0], [3], [0]), ([0], [0], [1]), ([[0]], [[0]], [[0]])):
        with pytest.raises(ValueError, match=r"\S"):
            cross_tables(*lists, topics=1, values=3)
