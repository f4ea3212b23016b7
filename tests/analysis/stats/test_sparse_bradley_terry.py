"""Merits of participants: against the dense fit of grades, BFGS on the definition, and choix."""

import choix
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from analysis.stats import bradley_terry as bt
from analysis.stats import sparse_bradley_terry
from tests.examples import examples


def random_meetings(seed, participants=9, comparisons=60):
    rng = np.random.default_rng(seed)
    first = rng.integers(0, participants, comparisons)
    second = (first + rng.integers(1, participants, comparisons)) % participants
    return first, second, rng.integers(-1, 2, comparisons), rng


def fitted(first, second, outcome, participants, *, weight=None, **options):
    met = sparse_bradley_terry.meetings(first, second, participants)
    weight = np.ones(len(first)) if weight is None else weight
    return sparse_bradley_terry.fit(met, *sparse_bradley_terry.add_up(met, outcome, weight), **options)


@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.integers(1, 40))
@settings(max_examples=examples(40))
def test_merits_are_those_of_the_dense_fit(seed, participants, comparisons):
    first, second, outcome, rng = random_meetings(seed, participants, comparisons)
    weight = rng.random(comparisons) + 0.1
    dense = bt.fit(bt.tally(np.zeros(comparisons, int), first, second, outcome, weight=weight, items=participants))
    found = fitted(first, second, outcome, participants, weight=weight)
    assert found.converged.all()
    assert found.merit[:, 0] == pytest.approx(dense.merit[0], abs=1e-7, nan_ok=True)


def test_every_column_is_a_fit_of_its_own():
    first, second, _outcome, rng = random_meetings(0)
    weight = rng.integers(0, 3, (60, 25)).astype(float)
    labels = rng.integers(-1, 2, (60, 25))
    together = fitted(first, second, labels, 9, weight=weight)
    for column in range(25):
        drawn = np.repeat(np.arange(60), weight[:, column].astype(int))
        alone = bt.fit(bt.tally(np.zeros(len(drawn), int), first[drawn], second[drawn], labels[drawn, column], items=9))
        assert together.merit[:, column] == pytest.approx(alone.merit[0], abs=1e-7, nan_ok=True)


def test_merits_maximise_the_likelihood_as_it_is_printed():
    first, second, outcome, _rng = random_meetings(3)
    t = 0.05

    def loss(m):
        lead = m[first] - m[second]
        won, lost = np.exp(m[first]) / (np.exp(m[first]) + np.exp(m[second] + t)), None
        lost = np.exp(m[second]) / (np.exp(m[second]) + np.exp(m[first] + t))
        tie = np.exp(m[first] + m[second]) * (np.exp(2 * t) - 1)
        tie /= (np.exp(m[first]) + np.exp(m[second] + t)) * (np.exp(m[first] + t) + np.exp(m[second]))
        p = np.where(outcome < 0, won, np.where(outcome > 0, lost, tie))
        dummy = -0.2 * (np.logaddexp(0, 1 - m) + np.logaddexp(0, m - 1)).sum()
        assert lead.shape == p.shape
        return -np.log(p).sum() - dummy

    expected = minimize(loss, np.ones(9), method="BFGS", options={"gtol": 1e-7})
    assert fitted(first, second, outcome, 9).merit[:, 0] == pytest.approx(expected.x, abs=1e-5)


def test_without_ties_and_with_a_faint_dummy_it_is_choix():
    first, second, outcome, _rng = random_meetings(4, comparisons=120)
    decided = outcome != 0
    first, second, outcome = first[decided], second[decided], outcome[decided]
    data = [(i, j) if y < 0 else (j, i) for i, j, y in zip(first, second, outcome, strict=True)]
    expected = choix.opt_pairwise(9, data)
    merit = fitted(first, second, outcome, 9, settings=bt.BradleyTerrySettings(threshold=0, dummy_weight=1e-9)).merit[
        :, 0
    ]
    assert merit - merit.mean() == pytest.approx(expected - expected.mean(), abs=1e-4)


def test_who_met_nobody_has_no_merit():
    found = fitted([0, 1, 2], [1, 0, 2], [-1, 1, -1], 4)
    assert np.isnan(found.merit[2:]).all()
    assert found.merit[0, 0] > found.merit[1, 0]
    with pytest.raises(bt.NoComparisonsError):
        sparse_bradley_terry.meetings([0, 1], [0, 1], 2)


def test_groups_that_never_met_are_told_the_largest_first():
    met = sparse_bradley_terry.meetings([5, 0, 1, 3], [4, 1, 2, 3], 7)
    assert met.group.tolist() == [0, 0, 0, -1, 1, 1, -1]


