"""Spearman's rho of many lists at once: scipy, the closed form, and what is undefined."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from analysis.stats.correlation import spearman

VALUES = st.one_of(st.integers(0, 3).map(float), st.just(float("nan")))
LISTS = st.integers(0, 8).flatmap(
    lambda n: st.lists(st.tuples(*[st.lists(VALUES, min_size=n, max_size=n)] * 2), min_size=1, max_size=4)
)


@given(LISTS)
def test_rho_is_that_of_scipy(lists):
    first, second = (np.array([pair[side] for pair in lists]) for side in (0, 1))
    found = spearman(first, second)
    for x, y, rho in zip(first, second, found, strict=True):
        there = ~np.isnan(x) & ~np.isnan(y)
        x, y = x[there], y[there]
        if len(x) < 2 or len(set(x)) < 2 or len(set(y)) < 2:
            assert np.isnan(rho)
        else:
            assert rho == pytest.approx(spearmanr(x, y).statistic, abs=1e-12)


@given(st.permutations(range(9)))
def test_without_ties_rho_is_the_closed_form(order):
    n = len(order)
    difference = sum((i - other) ** 2 for i, other in enumerate(order))
    assert spearman(range(n), order) == pytest.approx(1 - 6 * difference / (n * (n**2 - 1)), abs=1e-12)


def test_monotone_lists_are_1_and_minus_1():
    assert spearman([1, 5, 9], [0.1, 0.2, 900.0]) == 1.0
    assert spearman([[1, 5, 9], [1, 2, 3]], [[3, 2, 1], [np.inf, 0, -np.inf]]).tolist() == [-1.0, -1.0]


def test_lists_of_different_shapes_are_refused():
    with pytest.raises(ValueError, match=r"\S"):
        spearman([1, 2, 3], [1, 2])
    with pytest.raises(ValueError, match=r"\S"):
        spearman(1, 2)


def test_nothing_is_said_of_nothing_and_nobody_is_warned():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(spearman([[]], [[]])).tolist() == [True]
        assert np.isnan(spearman([[np.nan, np.nan], [1, np.nan]], [[1, 2], [1, 2]])).all()
