"""Weighted statistics: equal to the plain ones of data written out as often as the weights say (scipy, numpy)."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.stats import spearmanr

from analysis.stats import weighted
from analysis.stats.bootstrap import resample_weights

CLUSTERS = 4
VALUES = st.lists(
    st.tuples(st.integers(0, CLUSTERS - 1), st.integers(-3, 3), st.integers(-3, 3)), min_size=0, max_size=12
)
WEIGHTS = arrays.arrays(np.float64, (3, CLUSTERS), elements=st.integers(0, 3).map(float))


def written_out(rows, weights):
    """The data of one resample: each row as often as its cluster was drawn."""
    return [row for row in rows for _ in range(int(weights[row[0]]))]


def columns(rows):
    return [np.array([row[i] for row in rows], dtype=float) for i in range(3)]


@given(VALUES, WEIGHTS, st.sampled_from([0, 0.05, 0.25, 0.5, 0.75, 0.95, 1]), st.sampled_from([1, 9]))
def test_quantiles_are_those_of_numpy(rows, weights, quantile, times):
    """Where many values are equal they are counted together."""
    rows = rows * times
    cluster, value, _ = columns(rows)
    found = weighted.weighted_quantile(value, cluster, CLUSTERS, quantile)(weights)
    for drawn, of_one in zip(weights, found, strict=True):
        data = [row[1] for row in written_out(rows, drawn)]
        assert of_one == pytest.approx(np.quantile(data, quantile)) if data else math.isnan(of_one)


@given(VALUES, WEIGHTS)
def test_spread_is_that_of_numpy(rows, weights):
    cluster, value, _ = columns(rows)
    found = weighted.weighted_sd(value, cluster, CLUSTERS)(weights)
    for drawn, of_one in zip(weights, found, strict=True):
        data = [row[1] for row in written_out(rows, drawn)]
        assert of_one == pytest.approx(np.std(data, ddof=1), abs=1e-7) if len(data) > 1 else math.isnan(of_one)


@given(VALUES, WEIGHTS)
def test_ratio_is_that_of_the_sums(rows, weights):
    cluster, above, below = columns(rows)
    found = weighted.weighted_ratio(above, below, cluster, CLUSTERS)(weights)
    for drawn, of_one in zip(weights, found, strict=True):
        data = written_out(rows, drawn)
        total = sum(row[2] for row in data)
        assert of_one == pytest.approx(sum(row[1] for row in data) / total) if total else math.isnan(of_one)


@given(VALUES, WEIGHTS)
def test_rho_is_that_of_scipy_with_ties(rows, weights):
    cluster, first, second = columns(rows)
    found = weighted.weighted_spearman(first, second, cluster, CLUSTERS)(weights)
    for drawn, of_one in zip(weights, found, strict=True):
        data = written_out(rows, drawn)
        one, other = [row[1] for row in data], [row[2] for row in data]
        if len(set(one)) < 2 or len(set(other)) < 2:
            assert math.isnan(of_one)
        else:
            assert of_one == pytest.approx(spearmanr(one, other)[0], abs=1e-9)


def test_missing_values_are_left_out_and_nothing_is_undefined():
    nan = float("nan")
    ones = np.ones((1, 2))
    assert weighted.weighted_quantile([nan, 1, 3], [0, 0, 1], 2, 0.5)(ones) == [2.0]
    assert weighted.weighted_ratio([1, nan, 3], [2, 2, nan], [0, 0, 1], 2)(ones) == [0.5]
    assert weighted.weighted_spearman([1, 2, 3, nan], [2, 4, 9, 1], [0, 0, 1, 1], 2)(ones) == [1.0]
    for undefined in (
        weighted.weighted_quantile([], [], 2, 0.5),
        weighted.weighted_sd([5], [0], 2),
        weighted.weighted_ratio([1], [0], [0], 2),
        weighted.weighted_spearman([1, 1], [1, 2], [0, 1], 2),
        weighted.weighted_spearman([], [], [], 2),
    ):
        assert np.isnan(undefined(ones)).all()
    with pytest.raises(ValueError, match=r"\S"):
        weighted.weighted_quantile([1], [0], 1, 1.5)


def test_parts_give_what_the_whole_gives(monkeypatch):
    rng = np.random.default_rng(0)
    cluster = rng.integers(0, 9, 200)
    first, second = rng.integers(0, 5, 200), rng.integers(0, 5, 200)
    weights = resample_weights(9, 50, rng)
    make = [
        lambda: weighted.weighted_quantile(first, cluster, 9, 0.3)(weights),
        lambda: weighted.weighted_spearman(first, second, cluster, 9)(weights),
    ]
    whole = [each() for each in make]
    monkeypatch.setattr(weighted, "_AT_ONCE", 700)
    for each, before in zip(make, whole, strict=True):
        np.testing.assert_array_equal(each(), before)
