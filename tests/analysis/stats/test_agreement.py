"""Alpha: the published worked example, the krippendorff package, and resampling by copying units."""

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from analysis.stats import agreement
from analysis.stats.bootstrap import resample_weights
from analysis.stats.judgments import RepeatedJudgmentError

# Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section C: 4 observers, 12 units, missing values.
A = [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0]
B = [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3]
C = [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0]
D = [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0]
EXAMPLE = np.array([A, B, C, D]) - 1  # 0 was missing, and is now -1
LEVELS = ["nominal", "ordinal", "interval"]

counts_of_units = st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=2, max_size=12).map(np.array)


def example_counts():
    coder, unit = np.indices(EXAMPLE.shape)
    return agreement.count_values(unit.ravel(), coder.ravel(), EXAMPLE.ravel(), units=12, values=5)


@pytest.mark.parametrize(("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_published_example(level, published):
    assert round(agreement.alpha(example_counts(), level=level), 3) == published


def test_alpha_published_example_exactly():
    # 1 - 39 * 4 / 608 in the paper's nominal computation
    assert agreement.alpha(example_counts(), level="nominal") == pytest.approx(113 / 152, abs=1e-15)


@given(counts_of_units, st.sampled_from(LEVELS))
def test_alpha_equals_the_krippendorff_package(counts, level):
    pairable = counts[counts.sum(axis=1) > 1]
    assume((pairable.sum(axis=0) > 0).sum() > 1)
    expected = krippendorff.alpha(value_counts=counts, level_of_measurement=level)
    assert agreement.alpha(counts, level=level) == pytest.approx(expected, abs=1e-12)


def test_alpha_with_values_of_the_interval_level():
    counts = [[2, 1, 0], [0, 1, 2], [1, 0, 2], [0, 3, 0]]
    expected = krippendorff.alpha(value_counts=counts, value_domain=[-3, 0, 10], level_of_measurement="interval")
    assert agreement.alpha(counts, level="interval", values=[-3, 0, 10]) == pytest.approx(expected, abs=1e-12)


@given(counts_of_units, st.sampled_from(LEVELS), st.integers(0, 2**32 - 1))
def test_resampled_alpha_equals_alpha_of_copied_units(counts, level, seed):
    rng = np.random.default_rng(seed)
    topic = rng.integers(0, 4, len(counts))
    weights = resample_weights(4, 5, rng)
    per_topic = agreement.topic_coincidences(counts, topic, topics=4)
    found = agreement.resampled_alpha(per_topic, weights, level=level)
    for row, value in zip(weights, found, strict=True):
        copied = np.repeat(counts, row[topic].astype(int), axis=0)
        try:
            assert value == pytest.approx(agreement.alpha(copied, level=level), abs=1e-10)
        except agreement.AlphaUndefinedError:
            assert np.isnan(value)


def test_alpha_interval_holds_the_estimate_and_is_reproducible():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 200)
    counts = np.stack([rng.multinomial(5, np.where(np.arange(3) == t, 0.6, 0.2)) for t in truth])
    topic = np.repeat(np.arange(20), 10)
    weights = resample_weights(20, 500, np.random.default_rng(1))
    interval = agreement.alpha_interval(counts, topic, weights)
    assert interval.low < interval.estimate < interval.high
    assert interval.estimate == agreement.alpha(counts)
    assert (interval.resamples, interval.undefined, interval.clusters) == (500, 0, 20)
    again = agreement.alpha_interval(counts, topic, resample_weights(20, 500, np.random.default_rng(1)))
    assert again == interval


def test_alpha_interval_counts_undefined_resamples():
    weights = np.array([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    interval = agreement.alpha_interval([[2, 0], [1, 1]], [0, 1], weights, level="nominal")
    assert interval.undefined == 1  # only the first unit, whose values are all equal


def test_alpha_undefined():
    with pytest.raises(agreement.NoPairableValuesError, match="two judgments"):
        agreement.alpha([[1, 0], [0, 1]])
    with pytest.raises(agreement.NoVariationError, match="equal"):
        agreement.alpha([[3, 0], [2, 0]])
    with pytest.raises(agreement.NoPairableValuesError):
        agreement.alpha(np.zeros((0, 3)))


def test_alpha_refuses_a_domain_of_another_size():
    with pytest.raises(ValueError, match="2 values"):
        agreement.alpha([[1, 1]], level="interval", values=[1, 2, 3])
    with pytest.raises(ValueError, match="one topic"):
        agreement.topic_coincidences([[1, 1]], [3], topics=2)


def test_count_values():
    counts = agreement.count_values([0, 0, 1, 1], [0, 1, 0, 1], [2, 0, 1, -1])
    assert counts.tolist() == [[1, 0, 1], [0, 1, 0]]
    with pytest.raises(RepeatedJudgmentError, match="coder 4 judged unit 1"):
        agreement.count_values([0, 1, 1], [4, 4, 4], [0, 0, 1])


def test_alpha_of_coders_heard_once_is_alpha_of_the_counts():
    rng = np.random.default_rng(0)
    unit, coder = np.divmod(np.arange(60), 5)
    value = rng.integers(0, 3, 60)
    counts = agreement.count_values(unit, coder, value)
    weights = rng.multinomial(12, np.full(12, 1 / 12), size=7).astype(float)
    found = agreement.alpha_of(agreement.heard_coincidences(unit, value, np.ones((60, 7)), weights, values=3))
    per_unit = agreement.coincidences(counts)
    assert found == pytest.approx(agreement.resampled_alpha(per_unit, weights), abs=1e-12)


def test_coders_drawn_twice_do_not_agree_with_themselves():
    """By hand: pairs of different people on each unit, weighted by how often both were drawn."""
    rng = np.random.default_rng(1)
    unit, coder = np.divmod(np.arange(40), 5)
    value = rng.integers(0, 3, 40)
    drawn = rng.integers(0, 3, 5).astype(float)
    drawn[0] = 1.0
    matrix = np.zeros((3, 3))
    for u in range(8):
        mine = np.flatnonzero(unit == u)
        total = drawn[coder[mine]].sum()
        pairs = [(i, j, drawn[coder[i]] * drawn[coder[j]]) for i in mine for j in mine if i != j]
        norm = sum(weight for *_, weight in pairs)
        for i, j, weight in pairs:
            matrix[value[i], value[j]] += weight * total / norm
    found = agreement.heard_coincidences(unit, value, drawn[coder][:, None], np.ones((1, 8)), values=3)
    assert found[0] == pytest.approx(matrix)
    # Leaving somebody out is not hearing them.
    drawn = np.array([1.0, 1.0, 0.0, 1.0, 1.0])
    kept = drawn[coder] > 0
    left_out = agreement.count_values(unit[kept], coder[kept], value[kept], units=8, values=3)
    found = agreement.heard_coincidences(unit, value, drawn[coder][:, None], np.ones((1, 8)), values=3)
    assert agreement.alpha_of(found)[0] == pytest.approx(agreement.alpha(left_out))
