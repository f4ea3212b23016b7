"""The bootstrap: closed forms of tiny cases, and coverage of a known mean."""

import numpy as np
import pytest
import scipy

from analysis.stats.bootstrap import (
    bootstrap,
    median_resamples,
    percentile_interval,
    resample_weights,
    resampled_mean,
    small_sample_factor,
    weighted_mean,
)
from analysis.stats.weighted import weighted_quantile


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


@pytest.mark.parametrize("n", [1, 2, 5, 8, 21])
def test_medians_by_rank_are_distributed_as_those_of_drawn_resamples(n):
    rng = np.random.default_rng(n)
    values = np.sort(rng.permutation(n) ** 2.0)
    drawn = np.median(rng.choice(values, size=(40_000, n)), axis=1)
    by_rank = median_resamples(rng.permutation(values), 40_000, rng)
    points = np.unique(drawn)
    shares = [(sample[:, None] <= points).mean(axis=0) for sample in (drawn, by_rank)]
    # Each share has a standard error of at most 0.0025, so the differences one of 0.0035.
    assert np.abs(shares[0] - shares[1]).max() < 0.015


@pytest.mark.parametrize("n", [3, 9, 101])
def test_medians_by_rank_have_the_binomial_distribution(n):
    # The median of n draws is at most the j-th smallest value if at least half of the draws are.
    medians = median_resamples(np.arange(1, n + 1), 40_000, np.random.default_rng(3))
    for j in range(1, n + 1):
        expected = scipy.stats.binom.sf((n - 1) // 2, n, j / n)
        assert (medians <= j).mean() == pytest.approx(expected, abs=0.011)


def test_bootstrap_standard_error_of_a_mean():
    # The bootstrap distribution of a mean of n clusters has the variance of the values over n.
    rng = np.random.default_rng(1)
    values = rng.normal(size=400)
    weights = resample_weights(400, 4000, rng)
    interval = bootstrap(weighted_mean(values, np.arange(400), 400), weights)
    expected = 2 * 1.96 * values.std() / np.sqrt(400)
    assert interval.high - interval.low == pytest.approx(expected, rel=0.05)
    assert interval.estimate == pytest.approx(values.mean())


def test_undefined_resamples_are_dropped_and_counted():
    interval = percentile_interval(2.0, [1.0, np.nan, 3.0], clusters=40)
    assert (interval.low, interval.high) == (pytest.approx(1.04, abs=0.01), pytest.approx(2.96, abs=0.01))
    assert interval.undefined == 1


@pytest.mark.parametrize(("samples", "clusters"), [([np.nan, np.nan], 5), ([1.0, 1.0], 1)])
def test_no_interval_can_be_said(samples, clusters):
    interval = percentile_interval(1.0, samples, clusters=clusters)
    assert np.isnan(interval.low)
    assert np.isnan(interval.high)
    assert interval.estimate == 1.0


def test_bad_requests_are_refused():
    with pytest.raises(ValueError, match="level"):
        percentile_interval(1.0, [1.0], clusters=2, level=1.0)
    with pytest.raises(ValueError, match=r"\S"):
        resample_weights(0, 10, np.random.default_rng(0))


def test_stretches_follow_from_a_table_of_students_t():
    for clusters, t in ((2, 12.706), (5, 2.776), (10, 2.262), (28, 2.052)):
        assert small_sample_factor(clusters) == pytest.approx(
            t / 1.95996 * (clusters / (clusters - 1)) ** 0.5, rel=1e-3
        )
    assert small_sample_factor(100_000) == pytest.approx(1, abs=1e-4)
    assert np.isnan(small_sample_factor(1))


@pytest.mark.parametrize("topics", [2, 4, 8])
def test_stretched_intervals_of_few_topics_cover_the_truth_where_plain_ones_do_not(topics):
    rng = np.random.default_rng(5)
    hits = np.zeros(2)
    for _ in range(400):
        values, weights = rng.normal(size=topics), resample_weights(topics, 400, rng)
        ends = np.quantile(weights @ values / topics, [0.025, 0.975]) - values.mean()
        for place, factor in enumerate((1, small_sample_factor(topics))):
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


@pytest.mark.extended
@pytest.mark.parametrize(("clusters", "draw"), [(5, "normal"), (20, "lognormal"), (65, "lognormal")])
def test_intervals_of_means_cover_the_truth_with_few_clusters_and_many(clusters, draw):
    """400 studies, three binomial errors wide; plain percentiles of five clusters cover 84 %."""
    rng, hits = np.random.default_rng(9), 0
    truth = 0.0 if draw == "normal" else float(np.exp(0.5**2 / 2))
    for _ in range(400):
        values = rng.normal(size=clusters) if draw == "normal" else np.exp(rng.normal(scale=0.5, size=clusters))
        mean = weighted_mean(values, np.arange(clusters), clusters)
        interval = bootstrap(mean, resample_weights(clusters, 400, rng))
        hits += interval.low <= truth <= interval.high
    assert 0.905 <= hits / 400 <= 0.985


def test_an_interval_rests_on_the_clusters_that_hold_something():
    """Five of sixty topics hold a value: the interval is Student's with four degrees of freedom."""
    weights = resample_weights(60, 4000, np.random.default_rng(10))
    values, cluster = [0.13, 0.22, 0.22, 0.22, 0.30], [0, 10, 20, 30, 40]
    interval = bootstrap(weighted_mean(values, cluster, 60), weights)
    assert interval.clusters == 5
    reach = 2.776 * np.std(values, ddof=1) / np.sqrt(5)
    # Which of the five a resample holds differs in number too: it varies somewhat more.
    assert reach < interval.high - interval.estimate < 1.35 * reach
    median = bootstrap(weighted_quantile([0.13, 0.22, 0.22, 0.2, 0.22], cluster, 60, 0.5), weights)
    assert median.low < median.estimate < median.high


@pytest.mark.extended
def test_shares_have_intervals_within_bounds_that_cover():
    rng, hits = np.random.default_rng(11), 0
    for _ in range(400):
        each = rng.beta(1, 9, 30)  # topics differ
        values = rng.random((30, 4)) < each[:, None]
        share = weighted_mean(values.ravel(), np.repeat(np.arange(30), 4), 30)
        interval = bootstrap(share, resample_weights(30, 300, rng), share=True)
        assert 0 <= interval.low <= interval.estimate <= interval.high <= 1
        hits += interval.low <= 0.1 <= interval.high
    assert 0.915 <= hits / 400 <= 0.985


def test_where_nothing_varies_only_a_share_has_an_interval():
    weights = resample_weights(5, 100, np.random.default_rng(12))
    every = weighted_mean(np.ones(5), np.arange(5), 5)
    assert np.isnan(bootstrap(every, weights).low)
    share = bootstrap(every, weights, share=True)
    # Wilson's with five trials, fewer as four degrees of freedom say little: (2.776 / 1.96)^2 times.
    n = 5 * (1.959964 / 2.776445) ** 2
    assert (share.low, share.high) == (pytest.approx(n / (n + 1.959964**2)), 1.0)


def test_an_interval_of_few_clusters_stays_within_the_statistics_bounds():
    samples = np.random.default_rng(0).normal(0.8, 0.3, 500)
    wide = percentile_interval(0.8, samples, clusters=4)
    found = percentile_interval(0.8, samples, clusters=4, bounds=(-1.0, 1.0))
    assert wide.high > 1
    assert (found.low, found.high) == (wide.low, 1.0)
