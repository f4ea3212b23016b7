"""How sure one can be of a spam probability: against everything hidden enumerated, at the limits, and by coverage."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.stats import mace
from analysis.stats.competence import spamming
from analysis.stats.judgments import RepeatedJudgmentError

QUICK = mace.Settings(restarts=3, max_iter=30)


def enumerated(model, item, annotator, label):
    """Expected numbers of spammed judgments, by going through every true label and every choice of who spammed what."""
    items, labels = model.posterior.shape
    used = np.flatnonzero(model.parameters.strategy.any(axis=0))
    spam, know, strategy = model.parameters.spam, model.parameters.know, model.parameters.strategy
    total, spammed = 0.0, np.zeros(len(spam))
    for truth in itertools.product(used, repeat=items):
        for choice in itertools.product((False, True), repeat=len(item)):
            weight = 1.0 / len(used) ** items
            for i, j, value, is_spam in zip(item, annotator, label, choice, strict=True):
                weight *= spam[j] * strategy[j, value] if is_spam else know[j] * (truth[i] == value)
            total += weight
            for j, is_spam in zip(annotator, choice, strict=True):
                spammed[j] += weight * is_spam
    assert labels >= len(used)
    return spammed / total


def integrated(a, b, tail, steps=400_000):
    """A quantile of Beta(a, b), by summing its density over a grid that is fine where the density is steep."""
    angle = np.linspace(0, np.pi / 2, steps + 1)
    middle = (angle[1:] + angle[:-1]) / 2
    # x = sin^2: the density times dx is finite at both ends for a, b of at least a half.
    mass = np.sin(middle) ** (2 * a - 1) * np.cos(middle) ** (2 * b - 1)
    cumulative = np.cumsum(mass) / mass.sum()
    return float(np.sin(angle[1:][np.searchsorted(cumulative, tail)]) ** 2)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_expected_numbers_are_those_of_everything_hidden(seed) -> None:
    rng = np.random.default_rng(seed)
    item, annotator = np.nonzero(rng.random((3, 3)) < 0.8)
    label = rng.integers(0, 3, len(item))
    try:
        model = mace.fit(item, annotator, label, items=3, annotators=3, labels=3, rng=rng, settings=QUICK)
    except ValueError:
        return
    found = spamming(model, item, annotator, label)
    assert found.spammed == pytest.approx(enumerated(model, item, annotator, label), abs=1e-9)


@pytest.mark.parametrize("known", [0, 4])
def test_parameters_are_prior_smoothing_and_expected_numbers(known) -> None:
    rng = np.random.default_rng(1)
    item, annotator = np.nonzero(np.ones((12, 4)))
    label = rng.integers(0, 2, len(item))
    fixed = np.where(np.arange(12) < known, 1, -1)
    model = mace.fit(item, annotator, label, rng=rng, fixed=fixed, labels=3, settings=QUICK)
    found = spamming(model, item, annotator, label)
    # Two of three labels are in use: the smoothing of each count is 0.1 / 2.
    assert found.a == pytest.approx(0.55 + found.spammed)
    assert found.a + found.b == pytest.approx(np.full(4, 1.1 + 12))
    for a, b, low, high in zip(found.a, found.b, found.low, found.high, strict=True):
        assert integrated(a, b, 0.025) == pytest.approx(low, abs=1e-4)
        assert integrated(a, b, 0.975) == pytest.approx(high, abs=1e-4)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(2, 8))
def test_intervals_hold_the_estimate_and_narrow_with_the_level(seed, items, annotators) -> None:
    rng = np.random.default_rng(seed)
    item, annotator = np.nonzero(rng.random((items, annotators)) < 0.7)
    label = rng.integers(0, 3, len(item))
    try:
        model = mace.fit(item, annotator, label, items=items, annotators=annotators, labels=3, rng=rng, settings=QUICK)
    except ValueError:
        return
    found, half = (spamming(model, item, annotator, label, level=level) for level in (0.95, 0.5))
    assert np.all((found.low >= 0) & (found.low < half.low) & (half.low < half.high))
    assert np.all((half.high < found.high) & (found.high <= 1))
    model = mace.fit(
        item, annotator, label, items=items, annotators=annotators, labels=3, rng=rng,
        settings=mace.Settings(restarts=1, max_iter=5000, tolerance=1e-12),
    )  # fmt: skip
    settled = spamming(model, item, annotator, label)
    # Where EM has settled the estimate is the geometric mean of the same distribution.
    if model.converged:
        assert np.all((settled.low <= model.spam_probability) & (model.spam_probability <= settled.high))


def test_who_judged_nothing_has_what_the_prior_says_and_many_judgments_leave_little_doubt() -> None:
    rng = np.random.default_rng(2)
    item = np.tile(np.arange(2000), 3)
    annotator = np.repeat([0, 1, 2], 2000)
    truth = rng.integers(0, 3, 2000)
    label = np.where(annotator == 2, rng.integers(0, 3, 6000), truth[item])
    model = mace.fit(item, annotator, label, annotators=4, rng=rng, settings=QUICK)
    found = spamming(model, item, annotator, label)
    width = found.high - found.low
    assert np.all(width[:3] < 0.02)
    assert found.high[0] < 0.01
    assert found.low[2] > 0.95
    assert width[3] > 0.99


def crowd(seed, items=150, annotators=30, votes=5, known=False):
    """A crowd whose spamming is known; all labels known beforehand, or none."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, items)
    spam = rng.beta(1, 3, annotators)
    item = np.repeat(np.arange(items), votes)
    annotator = np.concatenate([rng.choice(annotators, votes, replace=False) for _ in range(items)])
    label = np.where(rng.random(len(item)) < spam[annotator], rng.integers(0, 3, len(item)), truth[item])
    fixed = truth if known else None
    model = mace.fit(item, annotator, label, rng=rng, labels=3, fixed=fixed, settings=mace.Settings(restarts=5))
    found = spamming(model, item, annotator, label)
    return np.mean((found.low <= spam) & (spam <= found.high))


def test_most_intervals_hold_the_truth() -> None:
    # Measured over 200 crowds: docs/methods/live-figures.md. It is less than 95 in 100, as labels count as known.
    assert np.mean([crowd(seed, known=True) for seed in range(20)]) > 0.80
    assert np.mean([crowd(seed) for seed in range(20)]) > 0.70


def test_bad_input_is_refused() -> None:
    item, annotator, label = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([0, 0, 1, 0])
    model = mace.fit(item, annotator, label, rng=np.random.default_rng(0), settings=QUICK)
    for level in (0.0, 1.0, float("nan")):
        with pytest.raises(ValueError, match="level"):
            spamming(model, item, annotator, label, level=level)
    with pytest.raises(ValueError, match="unit"):
        spamming(model, item + 1, annotator, label)
    with pytest.raises(RepeatedJudgmentError):
        spamming(model, [0, 0], [1, 1], [0, 1])
