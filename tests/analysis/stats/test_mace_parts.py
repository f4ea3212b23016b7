"""MACE by the parts of the judgments that have nothing to do with each other: exact, however little is fitted anew."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from analysis.stats import _mace_problem, mace
from analysis.stats._mace_engine import connected
from analysis.stats.random_streams import _STEP, KeyedRng, mixed
from tests.examples import examples

QUICK = mace.MaceSettings(restarts=3, refine=2, max_iter=30)
Votes = tuple[np.ndarray, np.ndarray, np.ndarray]


def groups(rng, sizes=((5, 4), (6, 5), (3, 3), (4, 2))) -> Votes:
    """A crowd of groups, each of which judges items of its own, two answers in three as is right."""
    parts, first_item, first_annotator = [], 0, 0
    for items, annotators in sizes:
        item, annotator = np.nonzero(rng.random((items, annotators)) < 0.8)
        label = np.where(rng.random(len(item)) < 2 / 3, item % 3, rng.integers(0, 3, len(item)))
        parts.append((item + first_item, annotator + first_annotator, label))
        first_item, first_annotator = first_item + items, first_annotator + annotators
    item, annotator, label = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return item, annotator, label


def fit(votes: Votes, *, keys=None, seed=0, items=18, annotators=14, **options) -> mace.Mace:
    rng = np.random.default_rng(seed)
    how = {"settings": QUICK, "labels": 3} | options
    return mace.fit(*votes, rng=rng, items=items, annotators=annotators, keys=keys, **how)


def without(parameters: mace.MaceParameters, who) -> mace.MaceParameters:
    found = mace.MaceParameters(parameters.spam.copy(), parameters.know.copy(), parameters.strategy.copy())
    found.spam[who] = np.nan
    return found


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 5)), max_size=12))
@settings(max_examples=examples(60), deadline=None)
def test_parts_are_those_of_a_search_from_node_to_node(links):
    item, annotator = (np.array(column, dtype=np.int64) for column in (zip(*links, strict=True) if links else ((), ())))
    found = connected(item, annotator, items=8, annotators=6)
    near = {("i", i): {("a", a) for j, a in links if j == i} for i in range(8)}
    near |= {("a", a): {("i", i) for i, b in links if b == a} for a in range(6)}
    reached: dict[tuple[str, int], int] = {}
    for number, begin in enumerate(near):
        waiting = [begin] if begin not in reached else []
        while waiting:
            node = waiting.pop()
            if node not in reached:
                reached[node] = number
                waiting += near[node]
    ours = {("i", i): int(p) for i, p in enumerate(found.of_item)}
    ours |= {("a", a): int(p) for a, p in enumerate(found.of_annotator)}
    assert {(x, y) for x in ours for y in ours if ours[x] == ours[y]} == {
        (x, y) for x in near for y in near if reached[x] == reached[y]
    }
    assert found.count == len(set(reached.values()))


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=examples(15), deadline=None)
def test_what_is_fitted_anew_beside_what_stands_is_what_fitting_everything_finds_to_the_last_bit(seed):
    rng = np.random.default_rng(seed)
    votes = groups(rng)
    keys = rng.integers(0, 2**63, 14)
    before = fit(votes, keys=keys)
    # Answers of one group change: of annotators 4 to 8.
    label = np.where((votes[1] >= 4) & (votes[1] < 9), rng.integers(0, 3, len(votes[2])), votes[2])
    after = (votes[0], votes[1], label)
    full = fit(after, keys=keys)
    changed = np.unique(votes[1][label != votes[2]])
    updated = fit(after, keys=keys, settled=without(before.parameters, changed))
    for name in ("spam", "know", "strategy"):
        assert getattr(updated.parameters, name).tobytes() == getattr(full.parameters, name).tobytes()
    assert updated.posterior.tobytes() == full.posterior.tobytes()
    assert updated.log_likelihood == pytest.approx(full.log_likelihood, abs=1e-9)
    assert not len(updated.restart_log_likelihoods)


def test_a_newcomer_elsewhere_changes_nothing_of_the_other_parts():
    rng = np.random.default_rng(3)
    votes, keys = groups(rng), rng.integers(0, 2**63, 14)
    before = fit(votes, keys=keys)
    # Somebody comes in the first place of all, and judges the last group's items.
    more = (np.r_[14, 15, votes[0]], np.r_[0, 0, votes[1] + 1], np.r_[1, 2, votes[2]])
    new = np.r_[np.uint64(77), keys.astype(np.uint64)]
    after = fit(more, keys=new, annotators=15)
    assert after.spam_probability[1:13].tobytes() == before.spam_probability[:12].tobytes()
    assert after.posterior[:14].tobytes() == before.posterior[:14].tobytes()
    assert after.spam_probability[13:].tolist() != before.spam_probability[12:].tolist()


@pytest.mark.extended
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 5, 12, 20]))
@settings(max_examples=examples(15), deadline=None)
def test_groups_of_parts_searched_by_themselves_give_the_same_to_the_last_bit(seed, size):
    rng = np.random.default_rng(seed)
    votes, keys = groups(rng), rng.integers(0, 2**63, 14)
    # An item that nobody judged, somebody who judged nothing, and known labels.
    more = {"keys": np.r_[keys, 5], "items": 19, "annotators": 15, "fixed": [2, *[-1] * 17, 0]}
    whole = fit(votes, **more)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_mace_problem, "_GROUP", size)
        grouped = fit(votes, **more)
    for name in ("spam", "know", "strategy"):
        assert getattr(grouped.parameters, name).tobytes() == getattr(whole.parameters, name).tobytes()
    for name in ("posterior", "restart_log_likelihoods", "restart_agreement"):
        assert getattr(grouped, name).tobytes() == getattr(whole, name).tobytes()
    for name in ("log_likelihood", "iterations", "converged"):
        assert getattr(grouped, name) == getattr(whole, name)


def test_the_whole_is_as_likely_as_its_parts_fitted_alone():
    sizes = ((12, 4), (15, 5), (9, 3))
    votes = groups(np.random.default_rng(5), sizes)
    whole = fit(votes, items=36, annotators=12)
    alone = 0.0
    for first, last in ((0, 4), (4, 9), (9, 12)):
        mine = (votes[1] >= first) & (votes[1] < last)
        # The best of as many restarts of its own, which a restart chosen for all parts at once could not be.
        own = tuple(column[mine] for column in votes)
        alone += fit(own, items=36, annotators=12).log_likelihood
    assert whole.log_likelihood == pytest.approx(alone, abs=1e-9)
    assert whole.log_likelihood > whole.restart_log_likelihoods.max()


def test_with_everything_settled_nothing_is_fitted():
    votes = groups(np.random.default_rng(1))
    before = fit(votes)
    again = mace.fit(*votes, labels=3, settled=before.parameters, settings=mace.MaceSettings(restarts=0))
    assert again.posterior.tobytes() == before.posterior.tobytes()
    assert again.log_likelihood == pytest.approx(before.log_likelihood, abs=1e-9)
    assert (again.iterations, again.converged) == (0, True)
    assert np.isnan(again.spread)
    assert np.isnan(again.restart_agreement).all()


def test_dimensions_fitted_together_are_those_fitted_alone_to_the_last_bit():
    """Four: a part to search with three labels in use, and with two; nothing to search; everything; no judgment."""
    whole, given = [], []
    for number in range(4):
        votes = groups(np.random.default_rng(number))
        votes = (*votes[:2], np.minimum(votes[2], 1)) if number == 1 else votes
        before = fit(votes)
        settled = {0: without(before.parameters, [1]), 1: without(before.parameters, [5]), 2: before.parameters}
        given.append({"settled": settled.get(number)})
        whole.append(votes)
    given.append({"settled": without(before.parameters, [2])})
    whole.append(tuple(np.zeros(0, dtype=np.int64) for _ in range(3)))
    item_annotator_label = ("item", "annotator", "label")
    together = mace.fit_together(
        [
            mace.MaceInput(**dict(zip(item_annotator_label, votes, strict=True)), **how, rng=np.random.default_rng(7),
                       items=18, annotators=14, labels=3)
            for votes, how in zip(whole, given, strict=True)
        ],
        settings=QUICK,
    )  # fmt: skip
    assert isinstance(together[4], mace.NoJudgmentsError)
    for votes, how, found in zip(whole[:4], given, together, strict=False):
        alone = fit(votes, seed=7, **how)
        assert isinstance(found, mace.Mace)
        for name in ("spam", "know", "strategy"):
            assert getattr(found.parameters, name).tobytes() == getattr(alone.parameters, name).tobytes()
        assert found.posterior.tobytes() == alone.posterior.tobytes()
        assert (found.log_likelihood, found.iterations) == (alone.log_likelihood, alone.iterations)


def test_a_warm_start_of_the_changed_part_goes_uphill_from_where_it_was():
    rng = np.random.default_rng(9)
    votes = groups(rng, sizes=((30, 6), (30, 6)))
    before = fit(votes, items=60, annotators=12)
    label = votes[2].copy()
    wrong = np.flatnonzero(votes[1] < 6)[:12]
    label[wrong] = (label[wrong] + 1) % 3
    after = (votes[0], votes[1], label)
    warm = mace.fit(*after, labels=3, start=before.parameters, settled=without(before.parameters, np.arange(6)),
                    settings=mace.MaceSettings(restarts=0, max_iter=500))  # fmt: skip
    there = mace.fit(*after, labels=3, settled=before.parameters, settings=mace.MaceSettings(restarts=0))
    assert warm.log_likelihood > there.log_likelihood
    assert warm.spam_probability[6:].tobytes() == before.spam_probability[6:].tobytes()
    assert warm.spam_probability[:6].tolist() != before.spam_probability[:6].tolist()


def test_draws_are_those_of_splitmix64_and_uniform():
    # Published values: https://rosettacode.org/wiki/Pseudo-random_numbers/Splitmix64 (seed 1234567).
    state = np.uint64(1234567) + np.arange(1, 6, dtype=np.uint64) * _STEP
    assert mixed(state).tolist() == [
        6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821,
    ]  # fmt: skip
    draws = KeyedRng(np.arange(50, dtype=np.uint64), np.random.default_rng(0))
    first, second = draws.uniform(40, 5), draws.uniform(40, 5)
    assert kstest(np.r_[first.ravel(), second.ravel()], "uniform").pvalue > 0.01
    assert len(np.unique(np.r_[first.ravel(), second.ravel()])) == 2 * first.size
    assert np.abs(np.corrcoef(first.reshape(-1, 50).T) - np.eye(50)).max() < 0.35
    fewer = KeyedRng(np.arange(50, dtype=np.uint64)[10:20], np.random.default_rng(0))
    assert np.array_equal(fewer.uniform(40, 5), first[:, 10:20])


def test_keys_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"keys.*14"):
        fit(groups(np.random.default_rng(0)), keys=[1, 2])
