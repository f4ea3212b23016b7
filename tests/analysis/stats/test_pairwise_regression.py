"""Regression of pairwise labels: by hand, against another implementation, planted weights, honest folds."""

import numpy as np
import pytest
from scipy.optimize import minimize

from analysis.stats import bradley_terry
from analysis.stats.pairwise_regression import PairwiseModel, TooFewGroupsError, fit, transfer


def planted(rng: np.random.Generator, topics: int = 20, features: int = 3) -> tuple[np.ndarray, ...]:
    topic = np.repeat(np.arange(topics), 6)
    x = rng.normal(size=(len(topic), features))
    model = PairwiseModel(np.array([1.0, -0.5, 0.0]), 0.3, 0.4, 1.0)
    counts = np.array([rng.multinomial(20, row) for row in model.chances(x, with_side=True)])
    return x, counts, topic


def test_planted_weights_are_found():
    x, counts, _topic = planted(np.random.default_rng(0))
    found = fit(x, counts, 0.1)
    assert found.weight == pytest.approx([1.0, -0.5, 0.0], abs=0.15)
    assert (found.side, found.threshold) == (pytest.approx(0.3, abs=0.1), pytest.approx(0.4, abs=0.1))


def test_one_feature_by_hand():
    # 30 of 40 votes for the response with the feature: log odds of log 3, half of them on each side.
    found = fit([[1.0], [-1.0]], [[15, 0, 5], [5, 0, 15]], 1e-9)
    assert (found.weight[0], found.side) == (pytest.approx(np.log(3), abs=1e-4), pytest.approx(0, abs=1e-4))
    assert found.chances([[1.0]])[0] == pytest.approx([0.75, 0, 0.25], abs=1e-4)


def test_objective_is_that_of_rao_and_kupper():
    # Another implementation: the formula of bradley_terry, no gradient, another optimiser.
    rng = np.random.default_rng(1)
    x, counts = rng.normal(size=(15, 2)), rng.integers(0, 6, size=(15, 3))
    spread = np.sqrt(counts.sum(axis=1) @ x**2 / counts.sum())

    def loss(p: np.ndarray) -> float:
        strength, t = np.exp(p[2] + x @ (p[:2] / spread)), np.exp(np.exp(p[3]))
        win, lose = strength / (strength + t), 1 / (1 + strength * t)
        tie = (t**2 - 1) * win * lose
        return -(counts * np.log(np.stack([win, tie, lose], axis=1))).sum() + 2.0 * (p[:2] ** 2).sum() / 2

    optimum = minimize(
        loss, np.zeros(4), method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-9, "maxiter": 9999}
    ).x
    found = fit(x, counts, 2.0)
    assert found.weight == pytest.approx(optimum[:2] / spread, abs=1e-3)
    assert (found.side, found.threshold) == (
        pytest.approx(optimum[2], abs=1e-3),
        pytest.approx(np.exp(optimum[3]), abs=1e-3),
    )


def test_with_a_feature_for_each_response_it_is_bradley_terry():
    # Each pair in both orders, with the same votes: nobody prefers a side.
    first, second = np.array([0, 1, 0]), np.array([1, 2, 2])
    votes = np.array([[6.0, 0, 4], [7, 0, 3], [9, 0, 1]])
    both = np.concatenate([np.eye(3)[first] - np.eye(3)[second], np.eye(3)[second] - np.eye(3)[first]])
    found = fit(both, np.concatenate([votes, votes[:, ::-1]]), 1e-6)
    tallies = bradley_terry.tally(
        np.zeros(6, int), np.tile(first, 2), np.tile(second, 2), np.repeat([-1, 1], 3),
        weight=np.concatenate([votes[:, 0], votes[:, 2]]),
    )  # fmt: skip
    settings = bradley_terry.BradleyTerrySettings(threshold=0.0, dummy_weight=1e-6)
    merit = bradley_terry.fit(tallies, settings=settings).merit[0]
    assert found.side == pytest.approx(0, abs=1e-4)
    assert both @ found.weight == pytest.approx(both @ merit, abs=1e-3)


def test_targets_are_predicted_without_their_topic():
    rng = np.random.default_rng(2)
    x, counts, topic = planted(rng)
    whole = transfer(x, counts, topic, x, topic, rng=np.random.default_rng(0), penalties=(0.3, 30.0))
    assert whole.loss < whole.baseline
    assert np.allclose(whole.chances.sum(axis=1), 1)
    # Other votes on a topic do not change what is predicted for it.
    changed = counts.copy()
    changed[topic == 4] = changed[topic == 4][:, ::-1]
    other = transfer(x, changed, topic, x, topic, rng=np.random.default_rng(0), penalties=(0.3, 30.0))
    assert np.array_equal(whole.chances[topic == 4], other.chances[topic == 4])
    assert not np.array_equal(whole.chances, other.chances)


def test_features_without_meaning_do_not_beat_the_shares():
    rng = np.random.default_rng(3)
    x, counts, topic = planted(rng)
    found = transfer(rng.normal(size=x.shape), counts, topic, x, topic, rng=rng, penalties=(3.0, 300.0))
    assert found.loss > found.baseline - 0.01


def test_refusals():
    x, counts, topic = planted(np.random.default_rng(0))
    with pytest.raises(TooFewGroupsError):
        transfer(x, counts, topic % 4, x, topic, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match="penalty"):
        fit(x, counts, 0.0)
    with pytest.raises(ValueError, match="row"):
        fit(x, counts[:, :2], 1.0)
