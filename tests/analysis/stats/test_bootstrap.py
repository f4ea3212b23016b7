"""The bootstrap: closed forms of tiny cases, and coverage of a known mean."""

import numpy as np
import pytest

from analysis.stats.bootstrap import (
    bootstrap,
    percentile_interval,
    resample_weights,
    resampled_mean,
    stretch,
    weighted_mean,
)


def test_resample_weights_are_counts_of_draws():
    weights = resample_weights(7, 2000, np.random.default_rng(0))
    assert weights.shape == (2000, 7)
    assert np.all(weights.sum(axis=1) == 7)
    # A multinomial count has mean 1 and variance 1 - 1/n.
    assert np.allclose(weights.mean(axis=0), 1, atol=0.08)
    assert np.allclose(weights.var(axis=0), 6 / 7, atol=0.12)


def test_mean_equals_the_mean_of_copied_clusters():
    values, cluster = np.array([1.0, 2.0, np.nan, 5.0, 7.0]), np.array([0, 0, 1, 2, 2])
    statistic = weighted_mean(values, cluster, 3)
    assert statistic(np.array([[1.0, 1.0, 1.0], [2.0, 1.0, 0.0], [0.0, 3.0, 0.0]])) == pytest.approx(
        [15 / 4, 6 / 4, np.nan], nan_ok=True
    )


def test_bootstrap_standard_error_of_a_mean():
    # The bootstrap distribution of a mean of n clusters has the variance of the values over n.
    rng = np.random.default_rng(1)
    values = rng.normal(size=400)
    weights = resample_weights(400, 4000, rng)
    interval = bootstrap(weighted_mean(values, np.arange(400), 400), weights)
    expected = 2 * 1.96 * values.std() / np.sqrt(400)
    assert interval.high - interval.low == pytest.approx(expected, rel=0.05)
    assert interval.estimate == pytest.approx(values.mean())


def test_intervals_cover_the_truth_as_often_as_they_say():
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(300):
        effect = rng.normal(size=40)  # of a topic, shared by its 5 values
        values = (effect[:, None] + rng.normal(size=(40, 5))).ravel()
        statistic = weighted_mean(values, np.repeat(np.arange(40), 5), 40)
        interval = bootstrap(statistic, resample_weights(40, 300, rng))
        hits += interval.low <= 0 <= interval.high
    assert 0.90 <= hits / 300 <= 0.98


def test_undefined_resamples_are_dropped_and_counted():
    interval = percentile_interval(2.0, [1.0, np.nan, 3.0], clusters=2)
    assert (interval.low, interval.high, interval.undefined) == (1.05, 2.95, 1)


@pytest.mark.parametrize(("samples", "clusters"), [([np.nan, np.nan], 5), ([1.0, 1.0], 1)])
def test_no_interval_can_be_said(samples, clusters):
    interval = percentile_interval(1.0, samples, clusters=clusters)
    assert np.isnan(interval.low)
    assert np.isnan(interval.high)
    assert interval.estimate == 1.0


def test_bad_requests_are_refused():
    with pytest.raises(ValueError, match="level"):
        percentile_interval(1.0, [1.0], clusters=2, level=1.0)
    with pytest.raises(ValueError, match="at least one"):
        resample_weights(0, 10, np.random.default_rng(0))


def test_stretches_follow_from_a_table_of_students_t():
    for clusters, t in ((2, 12.706), (5, 2.776), (10, 2.262), (28, 2.052)):
        assert stretch(clusters) == pytest.approx(t / 1.95996 * (clusters / (clusters - 1)) ** 0.5, rel=1e-3)
    assert stretch(100_000) == pytest.approx(1, abs=1e-4)
    assert np.isnan(stretch(1))


@pytest.mark.parametrize("topics", [2, 4, 8])
def test_stretched_intervals_of_few_topics_cover_the_truth_where_plain_ones_do_not(topics):
    rng = np.random.default_rng(5)
    hits = np.zeros(2)
    for _ in range(400):
        values, weights = rng.normal(size=topics), resample_weights(topics, 400, rng)
        ends = np.quantile(weights @ values / topics, [0.025, 0.975]) - values.mean()
        for place, factor in enumerate((1, stretch(topics))):
            low, high = values.mean() + factor * ends
            hits[place] += low <= 0 <= high
    plain, stretched = hits / 400
    assert plain < 0.91
    assert 0.90 < stretched <= 0.98


def test_means_of_values_that_change_from_resample_to_resample():
    rng = np.random.default_rng(6)
    values, cluster, weights = rng.normal(size=(8, 5)), np.arange(8) % 3, resample_weights(3, 5, rng)
    values[0, 1] = np.nan
    for resample, found in enumerate(resampled_mean(values, cluster, weights)):
        copied = np.repeat(values[:, resample], weights[resample, cluster].astype(int))
        assert found == pytest.approx(np.nanmean(copied))
    fixed = resampled_mean(values[:, 0], cluster, weights)
    assert fixed == pytest.approx(resampled_mean(np.tile(values[:, :1], 5), cluster, weights))
