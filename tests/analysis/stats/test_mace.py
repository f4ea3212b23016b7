"""MACE: against a textbook loop, against brute force over everything hidden, and on data with known truth."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from analysis.stats import _mace_engine as engine
from analysis.stats import _mace_search, mace
from analysis.stats.judgments import RepeatedJudgmentError
from tests.analysis.stats import textbook_mace
from tests.examples import examples


def random_votes(seed, items=8, annotators=5, labels=3, share=0.6):
    """Judgments in no order: every annotator judges a share of the items."""
    rng = np.random.default_rng(seed)
    item, annotator = np.nonzero(rng.random((items, annotators)) < share)
    order = rng.permutation(len(item))
    return item[order], annotator[order], rng.integers(0, labels, len(item)), rng


def simulated(seed=0, items=400, annotators=40, votes=7):
    """A crowd whose true labels and spamming are known."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, items)
    spam = rng.beta(1.0, 1.2, annotators)
    item = np.repeat(np.arange(items), votes)
    annotator = np.concatenate([rng.choice(annotators, votes, replace=False) for _ in range(items)])
    label = np.where(rng.random(len(item)) < spam[annotator], rng.integers(0, 3, len(item)), truth[item])
    return item, annotator, label, truth, spam


def start_for(annotators, labels, rng):
    spam, know = rng.random((2, annotators))
    strategy = rng.random((annotators, labels))
    return mace.MaceParameters(
        spam / (spam + know), know / (spam + know), strategy / strategy.sum(axis=1, keepdims=True)
    )


def as_dict(item, annotator, label, items):
    votes = {i: [] for i in range(items)}
    for i, a, v in zip(item.tolist(), annotator.tolist(), label.tolist(), strict=True):
        votes[i].append((a, v))
    return votes


@given(st.integers(0, 2**32 - 1), st.integers(0, 12), st.sampled_from([2, 3, 4]), st.booleans())
@settings(max_examples=examples(40), deadline=None)
def test_equals_the_textbook_loop_from_equal_starts(seed, iterations, labels, some_known):
    item, annotator, label, rng = random_votes(seed, labels=labels)
    assume(len(item) and len(np.unique(label)) == labels and np.bincount(item).max() > 1)
    start = start_for(5, labels, rng)
    known = {3: 1, 5: 0} if some_known else {}
    fixed = np.full(8, -1)
    fixed[list(known)] = list(known.values())
    fitted = mace.fit(
        item, annotator, label, items=8, annotators=5, labels=labels, start=start, fixed=fixed,
        settings=mace.MaceSettings(restarts=0, max_iter=iterations, tolerance=0.0),
    )  # fmt: skip
    votes = as_dict(item, annotator, label, 8)
    expected, posteriors, (spam, know, strategy) = textbook_mace.fit(
        votes, start.spam, start.know, start.strategy, labels, iterations, known
    )
    assert fitted.log_likelihood == pytest.approx(expected, abs=1e-9)
    assert fitted.posterior == pytest.approx(np.array([posteriors[i] for i in range(8)]), abs=1e-9)
    assert fitted.spam_probability == pytest.approx(spam, abs=1e-9)
    assert fitted.parameters.know == pytest.approx(know, abs=1e-9)
    assert fitted.parameters.strategy == pytest.approx(np.array(strategy), abs=1e-9)
    assert fitted.iterations == iterations


@pytest.mark.parametrize("seed", range(5))
def test_e_step_against_brute_force(seed):
    """Sum over every true label of every item and every choice of who spams which item."""
    item, annotator, label, rng = random_votes(seed, items=3, annotators=3, labels=2, share=0.7)
    start = start_for(3, 2, rng)
    likelihood, posterior, spammed = 0.0, np.zeros((3, 2)), np.zeros(len(item))
    for truth in itertools.product(range(2), repeat=3):
        for spamming in itertools.product((True, False), repeat=len(item)):
            p = 0.5**3
            for i, a, v, spams in zip(item, annotator, label, spamming, strict=True):
                p *= start.spam[a] * start.strategy[a, v] if spams else start.know[a] * (truth[i] == v)
            likelihood += p
            posterior[range(3), truth] += p
            spammed += p * np.array(spamming)
    votes = engine.Votes(item, annotator, label, shape=(3, 3, 2), fixed=np.full(3, -1))
    state = engine.State(start.spam[:, None], start.know[:, None], start.strategy.T[:, :, None].copy())
    found, log_likelihood, knows = votes.posterior(state)
    assert log_likelihood[0] == pytest.approx(np.log(likelihood), abs=1e-12)
    np.testing.assert_allclose(found[:, :, 0].T, posterior / likelihood, atol=1e-12)
    spam_of_vote = 1 - found[label, item, 0] * knows[label, annotator, 0]
    assert spam_of_vote == pytest.approx(spammed / likelihood, abs=1e-12)


