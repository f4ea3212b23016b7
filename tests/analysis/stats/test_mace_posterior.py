"""The posterior of MACE: against going through all labels and parameters, and on simulated crowds."""

from itertools import product

import numpy as np
import pytest
from scipy.special import roots_jacobi

from analysis.stats import mace, mace_posterior
from analysis.stats.mace_posterior import Effort, sample

EFFORT = Effort(chains=200, warm_up=50, kept=25, thin=8)


def exact(item, annotator, label, *, items, annotators, strategy_prior):
    """Probability of label 1 of each item: all labels summed, strategies and spam probabilities integrated.

    Two labels. What a judge's votes are worth under the Beta(1/2, 1/2) prior of e and the Beta prior of the share s of
    label 1 is the expectation of a product, by Gauss-Jacobi quadrature in both.
    """
    x, w = roots_jacobi(24, -0.5, -0.5)
    e, we = (x + 1) / 2, w / w.sum()
    y, v = roots_jacobi(24, strategy_prior - 1, strategy_prior - 1)
    s, ws = (y + 1) / 2, v / v.sum()
    total, ones = 0.0, np.zeros(items)
    for truth in product((0, 1), repeat=items):
        weight = 1.0
        for who in range(annotators):
            inside = np.ones((len(e), len(s)))
            for i, a, given in zip(item, annotator, label, strict=True):
                if a == who:
                    inside *= e[:, None] * (s if given else 1 - s) + (1 - e[:, None]) * (given == truth[i])
            weight *= we @ inside @ ws
        total += weight
        ones += weight * np.array(truth)
    return ones / total


def test_posterior_is_the_sum_over_all_labels_and_parameters():
    item, annotator = np.repeat(np.arange(5), 3), np.tile(np.arange(3), 5)
    label = np.array([0, 0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0])
    truth = exact(item, annotator, label, items=5, annotators=3, strategy_prior=10.0)
    found = sample(item, annotator, label, rng=np.random.default_rng(0), effort=EFFORT)
    assert found.posterior[:, 1] == pytest.approx(truth, abs=0.02)
    assert found.label.mean(axis=1) == pytest.approx(truth, abs=0.05)
    assert 0 < found.error < 0.02


def crowd(rng, topics=40):
    """Five people each judge fifteen items of three labels; spam probabilities as U-shaped as the prior."""
    item = np.arange(topics * 15).repeat(5)
    annotator = item // 15 * 5 + np.tile(np.arange(5), topics * 15)
    truth = rng.integers(3, size=topics * 15)
    spam = rng.beta(0.5, 0.5, size=topics * 5)
    strategy = rng.dirichlet([10.0] * 3, size=topics * 5)
    guess = (rng.random((len(item), 1)) > np.cumsum(strategy, axis=1)[annotator][:, :2]).sum(axis=1)
    return item, annotator, np.where(rng.random(len(item)) < spam[annotator], guess, truth[item]), truth, spam


def test_labels_are_as_probable_as_they_are_right_and_a_single_optimum_says_too_much():
    item, annotator, label, truth, spam = crowd(np.random.default_rng(1))
    averaged = sample(item, annotator, label, rng=np.random.default_rng(2), effort=Effort(40, 50, 10, 5))
    fitted = mace.fit(item, annotator, label, rng=np.random.default_rng(2), settings=mace.Settings(refine=2))
    sure, said = (each.posterior.max(axis=1).mean() for each in (averaged, fitted))
    right, hit = ((each.posterior.argmax(axis=1) == truth).mean() for each in (averaged, fitted))
    assert sure == pytest.approx(right, abs=0.03)
    assert said > hit + 0.03
    loss, worse = (
        -np.log(np.clip(each.posterior[np.arange(len(truth)), truth], 1e-6, 1)).mean() for each in (averaged, fitted)
    )
    assert loss < worse
    low, high = np.quantile(averaged.spam, [0.025, 0.975], axis=1)
    assert 0.9 < ((low <= spam) & (spam <= high)).mean() <= 1.0


def test_known_labels_stay_and_labels_that_nobody_used_do_not_occur():
    item, annotator = np.repeat(np.arange(6), 3), np.tile(np.arange(3), 6)
    label = np.array([0, 2, 2, 0, 0, 2, 2, 2, 0, 0, 2, 0, 2, 0, 2, 0, 0, 0])
    fixed = np.array([2, -1, -1, 0, -1, -1])
    found = sample(item, annotator, label, rng=np.random.default_rng(0), labels=3, fixed=fixed, effort=EFFORT)
    assert found.posterior[0].tolist() == [0, 0, 1]
    assert found.posterior[3].tolist() == [1, 0, 0]
    assert set(np.unique(found.label)) == {0, 2}
    assert found.posterior[:, 1].max() == 0
    assert found.label.shape == (6, EFFORT.draws)


def test_blocks_of_chains_are_only_blocks(monkeypatch):
    item, annotator, label, _truth, _spam = crowd(np.random.default_rng(3), topics=3)
    whole = sample(item, annotator, label, rng=np.random.default_rng(0), effort=EFFORT)
    monkeypatch.setattr(mace_posterior, "_BLOCK_BYTES", 8 * 135 * 7)
    parts = sample(item, annotator, label, rng=np.random.default_rng(0), effort=EFFORT)
    assert parts.label.shape == whole.label.shape
    assert parts.posterior == pytest.approx(whole.posterior, abs=0.15)


def test_what_cannot_be_fitted_cannot_be_averaged():
    with pytest.raises(mace.NoOverlapError):
        sample([0, 1], [0, 1], [0, 1], rng=np.random.default_rng(0))


def test_the_order_of_judgments_does_not_matter():
    item, annotator, label, _truth, _spam = crowd(np.random.default_rng(5), topics=2)
    order = np.random.default_rng(6).permutation(len(item))
    one = sample(item, annotator, label, rng=np.random.default_rng(0), effort=EFFORT)
    other = sample(item[order], annotator[order], label[order], rng=np.random.default_rng(0), effort=EFFORT)
    assert np.array_equal(one.label, other.label)