def test_a_start_changes_nothing_but_the_way():
    first, second, outcome, rng = random_meetings(5)
    plain = fitted(first, second, outcome, 9)
    warm = fitted(first, second, outcome, 9, start=plain.merit[:, 0])
    assert warm.iterations <= 1
    far = fitted(first, second, outcome, 9, start=rng.normal(size=9) * 8)
    assert far.merit == pytest.approx(plain.merit, abs=1e-7)


def test_one_who_always_wins_stays_finite():
    found = fitted(np.zeros(500, int), np.arange(500) % 3 + 1, np.full(500, -1), 4)
    assert found.converged.all()
    assert np.isfinite(found.merit).all()


def test_ranks_begin_with_the_best_and_equals_share_the_better():
    merit = np.array([[0.5, np.nan], [2.0, 1.0], [0.5 + 1e-9, 3.0], [-1.0, 1.0]])
    assert sparse_bradley_terry.ranks(merit[:, 0]).tolist() == [2, 1, 2, 4]
    assert sparse_bradley_terry.ranks(merit)[1:, 1].tolist() == [2, 1, 2]
    assert np.isnan(sparse_bradley_terry.ranks(merit)[0, 1])


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(1, 5))
@settings(max_examples=examples(40))
def test_strata_add_up_to_what_their_comparisons_do(seed, participants, strata):
    first, second, outcome, rng = random_meetings(seed, participants)
    met = sparse_bradley_terry.meetings(first, second, participants)
    weight, stratum = rng.random(len(first)), rng.integers(0, strata, len(first))
    drawn = rng.integers(0, 3, size=(7, strata)).astype(float)
    one_by_one = sparse_bradley_terry.add_up(met, outcome, weight[:, None] * drawn[:, stratum].T)
    for found, expected in zip(
        sparse_bradley_terry.add_up_strata(met, outcome, weight, stratum, drawn), one_by_one, strict=True
    ):
        assert found == pytest.approx(expected, abs=1e-12)


def strata_of(seed):
    rng = np.random.default_rng(seed)
    participants, topics, n = 5, 30, 400
    first = rng.integers(0, participants, n)
    second = (first + rng.integers(1, participants, n)) % participants
    lead = 0.5 * (first - second) + rng.logistic(size=n)
    outcome = np.where(lead > 0.5, -1.0, np.where(lead < -0.5, 1.0, 0.0))
    return (
        sparse_bradley_terry.meetings(first, second, participants),
        outcome,
        np.ones(n),
        rng.integers(0, topics, n),
        topics,
    )


def merits_of(strata, weights):
    met, outcome, weight, stratum, _topics = strata
    return sparse_bradley_terry.fit(
        met, *sparse_bradley_terry.add_up_strata(met, outcome, weight, stratum, weights)
    ).merit


def test_influence_is_the_derivative_of_the_fit():
    """Against finite differences: fits with a little more of one topic."""
    strata = strata_of(1)
    met, *_rest, topics = strata
    whole = merits_of(strata, np.ones((1, topics)))[:, 0]
    step = 1e-4
    numeric = (merits_of(strata, 1.0 + step * np.eye(topics)) - merits_of(strata, 1.0 - step * np.eye(topics))) / (
        2 * step
    )
    exact = sparse_bradley_terry.influence(met, *sparse_bradley_terry.tally_strata(*strata), whole)
    assert exact == pytest.approx(numeric, abs=1e-5)


def test_influences_give_the_spread_of_resampled_merits():
    """By simulation: the standard deviation of refitted merits over resampled topics."""
    strata = strata_of(2)
    met, *_rest, topics = strata
    weights = np.random.default_rng(3).multinomial(topics, np.full(topics, 1 / topics), size=2000).astype(float)
    merits = merits_of(strata, weights)
    influences = sparse_bradley_terry.influence(
        met, *sparse_bradley_terry.tally_strata(*strata), merits_of(strata, np.ones((1, topics)))[:, 0]
    )
    spread = np.sqrt(((influences - influences.mean(axis=1, keepdims=True)) ** 2).sum(axis=1))
    assert spread == pytest.approx(merits.std(axis=1), rel=0.1)


def test_influence_on_who_met_nobody_is_not_defined():
    met = sparse_bradley_terry.meetings([0, 0], [1, 1], 3)
    tallies = sparse_bradley_terry.tally_strata(met, [-1.0, 1.0], [1.0, 1.0], [0, 1], 2)
    influences = sparse_bradley_terry.influence(met, *tallies, np.array([1.0, 1.0, np.nan]))
    assert np.isnan(influences[2]).all()
    assert not np.isnan(influences[:2]).any()
