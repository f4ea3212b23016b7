"""Placement of a new system: hand computations, a second implementation, and simulated campaigns."""

import math

import numpy as np
import pytest

from analysis.stats import bradley_terry, placement
from analysis.stats.placement import Anchors, NewVotes, Prior, TooFewAnchorsError
from analysis.stats.vote_model import Crowd, Scale, calibrate, label_chances, vote_information

HONEST = Crowd(np.array([1e-4]), np.full((1, 3), 1 / 3), np.ones(1))
MIXED = Crowd(np.array([0.1, 0.8]), np.array([[0.4, 0.2, 0.4], [0.6, 0.3, 0.1]]), np.array([0.6, 0.4]))
THREE = Anchors(np.array([0.0, 0.5, 1.5]), np.array([[0.0, 0.5, 1.5]]))


def some_votes(n: int, rng: np.random.Generator, *, judges: int = 5) -> NewVotes:
    return NewVotes(
        rng.integers(3, size=n), rng.random(n) < 0.5, rng.integers(3, size=n), rng.integers(judges, size=n),
        np.arange(n),
    )  # fmt: skip


def test_labels_follow_rao_and_kupper_and_keep_the_odds_of_the_leaderboard() -> None:
    lead = np.linspace(-6, 6, 25)
    chances = label_chances(lead, Scale(0.7, 1.5))
    a, n, b = chances.T
    assert np.allclose(chances.sum(axis=1), 1)
    assert np.allclose(np.log((a + n) / (b + n)), 1.5 * lead, atol=1e-9)
    assert np.allclose(n, math.expm1(1.4) * a * b)  # the product rule of Rao and Kupper


def test_without_ties_labels_are_those_of_bradley_and_terry() -> None:
    a, n, _b = label_chances(0.8, Scale(1e-6))
    assert a == pytest.approx(1 / (1 + math.exp(-0.8)), abs=1e-5)
    assert n == pytest.approx(0, abs=1e-5)


def test_leaderboard_fitted_to_many_labels_returns_the_lead() -> None:
    # The two halves meet: labels drawn from a lead give this lead on a leaderboard with the published threshold.
    expected = label_chances(0.9, Scale(0.6)) * 1e6
    tallies = bradley_terry.tally([0, 0, 0], [0, 0, 0], [1, 1, 1], [-1, 0, 1], weight=expected)
    merit = bradley_terry.fit(tallies, settings=bradley_terry.BradleyTerrySettings(threshold=1e-6)).merit[0]
    assert merit[0] - merit[1] == pytest.approx(0.9, abs=1e-3)


def test_posterior_equals_that_of_plain_loops() -> None:
    rng = np.random.default_rng(3)
    votes, scale = some_votes(12, rng), Scale(0.4)
    prior = Prior(0.7, 0.8, 5.0)
    found = placement.place(votes, THREE, MIXED, scale=scale, rng=rng, prior=prior)
    weak = Prior.of_anchors(THREE.merit)
    points = np.linspace(-8, 9, 341)
    leads = np.where(votes.new_is_left, 1, -1) * (points[:, None] - THREE.merit[votes.anchor])
    of_label = label_chances(leads, scale)
    log_density = []
    for number, u in enumerate(points):
        total = float(prior.log_density(np.array([u]))[0] + weak.log_density(np.array([u]))[0])
        for judge in range(5):
            likelihood = 0.0
            for e, strategy, weight in zip(MIXED.spam, MIXED.strategy, MIXED.weight, strict=True):
                product = weight
                for v in np.flatnonzero(votes.judge == judge):
                    label = votes.label[v]
                    product *= (1 - e) * of_label[number, v, label] + e * strategy[label]
                likelihood += product
            total += math.log(likelihood)
        log_density.append(total)
    mass = np.exp(np.array(log_density) - max(log_density))
    mass /= mass.sum()
    mean = float(mass @ points)
    assert found.design_effect == 1  # each vote is on its own topic
    assert found.merit == pytest.approx(mean, abs=0.005)
    assert found.draws.std() == pytest.approx(float(np.sqrt(mass @ (points - mean) ** 2)), rel=0.06)


def test_information_is_the_expected_square_of_the_score() -> None:
    lead = np.array([-1.0, 0.0, 2.0])
    found = vote_information(lead, HONEST, Scale(1e-6))
    assert found == pytest.approx(np.exp(lead) / (1 + np.exp(lead)) ** 2, rel=1e-2)  # p (1 - p)
    assert (vote_information(lead, MIXED, Scale(0.3)) < found).all()


def test_scale_is_found_again_from_votes() -> None:
    lead = np.linspace(-2, 2, 21)
    reads, spam = MIXED.weight @ (1 - MIXED.spam), (MIXED.weight * MIXED.spam) @ MIXED.strategy
    counts = 20_000 * (reads * label_chances(lead, Scale(0.5, 1.7)) + spam)
    found = calibrate(lead, counts, MIXED)
    assert (found.threshold, found.factor) == (pytest.approx(0.5, abs=0.01), pytest.approx(1.7, abs=0.02))
    counts[:, 1] = 0
    assert calibrate(lead, counts, MIXED).threshold < 0.01
    assert calibrate(lead, np.zeros((21, 3)), MIXED).factor == 1


