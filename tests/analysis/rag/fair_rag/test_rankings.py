"""Distinct lists, and the choice of some of them: every list as likely as it should be, means without bias."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.rag.fair_rag import query_measures
from analysis.rag.fair_rag.rankings import Lists, choose, distinct, shared
from analysis.ranking.exposure import attributed_disparity

COUNTS = (40, 20, 11, 9, 7, 5, 4, 2, 1, 1)
LISTS = Lists(tuple((i,) for i in range(len(COUNTS))), np.array(COUNTS) / 100)


class Grid:
    """Chance that takes the documents in their order, and starts at a given place."""

    def __init__(self, at: float, order: np.ndarray | None = None) -> None:
        self.at, self.order = at, order

    def permutation(self, items: np.ndarray) -> np.ndarray:
        return items if self.order is None else items[self.order]

    def random(self) -> float:
        return self.at


def test_equal_lists_are_one_and_counted() -> None:
    found = distinct([[3, 1, -1], [1, 3, -1], [3, 1, -1], [2, -1, -1]])
    assert found.items == ((3, 1), (1, 3), (2,))
    assert found.share.tolist() == [0.5, 0.25, 0.25]


@given(st.integers(0, 300), st.lists(st.integers(1, 60), min_size=1, max_size=9))
def test_a_budget_is_spent_and_shared_alike(budget: int, wanted: list[int]) -> None:
    found = shared(budget, wanted)
    assert sum(found) == min(budget, sum(wanted))
    assert all(each <= most for each, most in zip(found, wanted, strict=True))
    short = [each for each, most in zip(found, wanted, strict=True) if each < most]
    assert not short or max(found) - min(short) <= 1


@pytest.mark.parametrize("budget", [1, 2, 3, 5, 9])
def test_each_list_comes_in_with_exactly_its_probability(budget: int) -> None:
    starts = (np.arange(2000) + 0.5) / 2000
    found = np.zeros(len(COUNTS))
    for at in starts:
        chosen = choose(LISTS, budget, Grid(at))  # type: ignore[arg-type]
        assert chosen.index.size == np.unique(chosen.index).size == budget
        assert chosen.weight.sum() == pytest.approx(1.0)
        found[chosen.index] += 1 / starts.size
    wanted = {1: 0.4, 2: 0.8, 3: 1.0, 5: 1.0, 9: 1.0}[budget]  # in proportion to its count, until certain
    assert found[0] == pytest.approx(wanted, abs=1e-3)
    assert found.sum() == pytest.approx(budget)
    if budget <= 2:
        assert found.tolist() == pytest.approx([budget * each / 100 for each in COUNTS], abs=1e-3)


@pytest.mark.extended
@pytest.mark.parametrize("budget", [1, 2, 4, 7])
def test_means_have_no_bias_and_their_error_is_what_they_scatter(budget: int) -> None:
    rng = np.random.default_rng(4)
    values = rng.random(len(COUNTS))
    truth = float(LISTS.share @ values)
    draws = [choose(LISTS, budget, rng) for _ in range(3000)]
    found = [query_measures.sampled_mean(chosen, values[chosen.index]) for chosen in draws]
    means = np.array([each.value for each in found])
    assert abs(means.mean() - truth) < 4 * means.std() / np.sqrt(means.size) + 1e-12
    errors = np.array([each.error for each in found])
    if budget == 1:
        assert np.isnan(errors).all()
    else:
        assert np.sqrt((errors**2).mean()) == pytest.approx(means.std(), rel=0.25)


def test_with_equal_shares_the_error_is_that_of_a_simple_random_sample() -> None:
    lists = Lists(tuple((i,) for i in range(20)), np.full(20, 1 / 20))
    chosen = choose(lists, 8, np.random.default_rng(1))
    values = np.random.default_rng(2).random(8)
    assert query_measures.sampled_mean(chosen, values).error == pytest.approx(
        np.sqrt((1 - 8 / 20) * values.var(ddof=1) / 8)
    )


def test_all_lists_leave_no_error_and_attribution_is_what_the_metric_says() -> None:
    chosen = choose(LISTS, None, np.random.default_rng(0))
    follows = np.random.default_rng(3).random((len(COUNTS), 4)) < 0.6
    found = query_measures.attributed(chosen, follows)
    exposed = LISTS.share @ follows
    assert found.disparity == query_measures.SampledMean(pytest.approx(float(exposed @ exposed)), 0.0)
    for endless in (False, True):
        own = query_measures.attributed(chosen, follows, endless=endless).normalised
        assert own.value == pytest.approx(attributed_disparity(exposed, endless=endless)[0])
        assert own.error == 0.0


@pytest.mark.extended
def test_disparity_of_some_lists_has_little_bias_where_the_plain_square_has_much() -> None:
    rng = np.random.default_rng(5)
    lists = Lists(tuple((i,) for i in range(60)), np.full(60, 1 / 60))
    follows = rng.random((60, 8)) < 0.4
    exposed = lists.share @ follows
    truth = float(exposed @ exposed)
    draws = [choose(lists, 6, rng) for _ in range(3000)]
    found = [query_measures.attributed(chosen, follows[chosen.index]) for chosen in draws]
    plain = np.mean([np.square(chosen.weight @ follows[chosen.index]).sum() for chosen in draws])
    corrected = np.mean([each.disparity.value for each in found])
    assert plain - truth > 0.2
    assert abs(corrected - truth) < 0.03
    scatter = np.std([each.disparity.value for each in found])
    assert np.median([each.disparity.error for each in found]) == pytest.approx(scatter, rel=0.35)


@pytest.mark.parametrize(("follows", "n"), [(np.zeros((10, 3)), 3), (np.ones((10, 1)), 1), (np.ones((10, 3)), 3)])
def test_what_cannot_be_normalised_is_nan_unless_all_follow_alike(follows: np.ndarray, n: int) -> None:
    found = query_measures.attributed(choose(LISTS, None, np.random.default_rng(0)), follows)
    assert np.isnan(found.normalised.value)  # nothing attributed; one document; exposure 3 of 3: both bounds are equal


def test_a_budget_of_nothing_says_the_cure() -> None:
    with pytest.raises(ValueError, match=r"\S"):
        choose(LISTS, 0, np.random.default_rng(0))


def test_every_choice_of_two_of_three_has_its_probability() -> None:
    """All orders and starts, by hand: shares 1/2, 1/3, 1/6 and two places; the first is certain."""
    lists = Lists(((0,), (1,), (2,)), np.array([1 / 2, 1 / 3, 1 / 6]))
    found = {}
    for at, order in product((np.arange(600) + 0.5) / 600, ([0, 1], [1, 0])):
        chosen = choose(lists, 2, Grid(at, np.array(order)))  # type: ignore[arg-type]
        found[chosen.items] = found.get(chosen.items, 0) + 1 / 1200
    assert found == {((0,), (1,)): pytest.approx(2 / 3, abs=2e-3), ((0,), (2,)): pytest.approx(1 / 3, abs=2e-3)}