def test_recovers_truth_and_competence():
    item, annotator, label, truth, spam = simulated()
    fitted = mace.fit(item, annotator, label, rng=np.random.default_rng(0))
    # Nearly as many labels are right as if all parameters were known, and more than by plurality.
    votes = engine.Votes(item, annotator, label, shape=(400, 40, 3), fixed=np.full(400, -1))
    known = engine.State(spam[:, None], 1 - spam[:, None], np.full((3, 40, 1), 1 / 3))
    best = (votes.posterior(known)[0][:, :, 0].argmax(axis=0) == truth).mean()
    assert (fitted.posterior.argmax(axis=1) == truth).mean() > best - 0.015
    assert np.corrcoef(fitted.spam_probability, spam)[0, 1] > 0.95
    assert np.abs(fitted.spam_probability - spam).mean() < 0.08
    plurality = np.zeros((len(truth), 3))
    np.add.at(plurality, (item, label), 1)
    assert (fitted.posterior.argmax(axis=1) == truth).mean() > (plurality.argmax(axis=1) == truth).mean()
    assert fitted.competence == pytest.approx(1 - fitted.spam_probability)
    assert fitted.judgments.sum() == len(item)


def test_restarts_are_the_same_in_blocks_and_together(monkeypatch):
    item, annotator, label, *_ = simulated(items=60)
    together = mace.fit(item, annotator, label, rng=np.random.default_rng(1))
    monkeypatch.setattr(_mace_search, "_BLOCK_BYTES", 8 * 3 * 60 * 3)
    blocks = mace.fit(item, annotator, label, rng=np.random.default_rng(1))
    assert blocks.restart_log_likelihoods == pytest.approx(together.restart_log_likelihoods, abs=1e-8)
    assert blocks.restart_agreement == pytest.approx(together.restart_agreement)
    fewer = mace.fit(item, annotator, label, rng=np.random.default_rng(1), settings=mace.MaceSettings(restarts=5))
    assert fewer.restart_log_likelihoods == pytest.approx(together.restart_log_likelihoods[:5], abs=1e-8)


def test_the_best_restart_is_the_result_and_its_spread_is_told():
    item, annotator, label, *_ = simulated(items=60, votes=3)
    fitted = mace.fit(item, annotator, label, rng=np.random.default_rng(1))
    ends = fitted.restart_log_likelihoods
    assert len(ends) == 20
    assert fitted.log_likelihood == ends.max()
    assert fitted.spread == pytest.approx(ends.std(ddof=1))
    assert np.all((fitted.restart_agreement >= 1 / 20) & (fitted.restart_agreement <= 1))
    one = mace.fit(item, annotator, label, rng=np.random.default_rng(1), settings=mace.MaceSettings(restarts=1))
    assert np.isnan(one.spread)


