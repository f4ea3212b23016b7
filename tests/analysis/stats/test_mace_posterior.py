"""The posterior of MACE: against going through all labels and parameters, and on simulated crowds."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import roots_jacobi

from analysis.stats import _mace_chains, _mace_engine, mace
from analysis.stats.mace_posterior import AveragedPosterior, Effort, sample

#: Of the exact posterior, with this many draws and more sweeps, no probability is this far off.
EFFORT, NEAR = Effort(chains=2048), 0.02


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
            for i, a, said in zip(item, annotator, label, strict=True):
                if a == who:
                    inside *= e[:, None] * (s if said else 1 - s) + (1 - e[:, None]) * (said == truth[i])
            weight *= we @ inside @ ws
        total += weight
        ones += weight * np.array(truth)
    return ones / total


SMALL = {
    "item": np.repeat(np.arange(5), 3),
    "annotator": np.tile(np.arange(3), 5),
    "label": np.array([0, 0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0]),
}


@pytest.mark.parametrize("most_votes", [_mace_engine.MOST, 4, 0], ids=["all tabled", "none", "no table at all"])
def test_posterior_is_the_sum_over_all_labels_and_parameters(most_votes, monkeypatch):
    """Whether all that is said of a judge stands in a table, or their parameters are drawn."""
    monkeypatch.setattr(_mace_engine, "MOST", most_votes)
    truth = exact(**SMALL, items=5, annotators=3, strategy_prior=10.0)
    found = sample(*SMALL.values(), rng=np.random.default_rng(0), effort=EFFORT)
    assert found.posterior[:, 1] == pytest.approx(truth, abs=NEAR)
    assert found.label.mean(axis=1) == pytest.approx(truth, abs=2 * NEAR)
    assert 0 < found.error < NEAR


def test_tables_are_the_sum_over_which_votes_were_knowledge():
    counts, matched = (2, 1), (1, 1)
    x, w = roots_jacobi(24, -0.5, -0.5)
    e, we = (x + 1) / 2, w / w.sum()
    y, v = roots_jacobi(24, 9.0, 9.0)
    s, ws = (y + 1) / 2, v / v.sum()

    def likelihood(true):
        inside = np.ones((len(e), len(s)))
        for label, share in enumerate((s, 1 - s)):
            spammed = e[:, None] * share
            inside *= (spammed + 1 - e[:, None]) ** true[label] * spammed ** (counts[label] - true[label])
        return inside

    found = _mace_engine.table(counts, (0.5, 0.5), 10.0)
    here, more = (np.dot(true, found.strides) for true in (matched, (2, 1)))
    whole = we @ likelihood(matched) @ ws
    assert found.spam[here] == pytest.approx((we * e) @ likelihood(matched) @ ws / whole)
    assert found.log_likelihood[more] - found.log_likelihood[here] == pytest.approx(
        np.log(we @ likelihood((2, 1)) @ ws / whole)
    )
    assert found.gain[0, here] == pytest.approx(found.log_likelihood[more] - found.log_likelihood[here], rel=1e-5)


def crowd(rng, topics=40):
    """Five people each judge fifteen items of three labels; spam probabilities as U-shaped as the prior."""
    item = np.arange(topics * 15).repeat(5)
    annotator = item // 15 * 5 + np.tile(np.arange(5), topics * 15)
    truth = rng.integers(3, size=topics * 15)
    spam = rng.beta(0.5, 0.5, size=topics * 5)
    strategy = rng.dirichlet([10.0] * 3, size=topics * 5)
    guess = (rng.random((len(item), 1)) > np.cumsum(strategy, axis=1)[annotator][:, :2]).sum(axis=1)
    return item, annotator, np.where(rng.random(len(item)) < spam[annotator], guess, truth[item]), truth, spam


@pytest.mark.extended
def test_labels_are_as_probable_as_they_are_right_and_a_single_optimum_says_too_much():
    item, annotator, label, truth, spam = crowd(np.random.default_rng(1))
    averaged = sample(item, annotator, label, rng=np.random.default_rng(2), effort=Effort(chains=64))
    fitted = mace.fit(item, annotator, label, rng=np.random.default_rng(2), settings=mace.MaceSettings(refine=2))
    sure, said = (each.posterior.max(axis=1).mean() for each in (averaged, fitted))
    right, hit = ((each.posterior.argmax(axis=1) == truth).mean() for each in (averaged, fitted))
    assert sure == pytest.approx(right, abs=0.03)
    assert said > hit + 0.03
    loss, worse = (
        -np.log(np.clip(each.posterior[np.arange(len(truth)), truth], 1e-6, 1)).mean() for each in (averaged, fitted)
    )
    assert loss < worse
    apart, wrong = (np.sqrt(((each.spam_probability - spam) ** 2).mean()) for each in (averaged, fitted))
    assert apart < wrong


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


@pytest.mark.extended
def test_other_seeds_differ_by_the_error_that_is_said():
    item, annotator, label, _truth, _spam = crowd(np.random.default_rng(3), topics=12)
    found = [
        sample(item, annotator, label, rng=np.random.default_rng(seed), effort=Effort(chains=64)) for seed in range(6)
    ]
    apart = np.sqrt(np.var([each.posterior for each in found], axis=0, ddof=1).mean())
    assert np.sqrt(np.mean([each.error**2 for each in found])) == pytest.approx(apart, rel=0.25)
    assert apart < 0.02


def test_what_stands_is_kept_and_the_rest_is_as_sampling_everything_has_it():
    item, annotator, label, _truth, _spam = crowd(np.random.default_rng(4), topics=6)
    keys = np.arange(30) + 7
    how = {"keys": keys, "effort": Effort(chains=64), "items": 90, "annotators": 30}

    def drawn(votes, earlier=None):
        columns = (column[votes] for column in (item, annotator, label))
        return sample(*columns, rng=np.random.default_rng(0), earlier=earlier, **how)

    everything = np.ones(len(item), dtype=bool)
    before = drawn(np.arange(len(item)) > 3)
    touched = annotator < 5
    posterior, spam = before.posterior.copy(), before.spam_probability.copy()
    posterior[np.unique(item[touched])], spam[:5] = np.nan, np.nan
    # What is kept is taken as it stands.
    marked = before.label.copy()
    marked[-1] = 3
    earlier = AveragedPosterior(posterior, spam, marked, before.error)
    found, whole = drawn(everything, earlier), drawn(everything)
    assert np.array_equal(found.posterior, whole.posterior)
    assert np.array_equal(found.spam_probability, whole.spam_probability)
    assert np.array_equal(found.label[:-1], whole.label[:-1])
    assert (found.label[-1] == 3).all()
    assert not np.array_equal(before.label[:15], whole.label[:15])


def test_parts_that_nothing_links_do_not_feel_each_other():
    """Each part has its own power, chains and chance, though all are drawn beside each other."""
    item, annotator, label, _truth, _spam = crowd(np.random.default_rng(7), topics=4)
    annotator[annotator == 15] = 10  # the last two topics share a judge, so that this part is larger
    large = annotator >= 10

    def drawn(votes):
        columns = (column[votes] for column in (item, annotator, label))
        return sample(*columns, rng=np.random.default_rng(0), items=60, annotators=20, effort=Effort(chains=64))

    whole, alone = drawn(large | ~large), drawn(~large)
    assert np.array_equal(whole.label[:30], alone.label[:30])
    assert np.array_equal(whole.posterior[:30], alone.posterior[:30])
    assert not np.array_equal(whole.label[30:], alone.label[30:])


def test_larger_studies_take_fewer_chains_so_that_ten_million_judgments_take_hours():
    efforts = [Effort.of(judgments) for judgments in (1, 100, 4_290, 6_760, 100_000, 1_430_000, 10_000_000)]
    chains = [each.chains for each in efforts]
    assert chains == sorted(chains, reverse=True)
    assert all(each % efforts[0].populations == 0 for each in chains)
    work = [n * each for n, each in zip((4_290, 6_760, 100_000), chains[2:], strict=False)]
    assert max(work) < 10_000_000


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 12))
def test_items_drawn_at_once_share_no_judge(seed, items, people):
    rng = np.random.default_rng(seed)
    unit, judge = np.nonzero(rng.random((items, people)) < rng.random())
    colour = _mace_chains.colour_items(unit, judge, items)
    seen = {*zip(colour[unit].tolist(), judge.tolist(), strict=True)}
    assert len(seen) == len(unit)
    assert set(colour.tolist()) == set(range(colour.max() + 1))


@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(1, 4), st.integers(1, 40))
def test_chains_go_on_as_often_as_their_weights_ask(seed, parts, populations, chains):
    """Systematic resampling: the share of all, rounded down or up; and none leaves its population."""
    rng = np.random.default_rng(seed)
    weight = rng.normal(scale=5, size=(parts, populations, chains))
    chosen = _mace_chains.resample_chains(weight, rng.random((parts, populations)))
    share = np.exp(weight) / np.exp(weight).sum(axis=2, keepdims=True) * chains
    assert chosen.shape == (parts, populations * chains)
    for part, population in product(range(parts), range(populations)):
        mine = chosen[part, population * chains : (population + 1) * chains]
        times = np.bincount(mine - population * chains, minlength=chains)
        assert len(times) == chains
        assert np.abs(times - share[part, population]).max() < 1 + 1e-9


def test_what_cannot_be_fitted_cannot_be_averaged():
    with pytest.raises(mace.NoOverlapError):
        sample([0, 1], [0, 1], [0, 1], rng=np.random.default_rng(0))


def test_the_order_of_judgments_does_not_matter():
    item, annotator, label, _truth, _spam = crowd(np.random.default_rng(5), topics=2)
    order = np.random.default_rng(6).permutation(len(item))
    one = sample(item, annotator, label, rng=np.random.default_rng(0), effort=EFFORT)
    other = sample(item[order], annotator[order], label[order], rng=np.random.default_rng(0), effort=EFFORT)
    assert np.array_equal(one.label, other.label)
