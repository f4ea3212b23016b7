"""Expected exposure: against enumeration of all rankings, by hand, and within bounds that are reached."""

from functools import cache
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.ranking.exposure import (
    attributed_disparity,
    between,
    disparity_bounds,
    exposure,
    measure,
    relevance_bounds,
    target,
)
from analysis.ranking.plackett_luce import exact_exposure, log_probability, logits, sample
from tests.examples import examples

SIZES = [(n, m, k) for n, m, k in product(range(1, 7), range(7), range(1, 7)) if m <= n]


@cache
def ideal(n: int, m: int, k: int) -> np.ndarray:
    """Mean exposure over every ranking that has the useful items, which are the first m, above the others."""
    cut, found, count = min(k, n), np.zeros(n), 0
    for ranking in permutations(range(n)):
        if all(item < m for item in ranking[:m]):
            found[list(ranking[:cut])] += 1
            count += 1
    return found / count


def test_the_target_is_what_ideal_rankings_give() -> None:
    small = [size for size in SIZES if size[0] <= 5]
    wrong = [(n, m, k) for n, m, k in small if not np.allclose(target(np.arange(n) < m, k), ideal(n, m, k))]
    assert not wrong


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.floats(0, 10), min_size=2, max_size=6), st.data())
def test_measures_equal_exact_enumeration_of_all_rankings(scores: list[float], data: st.DataObject) -> None:
    n = len(scores)
    k, alpha = data.draw(st.integers(1, n)), data.draw(st.sampled_from([1.0, 2.0, 4.0]))
    useful = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    given_logits = logits(scores, alpha)
    weights = {each: np.exp(log_probability(given_logits, each)) for each in permutations(range(n))}
    shown = np.array([sum(p for each, p in weights.items() if item in each[:k]) for item in range(n)])
    assert exact_exposure(given_logits, k).tolist() == pytest.approx(shown.tolist(), abs=1e-9)
    found = measure(exact_exposure(given_logits, k), useful, k, bounds="definition")
    m = int(useful.sum())
    wanted = ideal(n, m, k)[np.argsort(np.argsort(~useful, kind="stable"), kind="stable")]
    assert found.disparity[0] == pytest.approx((shown**2).sum(), abs=1e-9)
    assert found.relevance[0] == pytest.approx((shown * wanted).sum(), abs=1e-9)
    assert found.distance[0] == pytest.approx(((shown - wanted) ** 2).sum(), abs=1e-9)


def test_exposure_is_counted_as_a_loop_counts_it() -> None:
    rng = np.random.default_rng(5)
    drawn = sample(logits(rng.normal(size=(4, 12)), 1), samples=30, k=5, rng=rng)
    counted = rng.random(drawn.shape) < 0.4
    shown, attributed = exposure(drawn, 12), exposure(drawn, 12, counted=counted)
    for query, item in product(range(4), range(12)):
        held = [any(place == item for place in ranking) for ranking in drawn[query]]
        assert shown[query, item] == pytest.approx(np.mean(held), abs=1e-12)
        said = [((ranking == item) & keep).any() for ranking, keep in zip(drawn[query], counted[query], strict=True)]
        assert attributed[query, item] == pytest.approx(np.mean(said), abs=1e-12)
    assert shown.sum(axis=1).tolist() == pytest.approx([5.0] * 4)


def test_bounds_hold_and_the_tight_ones_are_reached() -> None:
    for n, m, k in (size for size in SIZES if size[2] <= size[0]):
        # Whatever a ranker shows of k places lies between the rankings that show k items always.
        corners = np.array([np.isin(np.arange(n), shown) for shown in combinations(range(n), k)], dtype=float)
        products = corners @ target(np.arange(n) < m, k)
        low, high = relevance_bounds(m, n, k, kind="tight")
        assert (float(low), float(high)) == pytest.approx((products.min(), products.max())), (n, m, k)
        loose = relevance_bounds(m, n, k, kind="definition")
        assert loose[0] <= products.min() + 1e-9, (n, m, k)
        assert float(loose[1]) == pytest.approx(products.max()), (n, m, k)
        least, most = disparity_bounds(n, k)
        assert float(most) == pytest.approx((corners**2).sum(axis=1).max()), (n, k)
        assert float(least) == pytest.approx(n * (k / n) ** 2), (n, k)


def test_normalised_values_by_hand() -> None:
    useful = [True, True, False, False]
    # Always the same two, of which one is useful: as unfair as can be; half of the best relevance.
    found = measure(exposure([[[0, 2]] * 10], 4), [useful], 2)
    assert (found.disparity[0], found.relevance[0], found.distance[0]) == (2.0, 1.0, 2.0)
    assert (found.disparity_normalised[0], found.relevance_normalised[0]) == (1.0, 0.5)
    # Every item as often as the others: as fair as can be.
    found = measure([[0.5] * 4], [useful], 2, bounds="definition")
    assert (found.disparity_normalised[0], found.relevance_normalised[0]) == (0.0, 0.5)
    # In an endless collection nothing is as fair as that.
    for endless in ("published", "infinite"):
        found = measure([[0.5] * 4], [useful], 2, bounds=endless)  # type: ignore[arg-type]
        assert found.disparity_normalised[0] == 0.5
    # One useful item of four, three shown, always the useful one: the target of the others counts, or does not.
    shown, useful = [[1.0, 1.0, 1.0, 0.0]], [True, False, False, False]
    wanted = {"published": 1 / (1 + 4 / 3), "definition": 1.0, "infinite": 1.0, "tight": 1.0}
    for kind, value in wanted.items():
        assert measure(shown, [useful], 3, bounds=kind).relevance_normalised[0] == pytest.approx(value)  # type: ignore[arg-type]


