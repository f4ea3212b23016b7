"""Labels: rules checked by hand and against plain loops."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.stats import labels


def test_gold_and_ties():
    posterior = [[0.2, 0.5, 0.3], [0.4, 0.4, 0.2], [0.2, 0.4, 0.4], [1 / 3] * 3, [np.nan] * 3]
    # Exactly equal probabilities: a before b before n.
    assert labels.gold(posterior).tolist() == [1, 0, 2, 0, -1]
    assert labels.tied(posterior).tolist() == [False, True, True, True, False]
    with pytest.raises(ValueError, match=r"\S"):
        labels.gold([[0.5, 0.5]])


@given(st.lists(st.integers(0, 4)), st.integers(1, 4))
def test_first_votes_against_a_loop(items, k):
    seen = Counter()
    expected = []
    for item in items:
        expected.append(seen[item] < k)
        seen[item] += 1
    assert labels.first_votes(np.array(items, dtype=int), k).tolist() == expected


def test_first_votes_needs_one():
    with pytest.raises(ValueError, match=r"\S"):
        labels.first_votes([0], 0)


def test_majority_is_more_than_half():
    counts = [[3, 1, 1], [2, 2, 1], [2, 2, 0], [5, 5, 0], [6, 2, 2], [1, 0, 0], [0, 0, 0]]
    assert labels.majority(counts).tolist() == [True, False, False, False, True, True, False]


@pytest.mark.parametrize(("dimensions", "needed"), [(7, 5), (1, 1), (2, 2), (3, 2), (14, 9)])
def test_differentiable_needs_more_than_four_sevenths(dimensions, needed):
    clear, split = [3, 1, 1], [2, 2, 1]
    pairs = [[clear] * n + [split] * (dimensions - n) for n in range(dimensions + 1)]
    assert labels.differentiable(pairs).tolist() == [n >= needed for n in range(dimensions + 1)]


def test_differentiable_refuses_other_shapes():
    with pytest.raises(ValueError, match=r"\S"):
        labels.differentiable([[3, 1, 1]])


def test_competent_keeps_the_limit_itself():
    assert labels.competent([0.69, 0.7, 0.7000001]).tolist() == [True, True, False]
    with pytest.raises(ValueError, match="NaN"):
        labels.competent([np.nan])


def test_without_least_competent_by_hand():
    # Eight annotators: the two least competent, 6 and 7, leave, but item 0 keeps three judgments: 6's is its third.
    item = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1])
    who = np.array([7, 6, 0, 1, 2, 3, 4, 5, 7])
    spam = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 0.9])
    assert labels.without_least_competent(item, who, spam).tolist() == [False, True] + [True] * 6 + [False]
    with pytest.raises(ValueError, match="share"):
        labels.without_least_competent(item, who, spam, share=2)


@given(st.integers(0, 2**32 - 1), st.floats(0, 1), st.integers(0, 4))
def test_without_least_competent_keeps_enough(seed, share, keep):
    rng = np.random.default_rng(seed)
    item, who = np.divmod(rng.choice(60, size=40, replace=False), 10)
    spam = rng.random(10)
    stays = labels.without_least_competent(item, who, spam, share=share, keep=keep)
    before, after = np.bincount(item, minlength=6), np.bincount(item[stays], minlength=6)
    assert np.all(after >= np.minimum(before, keep))
    present = np.unique(who)
    out = present[np.argsort(spam[present])][len(present) - int(share * len(present)) :]
    assert set(who[~stays]) <= set(out)
    # Whoever is out stays only where an item would keep too few.
    assert np.all(after[item[stays & np.isin(who, out)]] <= keep)
