"""The bootstrap: closed forms of tiny cases, and coverage of a known mean."""

import numpy as np
import pytest

from analysis.stats.bootstrap import bootstrap, percentile_interval, resample_weights, weighted_mean


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