def test_convergence_is_told():
    item, annotator, label, *_ = simulated(items=60)
    short = mace.fit(item, annotator, label, rng=np.random.default_rng(0), settings=mace.MaceSettings(max_iter=2))
    assert (short.converged, short.iterations) == (False, 2)
    long = mace.fit(item, annotator, label, rng=np.random.default_rng(0), settings=mace.MaceSettings(max_iter=5000))
    assert long.converged
    assert long.iterations < 5000
    # Going on from there changes nothing any more.
    more = mace.fit(item, annotator, label, start=long.parameters, settings=mace.MaceSettings(restarts=0, max_iter=50))
    assert more.log_likelihood == pytest.approx(long.log_likelihood, abs=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_refining_is_never_worse(seed):
    item, annotator, label, *_ = simulated(items=80, votes=4, seed=seed)
    plain = mace.fit(item, annotator, label, rng=np.random.default_rng(seed))
    refined = mace.fit(item, annotator, label, rng=np.random.default_rng(seed), settings=mace.MaceSettings(refine=4))
    assert refined.log_likelihood >= plain.log_likelihood
    assert refined.restart_log_likelihoods == pytest.approx(plain.restart_log_likelihoods, abs=1e-9)


def test_known_labels_are_kept_and_help():
    item, annotator, label, truth, spam = simulated(items=120, votes=3)
    fixed = np.where(np.arange(120) < 60, truth, -1)
    fitted = mace.fit(item, annotator, label, rng=np.random.default_rng(0), fixed=fixed)
    assert np.array_equal(fitted.posterior[:60], np.eye(3)[truth[:60]])
    free = mace.fit(item, annotator, label, rng=np.random.default_rng(0))
    assert np.abs(fitted.spam_probability - spam).mean() < np.abs(free.spam_probability - spam).mean()


def test_warm_start_with_new_people_and_a_label_nobody_had_used():
    item, annotator, label, *_ = simulated(items=100)
    early = (annotator < 30) & (label < 2)
    before = mace.fit(item[early], annotator[early], label[early], labels=3, rng=np.random.default_rng(0))
    assert before.parameters.strategy[:, 2].tolist() == [0] * 30
    after = mace.fit(
        item, annotator, label, start=before.parameters, settings=mace.MaceSettings(restarts=0, max_iter=300)
    )
    full = mace.fit(item, annotator, label, rng=np.random.default_rng(0))
    assert (after.posterior.argmax(axis=1) == full.posterior.argmax(axis=1)).mean() > 0.97
    with pytest.raises(ValueError, match="start"):
        mace.fit(item[early], annotator[early], label[early], start=after.parameters)


def test_unused_labels_and_items_without_judgments():
    item, annotator, label = np.array([0, 0, 1, 1, 1]), np.array([0, 1, 0, 1, 2]), np.array([0, 0, 2, 2, 0])
    fitted = mace.fit(item, annotator, label, items=3, annotators=4, rng=np.random.default_rng(0))
    assert fitted.posterior[:, 1].tolist() == [0, 0, 0]
    assert fitted.posterior[2].tolist() == [0.5, 0, 0.5]
    assert fitted.entropy[2] == pytest.approx(np.log(2))
    assert np.all(fitted.entropy >= 0)
    assert fitted.judgments.tolist() == [2, 2, 1, 0]
    assert np.isfinite(fitted.spam_probability[3])
    two = mace.fit(item, annotator, label // 2, items=3, annotators=4, rng=np.random.default_rng(0))
    assert two.log_likelihood == pytest.approx(fitted.log_likelihood)


def test_many_votes_of_an_item_do_not_underflow():
    annotator = np.tile(np.arange(3000), 2)
    item = np.repeat([0, 1], 3000)
    label = np.where(np.arange(6000) % 3 > 0, item, 1 - item)
    fitted = mace.fit(item, annotator, label, rng=np.random.default_rng(0), settings=mace.MaceSettings(restarts=2))
    assert np.isfinite(fitted.log_likelihood)
    assert fitted.posterior.max(axis=1) == pytest.approx([1, 1])


def test_hopeless_judgments_get_named_errors():
    rng = np.random.default_rng(0)
    with pytest.raises(mace.NoJudgmentsError):
        mace.fit([], [], [], rng=rng)
    with pytest.raises(mace.NoJudgmentsError):
        mace.fit([0], [0], [-1], rng=rng)
    with pytest.raises(mace.SingleLabelError):
        mace.fit([0, 0], [0, 1], [1, 1], rng=rng)
    with pytest.raises(mace.NoOverlapError):
        mace.fit([0, 1], [0, 1], [0, 1], rng=rng)
    with pytest.raises(RepeatedJudgmentError):
        mace.fit([0, 0], [1, 1], [0, 1], rng=rng)
    # A known item makes up for missing overlap.
    assert mace.fit([0, 1], [0, 1], [0, 1], fixed=[0, -1], rng=rng).posterior[0].tolist() == [1, 0]


def test_bad_requests_are_refused():
    votes = ([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 0, 0])
    with pytest.raises(ValueError, match="rng"):
        mace.fit(*votes)
    with pytest.raises(ValueError, match=r"\S"):
        mace.fit(*votes, settings=mace.MaceSettings(restarts=0))
    with pytest.raises(ValueError, match="fixed"):
        mace.fit(*votes, fixed=[5, -1], rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match="fixed"):
        mace.fit(*votes, fixed=[0], rng=np.random.default_rng(0))
