"""Variances over topics and judges: against sums over all pairs of terms, closed forms, and by coverage."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.stats.cluster_variance import Terms, combined, interval_of, variance
from tests.examples import examples


def summed(terms: Terms) -> float:
    """The sum of the products of all two terms that share their topic or a judge, one after another, uncorrected."""
    total = 0.0
    for i in range(len(terms.value)):
        for j in range(len(terms.value)):
            alike = terms.topic[i] == terms.topic[j]
            if terms.first is not None:
                mine = {terms.first[i], (terms.second if terms.second is not None else terms.first)[i]}
                theirs = {terms.first[j], (terms.second if terms.second is not None else terms.first)[j]}
                alike |= bool(mine & theirs)
            total += terms.value[i] * terms.value[j] * alike
    return total


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["chosen", "single", "pairs"]))
def test_parts_add_up_to_the_sum_over_all_terms_that_share_a_topic_or_a_judge(seed, kind) -> None:
    rng = np.random.default_rng(seed)
    n = 25
    topic, first = rng.integers(0, 6, n), rng.integers(0, 5, n)
    second = (first + rng.integers(1, 5, n)) % 5
    value = rng.normal(size=n)
    terms = Terms.of(topic, None if kind == "chosen" else first, second if kind == "pairs" else None, value)
    topics, judges = terms.topics, terms.judges
    parts = terms.over_topics() * (topics - 1) / topics
    if kind != "chosen":
        over = terms.over_judges()
        if over == 0:  # cut off at 0
            return
        parts += over * (judges - 1) / judges - terms.of_both()
    assert parts == pytest.approx(summed(terms), abs=1e-9)


def test_of_a_mean_of_independent_topics_the_interval_is_students() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(3, 2, 12)
    low, high = interval_of(x.mean(), Terms.of(np.arange(12), None, None, (x - x.mean()) / 12))
    reach = 2.200985 * x.std(ddof=1) / np.sqrt(12)
    assert (low, high) == pytest.approx((x.mean() - reach, x.mean() + reach), rel=1e-6)


def test_where_topics_and_judges_cross_fully_the_variance_is_that_of_the_two_way_layout() -> None:
    """Each judge once on each topic, no error: the variance of the mean is that of topics plus that of judges."""
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=8), rng.normal(size=5)
    topic, judge = (each.ravel() for each in np.indices((8, 5)))
    y = a[topic] + b[judge]
    found, freedom = variance(Terms.of(topic, judge, None, (y - y.mean()) / 40))
    closed = a.var(ddof=1) / 8 + b.var(ddof=1) / 5
    # The part that both share is taken off once more than it is there, as there is no error: less by sums of squares.
    both = np.square((y - y.mean()) / 40).sum()
    assert found == pytest.approx(closed - both, rel=1e-9)
    assert freedom == 4  # of the fewer of both


def test_a_difference_of_two_equal_statistics_does_not_vary() -> None:
    rng = np.random.default_rng(2)
    terms = Terms.of(np.arange(9) % 3, np.arange(9) % 4, None, rng.normal(size=9))
    apart = combined([terms, terms], [1.0, -1.0])
    assert variance(apart)[0] == pytest.approx(0, abs=1e-15)
    assert np.isnan(interval_of(0.0, apart)).all()


def test_no_interval_can_be_said_of_one_topic_or_without_variation() -> None:
    one = Terms.of(np.zeros(4, dtype=int), None, None, np.array([1.0, -1, 1, -1]))
    same = Terms.of(np.arange(4), None, None, np.zeros(4))
    assert np.isnan(interval_of(0.5, one)).all()
    assert np.isnan(interval_of(0.5, same)).all()
    with pytest.raises(ValueError, match="level"):
        interval_of(0.5, same, level=1.0)
    with pytest.raises(ValueError, match="weight"):
        combined([same], [])


def test_bounded_intervals_stay_below_their_bound() -> None:
    terms = Terms.of(np.arange(4), None, None, np.array([0.04, -0.04, 0.02, -0.02]))
    low, high = interval_of(0.9, terms, upper_bound=1.0)
    assert low < 0.9 < high < 1
    # Of two topics it would reach further than alpha can.
    two = Terms.of(np.array([0, 1]), None, None, np.array([0.2, -0.2]))
    assert np.isnan(interval_of(0.5, two, upper_bound=1.0)).all()
    assert np.isfinite(interval_of(0.5, two)).all()


@pytest.mark.parametrize("topics", [5, 20])
def test_intervals_of_crossed_means_cover_the_truth_and_those_over_topics_alone_do_not(topics) -> None:
    """Judges matter as much as topics: 400 studies, three binomial errors wide."""
    rng, hits = np.random.default_rng(3), np.zeros(2)
    judges = 2 * topics
    for _ in range(400):
        a, b = rng.normal(size=topics), rng.normal(scale=1.4, size=judges)
        topic = np.repeat(np.arange(topics), 6)
        judge = rng.permuted(np.tile(np.arange(judges), (topics, 1)), axis=1)[:, :6].ravel()
        y = a[topic] + b[judge] + rng.normal(size=len(topic))
        value = (y - y.mean()) / len(y)
        for place, who in enumerate((judge, None)):
            low, high = interval_of(y.mean(), Terms.of(topic, who, None, value))
            hits[place] += low <= 0 <= high
    both, alone = hits / 400
    assert 0.91 <= both <= 0.985
    assert alone < both - 0.02
