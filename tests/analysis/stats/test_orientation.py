"""Orientation: the same pair in both orders, by people and by a model, against statistics computed by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.stats import agreement, bradley_terry, judgments


def test_pair_judged_in_both_orders():
    # Response 3 against 8. Shown as (3, 8): people say A, A, N; shown as (8, 3): B, B, A. A model: A, then B.
    left, right = np.array([3, 3, 3, 8, 8, 8, 3, 8]), np.array([8, 8, 8, 3, 3, 3, 8, 3])
    label = np.array([0, 0, 1, 2, 2, 0, 0, 2])
    oriented = judgments.canonical(left, right)
    assert oriented.low.tolist() == [3] * 8
    assert oriented.high.tolist() == [8] * 8
    # In canonical orientation 3 is preferred four times, 8 once, one neutral; the model prefers 3 both times.
    assert oriented.labels(label).tolist() == [0, 0, 1, 0, 0, 2, 0, 0]
    assert oriented.signed(label - 1).tolist() == [-1, -1, 0, -1, -1, 1, -1, -1]


def test_statistics_over_both_orders_need_the_canonical_orientation():
    # Five people judge pair (1, 2), five others (2, 1); all but one of each prefer response 1.
    left = np.repeat([1, 2], 5)
    right = np.repeat([2, 1], 5)
    label = np.array([0, 0, 0, 0, 2, 2, 2, 2, 2, 0])
    oriented = judgments.canonical(left, right)
    pooled = agreement.count_values(np.zeros(10, int), np.arange(10), oriented.labels(label), values=3)
    assert pooled.tolist() == [[8, 0, 2]]
    assert agreement.alpha(np.r_[pooled, [[0, 0, 10]]], level="nominal") == pytest.approx(
        1 - 19 * 32 / 9 / (2 * 8 * 12)
    )
    # Grades do not care which way a pair was shown, if its label is turned with it.
    shown = bradley_terry.fit(bradley_terry.tally(np.zeros(10, int), left - 1, right - 1, label - 1.0))
    turned = bradley_terry.fit(
        bradley_terry.tally(np.zeros(10, int), oriented.low - 1, oriented.high - 1, oriented.signed(label - 1))
    )
    assert shown.merit == pytest.approx(turned.merit)
    assert shown.grade.tolist() == [[2, 1]]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(-1, 2)).filter(lambda t: t[0] != t[1])))
def test_mirrored_judgments_become_equal(rows):
    a, b, label = (np.array([row[i] for row in rows], dtype=int) for i in range(3))
    mirrored = np.where(label >= 0, 2 - label, label)
    one, other = judgments.canonical(a, b), judgments.canonical(b, a)
    assert np.array_equal(one.low, other.low)
    assert np.array_equal(one.labels(label), other.labels(mirrored))
    assert np.array_equal(one.signed(label - 1.0), other.signed(mirrored - 1.0)) or np.any(label < 0)


def test_values_beside_each_other_missing_values_and_posteriors():
    oriented = judgments.canonical(["b", "a"], ["a", "b"])
    assert oriented.flipped.tolist() == [True, False]
    assert oriented.labels([[0, 1, -1], [0, 1, -1]]).tolist() == [[2, 1, -1], [0, 1, -1]]
    assert oriented.posteriors([[0.7, 0.2, 0.1], [0.7, 0.2, 0.1]]).tolist() == [[0.1, 0.2, 0.7], [0.7, 0.2, 0.1]]
    assert np.array_equal(oriented.signed([np.nan, 0.0]), [np.nan, 0.0], equal_nan=True)
    assert not np.signbit(oriented.signed([0.0, 0.0])).any()


def test_bad_pairs_are_refused():
    with pytest.raises(judgments.SelfComparisonError, match=r"\[1\]"):
        judgments.canonical([1, 2], [2, 2])
    with pytest.raises(ValueError, match=r"\S"):
        judgments.canonical([1, 2], [2])
    with pytest.raises(ValueError, match=r"\S"):
        judgments.canonical([1], [2]).signed([1, 1])
