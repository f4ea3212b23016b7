"""Stochastic rankings: against exact probabilities, against the plain loop of the paper, and at their edges."""

import doctest
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from analysis.ranking import plackett_luce
from analysis.ranking.exposure import exposure
from analysis.ranking.plackett_luce import (
    UnusableScoresError,
    deterministic,
    exact_exposure,
    log_probability,
    logits,
    normalise,
    sample,
)
from tests.examples import examples

SCORES = arrays(np.float64, st.integers(1, 6), elements=st.floats(-50, 50))


def plain_loop(item_logits: Any, samples: int, k: int, rng: np.random.Generator) -> np.ndarray:
    """The procedure as the paper tells it: draw an item, set its probability to 0, renormalise, repeat."""
    found = np.empty((samples, k), dtype=np.int64)
    for row in range(samples):
        left = np.exp(np.asarray(item_logits, dtype=np.float64))
        for place in range(k):
            found[row, place] = rng.choice(left.size, p=left / left.sum())
            left[found[row, place]] = 0.0
    return found


def test_examples() -> None:
    assert doctest.testmod(plackett_luce).failed == 0


@given(SCORES)
def test_scores_come_between_1_and_2_in_their_order(scores: np.ndarray) -> None:
    found = normalise(scores)
    assert found.min() == 1.0
    assert found.max() in (1.0, 2.0)
    assert (np.diff(found[np.argsort(scores)]) >= 0).all()


@settings(max_examples=examples(30), deadline=None)
@given(SCORES, st.sampled_from([0.0, 1.0, 2.0, 4.0, 8.0]))
def test_probabilities_of_all_rankings_add_up_to_one(scores: np.ndarray, alpha: float) -> None:
    given_logits = logits(scores, alpha)
    total = sum(np.exp(log_probability(given_logits, each)) for each in permutations(range(scores.size)))
    assert total == pytest.approx(1, abs=1e-9)
    for k in range(1, scores.size + 1):
        assert exact_exposure(given_logits, k).sum() == pytest.approx(k, abs=1e-9)


@pytest.mark.parametrize(
    "draw",
    [
        lambda *given: sample(given[0], samples=given[1], k=given[2], rng=given[3]),
        pytest.param(plain_loop, marks=pytest.mark.extended),
    ],
)
@pytest.mark.parametrize("alpha", [2.0, 3.0])
def test_rankings_come_as_often_as_they_should(draw: Any, alpha: float) -> None:
    given_logits = logits([1.0, 4.0, 2.0, 3.0], alpha)
    drawn = draw(given_logits, 30_000, 2, np.random.default_rng(3))
    pairs = list(permutations(range(4), 2))
    counted = [int((drawn == pair).all(axis=1).sum()) for pair in pairs]
    expected = [30_000 * np.exp(log_probability(given_logits, pair)) for pair in pairs]
    assert sum(counted) == 30_000
    assert stats.chisquare(counted, expected).pvalue > 1e-3


def test_by_hand_two_items() -> None:
    assert np.exp(log_probability([np.log(3.0), 0.0], [0])) == pytest.approx(3 / 4)
    assert exact_exposure([np.log(3.0), 0.0], 1).tolist() == pytest.approx([3 / 4, 1 / 4])


def test_alpha_0_is_uniform_and_a_large_one_deterministic() -> None:
    scores = [5.0, 1.0, 3.0, 2.0]
    assert exact_exposure(logits(scores, 0), 2).tolist() == pytest.approx([0.5] * 4)
    drawn = sample(logits(scores, 12), samples=200, k=3, rng=np.random.default_rng(0))
    assert (drawn[:, 0] == 0).all()
    assert deterministic(scores, 3).tolist() == [0, 2, 3]
    assert deterministic([1.0, 1.0, 1.0], 2).tolist() == [0, 1]


@pytest.mark.parametrize("alpha", [1.0, 3.0, 8.0])
def test_many_items_are_shown_as_often_as_by_the_paper_s_way(alpha: float) -> None:
    """Gumbel noise and sorting, as the paper has it: the same exposure, however peaked the distribution is."""
    many = logits(np.random.default_rng(1).normal(size=(3, 40)), alpha)
    rng = np.random.default_rng(8)
    shown = exposure(sample(many, samples=20_000, k=5, rng=rng), 40)
    noisy = many[:, None, :] + rng.gumbel(size=(3, 20_000, 40))
    expected = exposure(np.argsort(-noisy, axis=-1)[..., :5], 40)
    error = np.sqrt(2 * expected * (1 - expected) / 20_000)
    assert (np.abs(shown - expected) <= 4.5 * error + 1e-3).all()


def test_the_same_source_gives_the_same_rankings() -> None:
    many = logits(np.random.default_rng(1).normal(size=(5, 40)), 2)
    first, second = (sample(many, samples=20, k=5, rng=np.random.default_rng(7)) for _ in range(2))
    assert (first == second).all()


def test_no_item_stands_twice_and_what_is_not_there_is_not_drawn() -> None:
    scores = np.array([[3.0, 2.0, np.nan, 1.0], [1.0, np.nan, np.nan, np.nan]])
    drawn = sample(logits(scores, 1), samples=50, k=3, rng=np.random.default_rng(0))
    assert drawn.shape == (2, 50, 3)
    for ranking in drawn[0].tolist():
        assert sorted(ranking) == [0, 1, 3]
    assert (drawn[1] == [0, -1, -1]).all()
    assert deterministic(scores, 3).tolist() == [[0, 1, 3], [0, -1, -1]]


def test_large_logits_neither_overflow_nor_lose_the_order() -> None:
    drawn = sample([0.0, 5000.0, 10_000.0], samples=50, k=3, rng=np.random.default_rng(0))
    assert (drawn == [2, 1, 0]).all()


@pytest.mark.parametrize("bad", [[], [np.nan, np.nan], [1.0, np.inf]])
def test_scores_of_which_nothing_can_be_made_are_named(bad: list[float]) -> None:
    with pytest.raises(UnusableScoresError):
        normalise(bad)


@pytest.mark.parametrize(
    "act",
    [
        lambda: logits([1.0, 2.0], -1),
        lambda: logits([1.0, 2.0], np.nan),
        lambda: sample([1.0], samples=0, k=1, rng=np.random.default_rng(0)),
        lambda: sample([1.0], samples=1, k=0, rng=np.random.default_rng(0)),
        lambda: sample([np.nan], samples=1, k=1, rng=np.random.default_rng(0)),
        lambda: log_probability([1.0, 2.0], [0, 0]),
        lambda: exact_exposure(np.zeros(9), 2),
    ],
)
def test_bad_input_is_refused(act: Any) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        act()


def test_k_beyond_the_items_is_all_of_them() -> None:
    assert sample([1.0, 2.0], samples=4, k=5, rng=np.random.default_rng(0)).shape == (4, 2)