def authors_code(shown: dict[int, float], useful: set[int], n: int, k: int) -> tuple[float, float]:
    """Normalised EE-D and EE-R, as the code that the authors published computes them: item by item, over useful ones.

    It knows targets of useful items alone, takes the collection as infinite for EE-D, and its true size for EE-R.
    """
    m = len(useful)
    each_target = 1.0 if m <= k else k / m
    aligned = sum(each_target * share for item, share in shown.items() if item in useful)
    greatest = m + (k - m) ** 2 / (n - m) if m <= k else k**2 / m
    return sum(share * share for share in shown.values()) / k, aligned / greatest


def test_published_equals_the_authors_code() -> None:
    """1,000 random cases: any m, k below and above it, and more places than items."""
    rng = np.random.default_rng(16)
    few = 0
    for _ in range(1000):
        n, k = int(rng.integers(2, 60)), int(rng.integers(1, 13))
        m = int(rng.integers(1, n))  # of none and of all useful items it divides by 0
        useful = rng.permutation(n)[:m]
        drawn = sample(logits(rng.normal(size=n), float(rng.choice([1, 2, 4, 8]))), samples=20, k=k, rng=rng)
        shown = exposure(drawn, n)
        found = measure([shown], [np.isin(np.arange(n), useful)], k, bounds="published")
        disparity, relevance = authors_code(dict(enumerate(shown.tolist())), set(useful.tolist()), n, k)
        assert found.disparity_normalised[0] == pytest.approx(disparity, abs=1e-6)
        assert found.relevance_normalised[0] == pytest.approx(relevance, abs=1e-6)
        few += m < k
    assert few > 100


def test_no_ranker_passes_the_greatest_relevance() -> None:
    """The best ranking there is, at every kind of bounds: 1 at most, and 1 where the definition says so."""
    for n, m, k in SIZES:
        shown = (np.arange(n) < min(k, n)).astype(float)  # the useful items come first
        useful = np.arange(n) < m
        for kind in ("published", "definition", "infinite", "tight"):
            found = measure([shown], [useful], k, bounds=kind)  # type: ignore[arg-type]
            value = found.relevance_normalised[0]
            assert np.isnan(value) or value <= 1.0, (n, m, k, kind)
            if kind == "definition":
                assert value == pytest.approx(1.0), (n, m, k)


@pytest.mark.parametrize(
    ("useful", "k", "disparity", "relevance"),
    [
        ([False, False, False], 2, 1.0, np.nan),  # m = 0: every ranking is as good, so relevance says nothing
        ([True, True, True], 2, 1.0, np.nan),  # m = n, likewise
        ([True, False, False], 3, np.nan, np.nan),  # all are read: rankings do not matter
        ([True, False, False], 9, np.nan, np.nan),  # k > n is k = n
    ],
)
def test_edges(useful: list[bool], k: int, disparity: float, relevance: float) -> None:
    shown = np.zeros((1, 3))
    shown[0, : min(k, 3)] = 1
    found = measure(shown, [useful], k, bounds="tight")
    assert found.disparity_normalised[0] == pytest.approx(disparity, nan_ok=True)
    assert found.relevance_normalised[0] == pytest.approx(relevance, nan_ok=True)


def test_queries_with_fewer_items_count_their_own() -> None:
    present = np.array([[True, True, True, False]])
    padded = measure([[1.0, 0.5, 0.5, 0.0]], [[True, False, False, True]], 2, present=present)
    alone = measure([[1.0, 0.5, 0.5]], [[True, False, False]], 2)
    for name in ("disparity", "relevance", "distance", "disparity_normalised", "relevance_normalised"):
        assert getattr(padded, name)[0] == pytest.approx(getattr(alone, name)[0])


def test_attributed_disparity_lies_between_all_alike_and_always_the_same() -> None:
    assert attributed_disparity([[0.5, 0.5, 0.5, 0.5]])[0] == 0.0
    assert attributed_disparity([[1.0, 0.0, 0.0, 1.0]])[0] == 1.0
    assert np.isnan(attributed_disparity([[0.0, 0.0]])[0])  # nothing was attributed
    # By hand: s = 0.9, squared norm 0.45, bounds 0.27 and 0.9.
    assert attributed_disparity([[0.6, 0.3, 0.0]])[0] == pytest.approx((0.45 - 0.27) / (0.9 - 0.27))


def test_rounding_does_not_leave_the_bounds() -> None:
    assert between(1.0 + 1e-15, 0.0, 1.0) == 1.0
    assert between(-1e-15, 0.0, 1.0) == 0.0


@pytest.mark.parametrize(
    "act",
    [
        lambda: exposure([[[0, 5]]], 3),
        lambda: exposure([[[0, 1]]], 3, counted=[[[True]]]),
        lambda: target([True, False], 0),
        lambda: target([True, False], 1, present=[True]),
    ],
)
def test_bad_input_is_refused(act: Any) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        act()
