"""Alpha: the published worked example, the krippendorff package, and resampling by copying units."""

from itertools import combinations
from statistics import fmean

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from analysis.stats import agreement
from analysis.stats.cluster_variance import Terms, combined, interval_of, variance
from analysis.stats.judgments import RepeatedJudgmentError
from tests.examples import examples

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
    found = agreement.alpha(example_counts(), level=level)
    assert round(found, 3) == published
    assert level != "nominal" or found == pytest.approx(1 - 39 * 4 / 608, abs=1e-15)


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


def votes(seed, topics=20, items=10, judges=12, hard=False):
    """Five of twelve judges on each item; `hard`: topics differ in how often a vote is a guess."""
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(topics * items), 5)
    coder = rng.permuted(np.tile(np.arange(judges), (topics * items, 1)), axis=1)[:, :5].ravel()
    guess = rng.uniform(0.1, 0.9, topics) if hard else np.full(topics, 0.5)
    truth = rng.integers(0, 3, topics * items)
    value = np.where(rng.random(len(unit)) < guess[unit // items], rng.integers(0, 3, len(unit)), truth[unit])
    return unit, coder, value, np.arange(topics * items) // items


@pytest.mark.parametrize("level", LEVELS)
def test_terms_of_alpha_are_what_leaving_out_changes(level):
    """To first order: alpha without a topic, and alpha without one pair of judgments, by the definition."""
    unit, coder, value, topic = votes(0, topics=60)
    terms = agreement.alpha_terms(unit, coder, value, topic, values=3, level=level)
    assert terms.value.sum() == pytest.approx(0, abs=0.01)
    counts = agreement.count_values(unit, coder, value)
    point = agreement.alpha(counts, level=level)
    without = [point - agreement.alpha(counts[topic != t], level=level) for t in range(60)]
    linear = np.bincount(terms.topic, weights=terms.value)
    assert np.corrcoef(without, linear)[0, 1] > 0.998
    assert np.std(linear) == pytest.approx(np.std(without), rel=0.05)


def test_the_gradient_is_that_of_nominal_alpha_in_closed_form():
    """1 - (1 - agreement) (n - 1) n / (n^2 - sum n_c^2): differentiated by hand along one cell of the diagonal."""
    counts = np.array([[3, 1], [1, 3], [4, 0], [2, 2]])
    unit = np.repeat(np.arange(4), 4)
    value = np.array([0, 0, 0, 1, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1])
    matrix = agreement.coincidences(counts).sum(axis=0)
    n, marginals, off = matrix.sum(), matrix.sum(axis=1), matrix[0, 1] + matrix[1, 0]
    chance = n**2 - (marginals**2).sum()
    slope = -off * (1 / chance - (n - 1) * (2 * n - 2 * marginals[0]) / chance**2)
    terms = agreement.alpha_terms(unit, np.tile(np.arange(4), 4), value, np.arange(4), values=2, level="nominal")
    # The third item has six pairs of equal values, each of which adds two coincidences a third in size.
    assert terms.value[terms.topic == 2] == pytest.approx(np.full(6, 2 * slope / 3), rel=1e-6)


def test_alpha_interval_holds_the_estimate_and_is_bounded():
    unit, coder, value, topic = votes(1, judges=24)
    interval = agreement.alpha_interval(unit, coder, value, topic, values=3)
    assert interval.low < interval.estimate < interval.high < 1
    assert interval.estimate == agreement.alpha(agreement.count_values(unit, coder, value))
    assert interval.clusters == 20


def test_alpha_of_few_judges_has_no_interval_unless_they_were_chosen():
    unit, coder, value, topic = votes(1, judges=23)
    drawn, chosen = (
        agreement.alpha_interval(unit, coder, value, topic, values=3, drawn_coders=drawn) for drawn in (True, False)
    )
    assert np.isnan([drawn.low, drawn.high]).all()
    assert chosen.low < chosen.estimate == drawn.estimate < chosen.high


@pytest.mark.extended
def test_intervals_cover_alpha_and_ac1_of_all_topics_and_judges():
    """Judges who differ much and topics that differ in difficulty: 300 studies, three binomial errors wide."""
    found, ends, of_ac1 = [], [], []
    for seed in range(300):
        rng = np.random.default_rng([7, seed])
        unit, _coder, _value, topic = votes([8, seed], topics=15, items=6)
        coder = rng.permuted(np.tile(np.arange(30), (len(topic), 1)), axis=1)[:, :5].ravel()
        guess, truth = rng.beta(1.2, 1.2, 30), rng.integers(0, 3, len(topic))
        harder = rng.uniform(0, 0.4, 15)[topic[unit]]
        looks = rng.random(len(unit)) < (1 - guess[coder]) * (1 - harder)
        value = np.where(looks, truth[unit], rng.integers(0, 3, len(unit)))
        for drawn in (True, False):
            interval = agreement.alpha_interval(unit, coder, value, topic, values=3, drawn_coders=drawn)
            found.append(interval.estimate)
            ends.append((interval.low, interval.high))
        point = agreement.ac1(agreement.count_values(unit, coder, value))
        of_ac1.append(
            (point, *interval_of(point, agreement.ac1_terms(unit, coder, value, topic, values=3), upper_bound=1.0))
        )
    points, lows, highs = np.array(of_ac1).T
    assert 0.91 <= np.mean((lows <= points.mean()) & (points.mean() <= highs)) <= 0.985
    truth = np.mean(found)
    held = np.array([low <= truth <= high for low, high in ends]).reshape(300, 2).mean(axis=0)
    assert 0.91 <= held[0] <= 0.985
    assert held[1] < 0.9  # over topics alone


def test_ac1_published_example():
    """Gwet, Handbook of Inter-Rater Reliability (4th edition), the same 12 units: 0.77544."""
    assert round(agreement.ac1(example_counts()), 5) == 0.77544


@given(counts_of_units)
def test_ac1_is_its_definition_pair_by_pair(counts):
    units = [[value for value, n in enumerate(row) for _ in range(n)] for row in counts.tolist()]
    pairs = [list(combinations(unit, 2)) for unit in units if len(unit) > 1]
    assume(pairs)
    agreed = fmean(fmean(one == other for one, other in unit) for unit in pairs)
    judged = [unit for unit in units if unit]
    frequency = [fmean(unit.count(value) / len(unit) for unit in judged) for value in range(3)]
    chance = sum(each * (1 - each) for each in frequency) / 2
    assert agreement.ac1(counts) == pytest.approx((agreed - chance) / (1 - chance), abs=1e-12)


def test_the_variance_of_ac1_over_units_is_gwets():
    """Handbook, equation 5.3.5 for an endless population, where every unit has two judgments or more."""
    rng = np.random.default_rng(3)
    value = rng.choice(3, size=200, p=[0.8, 0.1, 0.1])
    unit, coder = np.repeat(np.arange(50), 4), np.tile(np.arange(4), 50)
    counts = agreement.count_values(unit, coder, value, units=50, values=3)
    frequency = (counts / 4).mean(axis=0)
    chance = np.sum(frequency * (1 - frequency)) / 2
    agreed = np.sum(counts * (counts - 1), axis=1) / 12
    point = agreement.ac1(counts)
    of_units = (agreed - chance) / (1 - chance)
    of_chance = (counts / 4) @ (1 - frequency) / 2
    starred = of_units - 2 * (1 - point) * (of_chance - chance) / (1 - chance)
    terms = agreement.ac1_terms(unit, coder, value, np.arange(50), values=3, drawn_coders=False)
    assert terms.value.sum() == pytest.approx(0, abs=1e-12)
    assert terms.over_topics() == pytest.approx(np.sum((starred - point) ** 2) / (50 * 49), rel=1e-9)


def test_ac1_does_not_fall_where_nearly_all_judgments_are_the_same():
    counts = np.array([[5, 0, 0]] * 95 + [[4, 1, 0]] * 5)
    assert agreement.alpha(counts) < 0.05
    assert agreement.ac1(counts) > 0.9


def test_alpha_undefined():
    with pytest.raises(agreement.NoPairableValuesError):
        agreement.alpha([[1, 0], [0, 1]])
    with pytest.raises(agreement.NoVariationError):
        agreement.alpha([[3, 0], [2, 0]])
    with pytest.raises(agreement.NoPairableValuesError):
        agreement.alpha(np.zeros((0, 3)))
    with pytest.raises(agreement.NoPairableValuesError):
        agreement.ac1([[1, 0], [0, 1]])


def test_alpha_refuses_a_domain_of_another_size():
    with pytest.raises(ValueError, match="2"):
        agreement.alpha([[1, 1]], level="interval", values=[1, 2, 3])


def test_count_values():
    counts = agreement.count_values([0, 0, 1, 1], [0, 1, 0, 1], [2, 0, 1, -1])
    assert counts.tolist() == [[1, 0, 1], [0, 1, 0]]
    with pytest.raises(RepeatedJudgmentError, match=r"4 .*1"):
        agreement.count_values([0, 1, 1], [4, 4, 4], [0, 0, 1])


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=examples(25), deadline=None)
def test_terms_of_shared_pairs_have_the_same_variance_to_the_last_bit(seed):
    """Of some of the judgments, and combined over two questions."""
    rng = np.random.default_rng(seed)
    unit, coder = np.nonzero(rng.random((12, 9)) < 0.5)
    topic, keep = np.sort(rng.integers(0, 4, 12)), rng.random(len(unit)) < 0.8
    shared = agreement.SharedPairs(unit, coder, topic)
    kept = (unit[keep], coder[keep])
    for make in (agreement.alpha_terms, agreement.ac1_terms):
        parts: dict[bool, list[Terms]] = {True: [], False: []}
        for _question in range(2):
            votes = (*kept, rng.integers(0, 3, keep.sum()))
            for is_shared, terms in parts.items():
                terms.append(make(*votes, topic, values=3, pairs=shared.select(*kept) if is_shared else None))
        for with_pairs, alone in zip(parts[True], parts[False], strict=True):
            assert np.array_equal(variance(with_pairs), variance(alone), equal_nan=True)
            assert (with_pairs.topics, with_pairs.judges) == (alone.topics, alone.judges)
        mean, own = (combined(parts[is_shared], [0.5, 0.5]) for is_shared in (True, False))
        assert np.array_equal(variance(mean), variance(own), equal_nan=True)


def test_shared_pairs_refuse_judgments_that_they_do_not_have():
    shared = agreement.SharedPairs(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([0, 1]))
    with pytest.raises(ValueError, match="shared"):
        shared.select(np.array([0, 0]), np.array([0, 2]))
