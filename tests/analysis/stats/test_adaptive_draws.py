"""Draws with known probabilities, and weights that keep means unbiased whatever the draws depended on."""

from itertools import permutations

import numpy as np
import pytest

from analysis.stats.adaptive_draws import draw, effective_draws, pool_weights, positions, probabilities


def test_a_drawn_slot_leaves_its_arc_to_the_next_free_one() -> None:
    position = np.array([0.5, 0.75, 1.0])
    free = np.array([True, True, True])
    assert probabilities(position, free).tolist() == [0.5, 0.25, 0.25]
    free[0] = False
    assert probabilities(position, free).tolist() == [0.0, 0.75, 0.25]
    assert [draw(position, free, at) for at in (0.1, 0.6, 0.75, 0.76)] == [1, 1, 1, 2]
    free[2] = False
    assert draw(position, free, 0.9) == 1, "the circle is closed"
    assert probabilities(position, np.zeros(3, dtype=bool)).tolist() == [0.0, 0.0, 0.0]


def test_positions_are_arcs_in_descending_order_of_weight() -> None:
    rng = np.random.default_rng(0)
    weight = np.array([1.0, 5.0, 0.0, 1.0])
    ends = positions(weight, rng)
    everything = np.ones(4, dtype=bool)
    chances = probabilities(ends, everything)
    assert chances == pytest.approx(np.maximum(weight, 5e-4) / np.maximum(weight, 5e-4).sum())
    assert np.argsort(ends)[[0, -1]].tolist() == [1, 2]
    assert positions([], rng).size == 0
    for wrong in ([-1.0, 2.0], [0.0, 0.0], [np.nan]):
        with pytest.raises(ValueError, match="Weights"):
            positions(wrong, rng)


def test_draws_have_the_stated_probabilities() -> None:
    rng = np.random.default_rng(1)
    ends = positions(rng.random(6) + 0.05, rng)
    free = np.array([True, False, True, True, False, True])
    counts = np.bincount([draw(ends, free, u) for u in rng.random(20_000)], minlength=6)
    chances = probabilities(ends, free)
    assert np.all(np.abs(counts - 20_000 * chances) <= 4.5 * np.sqrt(20_000 * chances * (1 - chances)) + 1e-9)


def test_weighted_means_are_unbiased_over_all_sequences_of_draws() -> None:
    """Enumerate every order of three draws from five values, with probabilities that depend on the values drawn."""
    values = np.array([0.0, 1.0, 4.0, 9.0, 2.5])

    def chance(history: tuple[int, ...], unit: int) -> float:
        rest = [one for one in range(5) if one not in history]
        weights = {one: 1.0 + (sum(values[list(history)]) + one) % 3 for one in rest}
        return weights[unit] / sum(weights.values())

    for draws in (1, 2, 3, 5):
        weighted = plain = 0.0
        for order in permutations(range(5), draws):
            path, ratios = 1.0, []
            for number, unit in enumerate(order):
                q = chance(order[:number], unit)
                path *= q
                ratios.append(1.0 / (5 - number) / q)
            weighted += path * float(np.mean(pool_weights(ratios, 5) * values[list(order)]))
            plain += path * float(np.mean(values[list(order)]))
        assert weighted == pytest.approx(values.mean())
        assert draws == 5 or abs(plain - values.mean()) > 0.05


def test_weights_are_one_where_nothing_was_chosen() -> None:
    assert pool_weights([1.0, 1.0], 10).tolist() == [1.0, 1.0]
    assert pool_weights([0.3, 2.0], 2).tolist() == [1.0, 1.0]
    assert pool_weights([], 3).size == 0
    with pytest.raises(ValueError, match="pool"):
        pool_weights([1.0, 1.0], 1)
    with pytest.raises(ValueError, match="positive"):
        pool_weights([0.0], 2)
    assert np.isnan(effective_draws([]))


def test_weighted_means_of_a_campaign_that_prefers_good_units_are_unbiased_and_unweighted_ones_are_not() -> None:
    """Simulate draws on the circle, laid out anew by what was found, with a control arm of a fifth."""
    rng = np.random.default_rng(5)
    truth = rng.normal(size=30)
    errors = []
    for _ in range(800):
        free = np.ones(30, dtype=bool)
        uniform = positions(np.ones(30), rng)
        found, ratios = [], []
        layout = uniform
        for number in range(12):
            if number % 4 == 0 and number:
                layout = positions(np.exp(truth + rng.normal(size=30)), rng)
            chances = 0.2 * probabilities(uniform, free) + 0.8 * probabilities(layout, free)
            unit = draw(uniform if rng.random() < 0.2 else layout, free, rng.random())
            ratios.append(1 / free.sum() / chances[unit])
            found.append(truth[unit])
            free[unit] = False
        errors.append((np.mean(pool_weights(ratios, 30) * found) - truth.mean(), np.mean(found) - truth.mean()))
    mean, deviation = np.mean(errors, axis=0), np.std(errors, axis=0) / np.sqrt(800)
    assert abs(mean[0]) < 4 * deviation[0]
    assert mean[1] > 10 * deviation[1]
