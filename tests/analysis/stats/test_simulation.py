"""Simulated studies: their shape, and probabilities that are known in closed form."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import binom

from analysis.stats import agreement, designs
from analysis.stats.designs import BadDesignError, Competence, Design, Expectation
from analysis.stats.simulation import simulate, verdict
from tests.examples import examples


def people(spam: float, dimensions: int = 1, strategy: tuple[float, ...] = (1 / 3, 1 / 3, 1 / 3)) -> Competence:
    return Competence(np.full((1, dimensions), spam), np.tile(strategy, (1, dimensions, 1)))


@given(
    topics=st.integers(1, 6), responses=st.integers(2, 7), k=st.integers(1, 4), both=st.floats(0, 1),
    items=st.integers(1, 9), each=st.integers(1, 3), pairs=st.none() | st.integers(1, 30), seed=st.integers(0, 99),
)  # fmt: skip
@settings(max_examples=examples(40), deadline=None)
def test_everything_is_judged_k_times_by_different_people(topics, responses, k, both, items, each, pairs, seed):
    design = Design(
        topics=topics, responses=responses, dimensions=2, k=k, both_orders=both, items=items, pairs=pairs,
        questionnaires_per_person=each,
    )  # fmt: skip
    study = simulate(design, Expectation(people(0.3, 2)), np.random.default_rng(seed))
    shown = list(zip(study.topic.tolist(), study.first.tolist(), study.second.tolist(), strict=True))
    assert len(shown) == len(set(shown)) == design.pairs_shown
    assert len({(t, *sorted((a, b))) for t, a, b in shown}) == topics * design.pairs_per_topic
    assert np.bincount(study.item).tolist() == [k] * len(shown)
    assert len(set(zip(study.item.tolist(), study.coder.tolist(), strict=True))) == len(study.item)
    assert study.coder.max() < design.people
    # Nobody answers more questionnaires than they may, nor more items in one than it holds.
    assert np.bincount(study.coder).max() <= items * max(each, 1)


def test_a_sample_of_pairs_takes_each_response_about_as_often():
    design = Design(topics=5, responses=6, dimensions=1, forced=0, pairs=6, both_orders=0)
    study = simulate(design, Expectation(people(0.0)), np.random.default_rng(0))
    for topic in range(5):
        own = study.topic == topic
        assert np.bincount(np.r_[study.first[own], study.second[own]]).tolist() == [2] * 6


def test_labels_have_the_probabilities_of_rao_and_kupper():
    rng = np.random.default_rng(1)
    lead, t = 0.8, 0.6
    drawn = np.bincount(verdict(lead + rng.logistic(size=200_000), t), minlength=3) / 200_000
    a, b = expit(lead - t), expit(-lead - t)
    assert drawn == pytest.approx([a, 1 - a - b, b], abs=0.005)
    # ... and the tie's is (e^2t - 1) P(a) P(b)
    assert drawn[1] == pytest.approx(np.expm1(2 * t) * a * b, abs=0.005)


@pytest.mark.parametrize("neutral", [0.0, 0.15, 0.5])
@pytest.mark.parametrize(("effect", "spread"), [(0.0, 0.0), (1.0, 2.0), (-2.0, 0.5)])
def test_as_many_pairs_are_neutral_as_expected(neutral, effect, spread):
    design = Design(topics=3000, responses=4, dimensions=1, forced=0, k=1, both_orders=0)
    expected = Expectation(people(0.0), effect=effect, spread=spread, neutral=neutral)
    study = simulate(design, expected, np.random.default_rng(2))
    assert np.mean(study.truth == 1) == pytest.approx(neutral, abs=0.015)
    across = study.design.origin[study.first] != study.design.origin[study.second]
    models_side = np.where(study.design.origin[study.first] == 1, 0, 2)
    better = study.truth[across, 0] == models_side[across]
    decided = study.truth[across, 0] != 1
    assert better[decided].mean() == pytest.approx(designs.preferred(design, expected), abs=0.02)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.85])
def test_an_effect_is_found_for_each_share_preferred(share):
    design = Design(topics=2, responses=6)
    expected = designs.with_preferred(design, Expectation(people(0.5, 7), spread=2.0), share)
    assert designs.preferred(design, expected) == pytest.approx(share)
    assert np.sign(expected.effect) == np.sign(share - 0.5) or abs(expected.effect) < 1e-6


@pytest.mark.parametrize("k", [1, 3, 5])
def test_a_majority_is_right_as_often_as_coins_say(k):
    """Who must choose, spams with e0 and then tosses a coin is right with 1 - e0 / 2: the majority is binomial."""
    design = Design(topics=1500, responses=3, dimensions=1, forced=1, k=k, both_orders=0)
    study = simulate(design, Expectation(people(0.6)), np.random.default_rng(3))
    right = np.bincount(study.item, weights=study.label[:, 0] == study.truth[study.item, 0])
    closed = 1 - binom.cdf(k // 2, k, 0.7)
    assert np.mean(right > k / 2) == pytest.approx(closed, abs=0.02)


def test_people_who_all_look_agree_wholly_and_people_who_all_guess_by_chance():
    design = Design(topics=200, responses=4, dimensions=1, forced=0)
    for spam, alpha in ((0.0, 1.0), (1.0, 0.0)):
        study = simulate(design, Expectation(people(spam)), np.random.default_rng(4))
        counts = agreement.count_values(study.item, study.coder, study.label[:, 0])
        assert agreement.alpha(counts) == pytest.approx(alpha, abs=0.03)


def test_dimensions_go_together_as_far_as_expected():
    design = Design(topics=2000, responses=2, dimensions=2, forced=2, k=1, both_orders=0)
    found = {}
    for correlation in (0.0, 0.5, 1.0):
        expected = Expectation(people(0.0, 2), correlation=correlation, neutral=0)
        study = simulate(design, expected, np.random.default_rng(5))
        found[correlation] = np.corrcoef(study.truth.T)[0, 1]
    # The signs of two normal draws that correlate by r do so by 2/pi arcsin(r).
    assert found[0.0] == pytest.approx(0.0, abs=0.06)
    assert found[0.5] == pytest.approx(2 / np.pi * np.arcsin(0.5), abs=0.06)
    assert found[1.0] == pytest.approx(1.0)


def test_where_one_must_choose_nobody_says_neither():
    design = Design(topics=30, responses=4, dimensions=3, forced=1)
    study = simulate(design, Expectation(people(0.8, 2), neutral=0.4), np.random.default_rng(6))
    assert (study.label == 1).any(axis=0).tolist() == [True, True, False]
    assert (study.truth == 1).any(axis=0).tolist() == [True, True, False]


def test_hard_topics_are_spammed_more():
    design = Design(topics=40, responses=5, dimensions=1, forced=0)
    spread = {}
    for difficulty in (0.0, 1.5):
        expected = Expectation(people(0.5), difficulty=difficulty)
        study = simulate(design, expected, np.random.default_rng(7))
        share = np.bincount(study.topic[study.item], weights=study.spammed[:, 0]) / np.bincount(study.topic[study.item])
        spread[difficulty] = share.std()
    assert spread[0.0] < 0.08  # what chance gives 65 judgments of a topic
    assert spread[1.5] > 0.2


def test_competences_have_the_mean_and_spread_asked_for():
    rng = np.random.default_rng(8)
    found = designs.competence(0.4, 0.3, dimensions=2, rng=rng, people=20_000)
    assert (1 - found.spam).mean() == pytest.approx(0.4, abs=0.01)
    assert (1 - found.spam[:, 0]).std() == pytest.approx(0.3, abs=0.01)
    assert np.ptp(designs.competence(0.4, 0.0, dimensions=1, rng=rng).spam) == 0


def test_designs_and_expectations_that_cannot_be_are_refused():
    designs_wrong = {"topics": 0, "responses": 1, "k": 0, "items": 0, "styles": 0, "dimensions": 0, "forced": 8,
                     "both_orders": 1.1, "pairs": 0, "questionnaires_per_person": 0}  # fmt: skip
    for name, value in designs_wrong.items():
        with pytest.raises(BadDesignError):
            Design(**{"topics": 2, "responses": 3} | {name: value})
    wrong = {"spread": -1.0, "effect": float("nan"), "neutral": 1.0, "correlation": 2.0, "difficulty": -0.1}
    for name, value in wrong.items():
        with pytest.raises(BadDesignError):
            Expectation(people(0.5), **{name: value})
    with pytest.raises(BadDesignError):
        designs.competence(0.5, 0.6, dimensions=1, rng=np.random.default_rng())
    with pytest.raises(BadDesignError):
        people(1.5)
    with pytest.raises(BadDesignError):
        people(float("nan"))
    with pytest.raises(BadDesignError):
        people(0.5, strategy=(0.5, 0.5, 0.5))
    with pytest.raises(BadDesignError, match="preferred"):
        designs.with_preferred(Design(topics=2, responses=2), Expectation(people(0.5)), 1.0)
