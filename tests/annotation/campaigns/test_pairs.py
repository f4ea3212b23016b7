"""Drawing: which pairs, in which orders and sides, in which questionnaires. On random corpora, and by hand."""

from collections import Counter, defaultdict
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.campaign_types.drawn_items import DrawnItem, ResponseText
from annotation.campaigns import allocation, side_balance
from annotation.campaigns import pairs as campaigns_pairs
from annotation.campaigns.allocation import CannotSeparate
from tests.examples import examples

ORIGINS = ("HUMAN", "MODEL", "SYSTEM")
quick = settings(max_examples=examples(15), deadline=None)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@st.composite
def corpora(draw: st.DrawFn, most_topics: int = 12) -> list[ResponseText]:
    """Texts of some topics, each with up to seven, by whoever, short and long."""
    texts = []
    for topic in range(draw(st.integers(1, most_topics))):
        for _ in range(draw(st.integers(0, 7))):
            origin, words = draw(st.sampled_from(ORIGINS)), draw(st.integers(1, 600))
            texts.append(ResponseText(len(texts), topic, origin, words))
    return texts


def shown(texts: list[ResponseText], share: float, seed: int) -> list[DrawnItem]:
    """What a campaign shows, put together as the builder does."""
    pairs = campaigns_pairs.pairs(texts, per_topic=None, rng=rng(seed))
    twice = set(campaigns_pairs.both_orders(pairs, campaigns_pairs.reversed_count(len(pairs), share), rng=rng(seed)))
    once = side_balance.balance_sides([each for place, each in enumerate(pairs) if place not in twice], rng=rng(seed))
    return [*once, *(each for place in sorted(twice) for each in (pairs[place], pairs[place].reverse))]


@pytest.mark.parametrize("n", range(2, 12))
def test_a_schedule_has_every_game_once_and_all_play_alike(n: int) -> None:
    games = campaigns_pairs.schedule(n)
    assert sorted(tuple(sorted(game)) for game in games) == list(combinations(range(n), 2))
    played = Counter[int]()
    for game in games:
        played.update(game)
        assert max(played[player] for player in range(n)) - min(played[player] for player in range(n)) <= 1


