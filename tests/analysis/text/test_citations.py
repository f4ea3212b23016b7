"""Citing behaviour: against scipy and published code's shape, against brute force, and at its edges."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from analysis.text.citations import binned, citing_positions, jaccard, median_ranks, order_correlation
from analysis.text.statements import parse

RANKS = st.lists(st.integers(0, 19), max_size=20, unique=True)


@given(st.lists(st.integers(0, 6)), st.lists(st.integers(0, 6)))
def test_jaccard_counts_as_a_list_of_yes_and_no_does(first, second):
    both = [each in first and each in second for each in range(7)]
    either = [each in first or each in second for each in range(7)]
    found = jaccard(first, second)
    if not any(either):
        assert math.isnan(found)
    else:
        assert found == sum(both) / sum(either)
        assert found == jaccard(second, first)


def test_jaccard_of_what_was_given_is_the_share_that_is_cited():
    assert jaccard([3, 0, 3, 7], range(20)) == 3 / 20
    assert jaccard([], range(20)) == 0.0
    assert math.isnan(jaccard([], []))


@given(RANKS)
def test_rho_with_the_ranking_is_that_of_scipy_on_positions(cited):
    found = order_correlation(range(20), cited)
    if len(cited) < 2:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(spearmanr(cited, np.arange(len(cited)))[0], abs=1e-12)


@given(RANKS, RANKS)
def test_rho_of_two_responses_is_that_of_scipy_on_what_both_cite(first, second):
    shared = [each for each in first if each in second]
    found = order_correlation(first, second)
    if len(shared) < 2:
        assert math.isnan(found)
    else:
        places = [first.index(each) for each in shared], [second.index(each) for each in shared]
        assert found == pytest.approx(spearmanr(*places)[0], abs=1e-12)
        assert found == pytest.approx(order_correlation(second, first), abs=1e-12)


def test_rho_averages_to_nothing_over_all_orders():
    """Brute force: of all orders of five passages the mean is 0, the extremes are the ranking and its reverse."""
    found = [order_correlation(range(5), order) for order in permutations(range(5))]
    assert np.mean(found) == pytest.approx(0, abs=1e-12)
    assert max(found) == order_correlation(range(5), range(5)) == 1
    assert min(found) == order_correlation(range(5), [4, 3, 2, 1, 0]) == -1


def test_rho_is_of_positions_and_not_of_names():
    """What the published analysis got wrong: names in another alphabetical order change nothing."""
    names = {0: "zebra", 1: "apple", 2: "mango", 3: "kiwi"}
    ranking, cited = list(range(4)), [1, 0, 3]
    assert order_correlation([names[rank] for rank in ranking], [names[rank] for rank in cited]) == order_correlation(
        ranking, cited
    )


def test_only_the_first_citation_of_a_passage_counts():
    parsed = parse("One [5]. Two [0, 5]. Three [0].", passages=6)
    assert parsed.cited_passages == (5, 0)
    assert order_correlation(range(6), parsed.cited_passages) == -1


@given(st.sets(st.integers(0, 19)), st.sets(st.integers(0, 19)))
def test_median_ranks_are_those_of_numpy(cited, others):
    available = cited | others
    used, rest = median_ranks(cited, sorted(available))
    left = sorted(available - cited)
    assert used == np.median(sorted(cited)) if cited else math.isnan(used)
    assert rest == np.median(left) if left else math.isnan(rest)


def test_median_ranks_by_hand():
    assert median_ranks([4, 0], [0, 1, 2, 3, 4]) == (2.0, 2.0)
    assert median_ranks([0, 1, 2], [0, 1, 2, 3, 9]) == (1.0, 6.0)


def test_positions_are_ends_of_statements_without_markers():
    """By hand: 10 + 10 + 20 characters, whatever the markers' lengths."""
    short = parse("a23456789 [0]b bcdefghi [0]cccccccccccccccccccc", passages=2)
    long = parse("a23456789 [0, 1]b bcdefghi [0][1]cccccccccccccccccccc", passages=2)
    lengths = [len(statement.text) for statement in short.statements]
    assert (
        citing_positions(short)
        == citing_positions(long)
        == [lengths[0] / sum(lengths), sum(lengths[:2]) / sum(lengths)]
    )


@given(st.lists(st.tuples(st.integers(1, 30), st.booleans()), min_size=1, max_size=8))
def test_positions_are_where_a_scan_of_the_text_finds_them(parts):
    """Independently: letters are counted one by one, a mark is noted at each marker."""
    text = "".join("x" * length + ("[0]" if cites else "[9]") for length, cites in parts)
    seen, marks = 0, []
    for character, after in zip(text, [*text[1:], ""], strict=True):
        seen += character == "x"
        if character == "[" and after == "0":
            marks.append(seen)
    found = citing_positions(parse(text, passages=1))
    assert found == pytest.approx([mark / seen for mark in marks])


@pytest.mark.parametrize("text", ["", "[0]", "...", "No citation at all."])
def test_a_text_without_words_or_citations_has_no_positions(text):
    assert citing_positions(parse(text, passages=3)) == []


@given(st.lists(st.floats(0, 1)), st.integers(1, 50))
def test_binned_is_the_histogram_of_numpy(positions, bins):
    found = binned(positions, bins)
    assert found.sum() == len(positions)
    exact = [sum(each >= place / bins and (each < (place + 1) / bins or place == bins - 1) for each in positions)
             for place in range(bins)]  # fmt: skip
    # At an edge a product may round to the other side of it; no position is lost or counted twice.
    if all(abs(each * bins - round(each * bins)) > 1e-9 or each in (0, 1) for each in positions):
        assert found.tolist() == exact


def test_binned_by_hand():
    assert binned([0, 0.49, 0.5, 1], 2).tolist() == [2, 2]
    assert binned([], 3).tolist() == [0, 0, 0]


def test_binned_refuses_what_is_no_position():
    with pytest.raises(ValueError, match=r"\S"):
        binned([1.2], 4)
    with pytest.raises(ValueError, match=r"\S"):
        binned([float("nan")], 4)
    with pytest.raises(ValueError, match=r"\S"):
        binned([0.5], 0)
