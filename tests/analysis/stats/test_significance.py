"""Tests of differences: against enumeration of all signs, textbook definitions, and copied topics."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, rankdata, wilcoxon

from analysis.stats.bootstrap import resample_weights
from analysis.stats.significance import FEWEST, TooFewDifferencesError, adjusted, rank_biserial, signed_rank

differences = st.lists(st.integers(-5, 5), min_size=1, max_size=12)


def enumerated(d):
    """Two-sided p of the signed-rank test by going through every choice of signs."""
    d = np.array([value for value in d if value])
    ranks = rankdata(np.abs(d))
    observed = abs((np.sign(d) * ranks).sum())
    sums = [abs(np.dot(signs, ranks)) for signs in product((-1, 1), repeat=len(d))]
    return np.mean([total >= observed - 1e-9 for total in sums])


@pytest.mark.parametrize("d", [[1, 2, 3, 4, 5, 6], [1, 1, 2, -2, 3, 3, 0], [5, -1, -1, 2, 4, 4, 4, 0, 0, -3]])
def test_p_counts_all_choices_of_signs(d):
    found = signed_rank(d)
    assert found.p == pytest.approx(enumerated(d))
    assert found.exact
    assert (found.n, found.zeros) == (sum(value != 0 for value in d), d.count(0))


@given(st.lists(st.integers(-4, 4), min_size=6, max_size=11))
def test_p_counts_all_choices_of_signs_whatever_the_differences(d):
    if sum(value != 0 for value in d) >= FEWEST:
        assert signed_rank(d).p == pytest.approx(enumerated(d))


@pytest.mark.parametrize("n", [8, pytest.param(13, marks=pytest.mark.extended), 14, 40, 60])
@pytest.mark.parametrize("tied", [True, False])
def test_p_is_that_of_scipy(n, tied):
    rng = np.random.default_rng(n)
    d = rng.integers(1, 5, n) * rng.choice([-1, 1], n) if tied else rng.normal(0.3, 1, n)
    package = wilcoxon(d)
    found = signed_rank(d)
    assert (found.statistic, found.p) == (package.statistic, pytest.approx(package.pvalue))


def test_many_tied_differences_are_tested_by_the_normal_approximation():
    d = np.random.default_rng(0).integers(-4, 6, 40)
    found = signed_rank(d)
    kept = d[d != 0]
    ranks = rankdata(np.abs(kept))
    # By the definition: W+ has mean sum(r) / 2 and variance sum(r^2) / 4, ties or none.
    z = (ranks[kept > 0].sum() - ranks.sum() / 2) / np.sqrt((ranks**2).sum() / 4)
    assert not found.exact
    assert found.p == pytest.approx(2 * norm.sf(abs(z)))
    assert found.statistic == min(ranks[kept > 0].sum(), ranks[kept < 0].sum())


def test_the_example_of_a_textbook():
    """Darwin's pairs of crossed and self-fertilised plants (Fisher 1935): W = 24, exact p = 0.041."""
    d = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    found = signed_rank(d)
    assert found.statistic == 24
    assert found.p == pytest.approx(0.0413, abs=5e-5)
    assert rank_biserial(d)[0] == pytest.approx((96 - 24) / 120)


def test_grades_that_rounding_tells_apart_are_equal():
    d = np.array([0.1 + 0.2, 0.3, 1.0, 2.0, -0.3, 0.3, 1e-17])
    assert signed_rank(d).p == signed_rank([0.3, 0.3, 1, 2, -0.3, 0.3, 0]).p
    assert signed_rank(d).zeros == 1


def test_too_few_differences_are_refused_with_a_reason_that_names_what_was_compared():
    reasons = set()
    for d, numbers in (([0, 0], r"\S"), ([], r"\S"), ([0, 2], r"\b1 question .*\b6\b.*0\.05"),
                       ([1, 2], r"\b2 questions .*\b6\b.*0\.05")):  # fmt: skip
        with pytest.raises(TooFewDifferencesError, match=numbers) as refused:
            signed_rank(d, of="question")
        reasons.add(str(refused.value))
    assert len(reasons) == 4
    assert all("question" in each and "; " not in each for each in reasons)  # that joins the reasons of a row
    with pytest.raises(TooFewDifferencesError, match="5 topics"):
        signed_rank([1, 2, 3, 4, 5])
    for d in ([0, 0, 0], [np.nan]):
        with pytest.raises(TooFewDifferencesError, match="topic"):
            signed_rank(d)


def test_six_is_the_fewest_that_can_be_significant():
    assert signed_rank([1] * FEWEST).p < 0.05
    assert enumerated([1] * (FEWEST - 1)) > 0.05


@given(differences, st.integers(0, 2**32 - 1))
def test_effect_in_a_resample_is_that_of_copied_topics(d, seed):
    weights = resample_weights(len(d), 5, np.random.default_rng(seed))
    found = rank_biserial(d, weights)
    for value, row in zip(found, weights.astype(int), strict=True):
        copied = np.repeat(d, row)
        copied = copied[copied != 0]
        if not copied.size:
            assert np.isnan(value)
            continue
        ranks = rankdata(np.abs(copied))
        assert value == pytest.approx((ranks[copied > 0].sum() - ranks[copied < 0].sum()) / ranks.sum())


def test_effect_of_differences_that_change_from_resample_to_resample():
    rng = np.random.default_rng(1)
    d, weights = rng.integers(-3, 4, (20, 9)).astype(float), resample_weights(9, 20, rng)
    d[3, 2] = np.nan
    one_by_one = [rank_biserial(row, weights[i : i + 1])[0] for i, row in enumerate(d)]
    assert rank_biserial(d, weights) == pytest.approx(one_by_one)


def test_missing_differences_and_zeros_take_no_part():
    assert rank_biserial([1.0, np.nan, 0.0, -2.0])[0] == pytest.approx(-1 / 3)
    assert np.isnan(rank_biserial([0.0, np.nan])).all()


def test_adjusted_p_by_the_definition():
    """Benjamini and Hochberg's own example: 15 p-values, of which they reject four at 0.05."""
    p = [.0001, .0004, .0019, .0095, .0201, .0278, .0298, .0344, .0459,
         .3240, .4262, .5719, .6528, .7590, 1.0]  # fmt: skip
    found = adjusted(p)
    assert (found <= 0.05).sum() == 4
    by_hand = [min(p[j] * 15 / (j + 1) for j in range(i, 15)) for i in range(15)]
    assert found == pytest.approx(by_hand)


def test_what_was_not_tested_does_not_count():
    assert adjusted([0.01, np.nan, 0.04]) == pytest.approx([0.02, np.nan, 0.04], nan_ok=True)
    assert np.isnan(adjusted([np.nan])).all()
    assert adjusted([]).size == 0


def test_what_is_no_p_value_is_refused():
    with pytest.raises(ValueError, match="p"):
        adjusted([1.5])
    with pytest.raises(ValueError, match=r"\S"):
        signed_rank([[1.0]])