@quick
@given(corpora(), st.integers(1, 25), st.integers(0, 99))
def test_a_sample_of_pairs_uses_all_texts_alike(texts: list[ResponseText], per_topic: int, seed: int) -> None:
    found = campaigns_pairs.pairs(texts, per_topic=per_topic, rng=rng(seed))
    by_topic = defaultdict(list)
    for text in texts:
        by_topic[text.topic].append(text.key)
    assert len({each.both for each in found}) == len(found)
    for topic, keys in by_topic.items():
        of = [each.both for each in found if each.topic == topic]
        assert len(of) == min(per_topic, len(keys) * (len(keys) - 1) // 2)
        used = Counter(key for both in of for key in both)
        assert max(used[key] for key in keys) - min(used[key] for key in keys) <= 1
        assert set(used) <= set(keys)


@pytest.mark.parametrize(
    ("total", "share", "fill_to", "count"),
    [
        (975, 1 / 3, None, 325),
        (975, 1 / 3, 15, 330),
        (10, 0, None, 0),
        (10, 1, None, 10),
        (0, 0.5, 15, 0),
        (3, 1, 15, 3),
    ],
)
def test_how_many_are_reversed(total: int, share: float, fill_to: int | None, count: int) -> None:
    assert campaigns_pairs.reversed_count(total, share, fill_to=fill_to) == count


@quick
@given(st.integers(0, 200), st.integers(0, 200), st.integers(0, 99))
def test_systematic_draws_are_exact_and_even(total: int, n: int, seed: int) -> None:
    n = min(n, total)
    found = campaigns_pairs.systematic(total, n, rng=rng(seed))
    assert len(found) == len(set(found)) == n
    taken = np.zeros(total)
    taken[found] = 1
    sums = np.concatenate([[0], taken.cumsum()])
    for low in range(0, total, 7):
        for high in range(low, total + 1, 5):
            assert abs(sums[high] - sums[low] - n * (high - low) / total) < 1


@quick
@given(corpora(), st.floats(0, 1), st.integers(0, 99))
def test_reversed_pairs_are_stratified_by_origins_and_length(
    texts: list[ResponseText], share: float, seed: int
) -> None:
    pairs = campaigns_pairs.pairs(texts, per_topic=None, rng=rng(seed))
    n = campaigns_pairs.reversed_count(len(pairs), share)
    chosen = set(campaigns_pairs.both_orders(pairs, n, rng=rng(seed)))
    assert len(chosen) == n
    for combination in {each.combination for each in pairs}:
        of = sorted(
            (each.words, place in chosen) for place, each in enumerate(pairs) if each.combination == combination
        )
        lengths = sorted({words for words, _chosen in of})
        for low in lengths:
            # All pairs of one length or more: a contiguous range, whatever ties there are.
            part = [is_chosen for words, is_chosen in of if words >= low]
            assert abs(sum(part) - n * len(part) / len(pairs)) < 1


@quick
@given(corpora(), st.integers(0, 99))
def test_sides_are_balanced_for_each_text_and_each_origin(texts: list[ResponseText], seed: int) -> None:
    pairs = campaigns_pairs.pairs(texts, per_topic=None, rng=rng(seed))
    found = side_balance.balance_sides(pairs, rng=rng(seed))
    assert [each.both for each in found] == [each.both for each in pairs]
    of_text, of_origin = Counter[int](), Counter[str]()
    for each in found:
        assert each.b is not None
        of_text.update({each.a.key: 1})
        of_text.subtract({each.b.key: 1})
        of_origin.update({each.a.origin: 1})
        of_origin.subtract({each.b.origin: 1})
    assert all(abs(lean) <= 1 for lean in of_text.values())
    assert all(abs(lean) <= 1 for lean in of_origin.values())


@quick
@given(st.integers(0, 500), st.integers(1, 40))
def test_sizes(total: int, most: int) -> None:
    even = allocation.sizes(total, most)
    short = allocation.sizes(total, most, remainder=allocation.SHORT)
    for found in (even, short):
        assert sum(found) == total
        assert len(found) == -(-total // most)
        assert all(0 < size <= most for size in found)
    assert max(even, default=0) - min(even, default=0) <= 1
    assert all(size == most for size in short[:-1])


@quick
@given(st.integers(0, 60), st.integers(0, 60), st.integers(1, 40), st.sampled_from([allocation.EVEN, allocation.SHORT]))
def test_sizes_leave_room_for_both_orders_in_different_questionnaires(
    twice: int, once: int, most: int, remainder: str
) -> None:
    total = 2 * twice + once
    found = allocation.sizes(total, most, remainder=remainder, twice=twice)
    assert sum(found) == total
    assert all(0 < size <= most for size in found)
    assert allocation.can_separate(found, twice)
    if len(found) <= 2:  # by hand: no half of a pair can be left over
        assert not twice or min(found) >= twice


def holds_everything_once_and_orders_apart(
    texts: list[ResponseText], share: float, most: int, remainder: str, seed: int
) -> None:
    drawn = shown(texts, share, seed)
    twice = len(drawn) - len({each.both for each in drawn})
    sizes = allocation.sizes(len(drawn), most, remainder=remainder, twice=twice)
    packed = allocation.pack(drawn, sizes, rng=rng(seed))
    assert sorted(place for held in packed for place in held) == list(range(len(drawn)))
    assert [len(held) for held in packed] == sizes
    for held in packed:
        assert len({drawn[place].both for place in held}) == len(held)
    assert allocation.pack(drawn, sizes, rng=rng(seed)) == packed


drawn_at_random = given(
    corpora(), st.floats(0, 1), st.integers(2, 15), st.sampled_from(["even", "short"]), st.integers(0, 99)
)
test_packing = quick(drawn_at_random(holds_everything_once_and_orders_apart))
test_packing_of_many = pytest.mark.soak(
    pytest.mark.timeout(1800)(
        settings(max_examples=3000, deadline=None)(drawn_at_random(holds_everything_once_and_orders_apart))
    )
)


@settings(max_examples=examples(6), deadline=None)
@given(st.integers(15, 30), st.integers(0, 99))
def test_with_enough_topics_none_comes_twice_and_all_are_equally_long(topics: int, seed: int) -> None:
    random = rng(seed)
    texts = [
        ResponseText(6 * topic + n, topic, ORIGINS[n % 2], int(np.clip(random.normal(250, 60), 40, 600)))
        for topic in range(topics)
        for n in range(4)
    ]
    drawn = shown(texts, 1 / 3, seed)
    packed = allocation.pack(drawn, allocation.sizes(len(drawn), 8), rng=rng(seed))
    found = allocation.measure([[drawn[place] for place in held] for held in packed])
    assert found.same_topic == found.same_text == 1
    assert found.spread is not None
    assert found.spread < 1.03
    assert found.left_right <= 1
    assert found.origin_lean <= 2
    assert found.length_lean <= 2


def best_spread(drawn: list[DrawnItem], sizes: list[int]) -> float:
    """The smallest ratio of the longest to the shortest questionnaire there is, by trying all two-way splits."""
    first = sizes[0]
    spreads = []
    for held in combinations(range(len(drawn)), first):
        words = sum(drawn[place].words for place in held)
        rest = sum(each.words for each in drawn) - words
        spreads.append(max(words, rest) / min(words, rest))
    return min(spreads)


@pytest.mark.parametrize("seed", range(6))
def test_small_packings_come_near_the_best_there_is(seed: int) -> None:
    random = rng(seed)
    drawn = [DrawnItem(ResponseText(n, n, "HUMAN", int(random.integers(100, 400)))) for n in range(12)]
    packed = allocation.pack(drawn, [6, 6], rng=rng(seed))
    reached = allocation.measure([[drawn[place] for place in held] for held in packed]).spread
    assert reached is not None
    assert reached - best_spread(drawn, [6, 6]) < 0.02


def test_both_orders_in_one_questionnaire_are_refused() -> None:
    a, b = ResponseText(1, 1, "HUMAN", 100), ResponseText(2, 1, "MODEL", 100)
    both = [DrawnItem(a, b), DrawnItem(b, a)]
    with pytest.raises(CannotSeparate):
        allocation.pack(both, [2], rng=rng())
    assert sorted(allocation.pack(both, [1, 1], rng=rng())) == [[0], [1]]


def test_nothing_drawn_is_nothing_packed() -> None:
    assert allocation.pack([], [], rng=rng()) == []
    assert allocation.measure([]).spread is None
    with pytest.raises(ValueError):  # noqa: PT011 - it has no class of its own
        allocation.pack([DrawnItem(ResponseText(1, 1, "HUMAN", 1))], [2], rng=rng())


@pytest.mark.parametrize("pairwise", [True, False])
def test_the_cost_of_a_change_is_the_change_of_the_cost(pairwise: bool) -> None:
    """The search goes by differences; here they are compared with the whole sum, before and after."""
    random = rng(3)
    texts = [ResponseText(n, n % 3, ORIGINS[n % 3], int(random.integers(50, 400))) for n in range(12)]
    drawn = shown(texts, 0.5, 1) if pairwise else [DrawnItem(text) for text in texts]
    sizes = allocation.sizes(len(drawn), 5)

    def cost(state: allocation._Packing) -> float:
        whole = (state.distance**2).sum()
        return float(whole + sum(each.weight * (each.counts**2).sum() for each in state.repeats))

    state = allocation._Packing(drawn, sizes, allocation._dealt(drawn, sizes, rng()))
    for _ in range(60):
        place, other = (int(n) for n in random.integers(len(drawn), size=2))
        told = float(state.cost_of_changing(place, np.array([other]))[0])
        before = cost(state)
        if state.held[place] == state.held[other]:
            assert told == 0
            continue
        state.change(place, other)
        assert cost(state) - before == pytest.approx(told, rel=1e-6, abs=1e-6)


def test_positions_are_random() -> None:
    """Each item stands anywhere in its questionnaire, and every place is as probable as every other."""
    orders = Counter(tuple(allocation.order([1, 2, 3], rng=rng(seed))) for seed in range(1200))
    assert set(orders) == set(permutations([1, 2, 3]))
    assert all(abs(n / 1200 - 1 / 6) < 0.05 for n in orders.values())
    counts = Counter(place for seed in range(4000) for place in campaigns_pairs.systematic(7, 3, rng=rng(seed)))
    assert all(abs(counts[place] / 4000 - 3 / 7) < 0.04 for place in range(7))