def test_anchors_uncertainty_widens_the_interval() -> None:
    rng = np.random.default_rng(0)
    votes = NewVotes(np.zeros(400, int), np.ones(400, bool), np.arange(400) % 3, np.arange(400), np.arange(400))
    sure = placement.place(votes, THREE, HONEST, scale=Scale(0.5), rng=rng)
    spread = Anchors(THREE.merit, THREE.merit + np.array([0.5, 0.0, 0.0]) * rng.normal(size=(4000, 3)))
    unsure = placement.place(votes, spread, HONEST, scale=Scale(0.5), rng=rng)
    # Only compared with the first anchor, it follows this one: the variances add up.
    assert unsure.draws.var() == pytest.approx(sure.draws.var() + 0.25, rel=0.12)
    assert unsure.anchor_share > 0.8 > 0.01 > sure.anchor_share
    assert placement.widths(unsure, [0, 10**9])[1] == pytest.approx(
        (unsure.high - unsure.low) * math.sqrt(unsure.anchor_share)
    )


def test_votes_on_one_topic_count_less() -> None:
    rng = np.random.default_rng(1)
    topic = np.repeat(np.arange(10), 10)
    label = np.where(topic < 6, 0, 2)  # the topic decides
    apart = NewVotes(np.zeros(100, int), np.ones(100, bool), label, np.arange(100), np.arange(100))
    shared = NewVotes(apart.anchor, apart.new_is_left, label, apart.judge, topic)
    one, other = (placement.place(v, THREE, HONEST, scale=Scale(0.1), rng=rng) for v in (apart, shared))
    assert other.design_effect > 3 > one.design_effect
    assert other.high - other.low > 1.5 * (one.high - one.low)


def test_known_careful_judges_say_more() -> None:
    rng = np.random.default_rng(2)
    votes = NewVotes(np.arange(60) % 3, np.ones(60, bool), np.zeros(60, int), np.arange(60), np.arange(60))
    known = NewVotes(
        votes.anchor, votes.new_is_left, votes.label, votes.judge, votes.topic, np.full(60, 0.1), np.full(60, 200.0)
    )
    unknown, careful = (placement.place(v, THREE, MIXED, scale=Scale(0.1), rng=rng) for v in (votes, known))
    assert careful.information > unknown.information


def test_without_votes_the_prior_is_shown() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    none = NewVotes(nothing, nothing.astype(bool), nothing, nothing, nothing)
    found = placement.place(none, THREE, MIXED, scale=Scale(0.1), rng=np.random.default_rng(0))
    assert (found.votes, found.rank_low, found.rank_high) == (0, 1, 4)
    assert np.isnan(placement.widths(found, [10])).all()


def test_model_predicts_by_regression_with_its_own_errors() -> None:
    people, model = np.array([0.0, 1.0, 2.0, 3.5]), np.array([0.0, 2.0, 4.0, 6.0])
    prior = Prior.of_model(people, model, 3.0)
    assert prior is not None
    # By hand: slope 23 / 40, residuals -0.1, -0.25... with two degrees of freedom.
    slope, residual = 11.5 / 20, people - people.mean() - 11.5 / 20 * (model - 3)
    assert prior.centre == pytest.approx(people.mean() + slope * 0)
    assert prior.scale == pytest.approx(math.sqrt(residual @ residual / 2 * 1.25))
    assert Prior.of_model(people[:3], model[:3], 3.0) is None
    assert Prior.of_model(people, np.ones(4), 1.0) is None


def test_anchors_near_the_system_are_asked_more_often_and_all_sometimes() -> None:
    anchors = Anchors(np.array([0.0, 3.0, 8.0]), np.array([[0.0, 3.0, 8.0]]))
    belief = np.random.default_rng(0).normal(0.2, 0.3, 500)
    chances = placement.anchor_chances(belief, anchors, HONEST, Scale(0.1))
    assert chances.sum() == pytest.approx(1)
    assert chances[0] > chances[1] > chances[2] >= 0.1 / 3


def test_refusals() -> None:
    with pytest.raises(TooFewAnchorsError):
        Anchors(np.zeros(1), np.zeros((1, 1)))
    with pytest.raises(ValueError, match="finite"):
        Anchors(np.array([0.0, np.nan]), np.zeros((1, 2)))
    with pytest.raises(ValueError, match="anchor"):
        placement.place(
            NewVotes(np.array([3]), np.ones(1, bool), np.zeros(1, int), np.zeros(1, int), np.zeros(1, int)),
            THREE, HONEST, scale=Scale(0.1), rng=np.random.default_rng(0),
        )  # fmt: skip
    with pytest.raises(ValueError, match="three"):
        calibrate([0.0], [[1.0, 2.0]], HONEST)


def test_intervals_hold_the_truth_in_simulated_campaigns() -> None:
    rng = np.random.default_rng(5)
    held, studies = 0, 30
    for _ in range(studies):
        merit = rng.normal(0.5, 0.7)
        anchors = Anchors(THREE.merit, THREE.merit + 0.1 * rng.normal(size=(500, 3)))
        real = THREE.merit + 0.1 * rng.normal(size=3)
        anchor, left, judge = rng.integers(3, size=90), rng.random(90) < 0.5, np.repeat(np.arange(9), 10)
        kind = rng.choice(2, size=9, p=MIXED.weight)[judge]
        lead = (merit - real[anchor]) * np.where(left, 1, -1)
        chances = label_chances(lead, Scale(0.4)) * (1 - MIXED.spam[kind])[:, None]
        chances += MIXED.spam[kind][:, None] * MIXED.strategy[kind]
        label = (rng.random(90)[:, None] > np.cumsum(chances, axis=1)).sum(axis=1)
        found = placement.place(
            NewVotes(anchor, left, label, judge, np.arange(90)), anchors, MIXED, scale=Scale(0.4), rng=rng
        )
        held += found.low <= merit <= found.high
    assert held >= 25  # 95 % of 30 are 28.5
