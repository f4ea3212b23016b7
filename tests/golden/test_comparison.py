"""The comparison of golden outputs: it finds what differs, says where, and overlooks rounding errors alone."""

import copy
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.golden.comparison import MISSING, SHOWN, differences, message

numbers = st.floats(allow_nan=False, allow_infinity=False, width=32)
leaves = st.none() | st.booleans() | st.integers(-(10**9), 10**9) | numbers | st.text(max_size=20)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=5)
)
rows = st.lists(
    st.fixed_dictionaries({"name": st.text(max_size=8), "value": numbers, "n": st.integers(0, 100)}),
    min_size=1,
    max_size=8,
)
ROWS = [
    {"dimension": "coverage", "alpha": 0.4375, "low": 0.25, "n": 12},
    {"dimension": "coherence", "alpha": 0.125, "low": None, "n": 12},
    {"dimension": "quality", "alpha": 0.3, "low": 0.1, "n": 9},
]


def missing(found: list[str]) -> int:
    return sum(line.endswith(f"actual {MISSING}") for line in found)


def added(found: list[str]) -> int:
    return sum(f"expected {MISSING}, actual" in line for line in found)


def changed(place: int, **change: Any) -> list[dict[str, Any]]:
    other = copy.deepcopy(ROWS)
    other[place].update(change)
    return other


@given(values)
def test_value_equals_itself(value: Any) -> None:
    assert differences(value, copy.deepcopy(value)) == []


@given(numbers)
def test_rounding_error_is_no_difference(number: float) -> None:
    assert differences([number], [number * (1 + 1e-9)]) == []


@given(rows, st.data())
def test_change_of_a_thousandth_is_found(table: list[dict[str, Any]], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(table) - 1))
    assume(abs(table[place]["value"]) > 1e-5)
    other = copy.deepcopy(table)
    other[place]["value"] *= 1 + 1e-3
    (found,) = differences(table, other)
    assert found.startswith(f"[{place}].value: expected ")


@given(rows, st.data())
def test_added_and_removed_row_are_found(table: list[dict[str, Any]], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(table) - 1))
    fewer = table[:place] + table[place + 1 :]
    # Among equal rows one cannot say which was removed: others may be named, too.
    assert missing(differences(table, fewer)) - added(differences(table, fewer)) == 1
    assert added(differences(fewer, table)) - missing(differences(fewer, table)) == 1


@pytest.mark.parametrize("place", range(20))
def test_row_removed_from_rows_that_differ_is_named_alone(place: int) -> None:
    table = [{"name": f"n{each}", "value": each / 7} for each in range(20)]
    (found,) = differences(table, table[:place] + table[place + 1 :])
    assert found.startswith(f"[{place}]: expected ")
    assert found.endswith(f"actual {MISSING}")


@given(st.dictionaries(st.text(min_size=1, max_size=5), leaves, min_size=1, max_size=5), st.data())
def test_added_and_removed_key_are_found(value: dict[str, Any], data: st.DataObject) -> None:
    key = data.draw(st.sampled_from(sorted(value)))
    fewer = {name: each for name, each in value.items() if name != key}
    assert (missing(differences(value, fewer)), len(differences(value, fewer))) == (1, 1)
    assert (added(differences(fewer, value)), len(differences(fewer, value))) == (1, 1)


def test_difference_says_where_it_is_and_what() -> None:
    assert differences(ROWS, changed(0, alpha=0.4380)) == ["[0].alpha: expected 0.4375, actual 0.438"]
    assert differences({"gold": ROWS}, {"gold": changed(1, low=0.5)}) == ["gold[1].low: expected null, actual 0.5"]


def test_row_in_the_middle_is_named_alone() -> None:
    (removed,) = differences(ROWS, [ROWS[0], ROWS[2]])
    assert removed.startswith("[1]: expected ")
    (added,) = differences([ROWS[0], ROWS[2]], ROWS)
    assert added.startswith("[new 1]: expected nothing, actual ")


@pytest.mark.parametrize(
    ("expected", "actual"),
    [(1, True), (0, False), (None, 0), ("1", 1), ([], {}), (3, 4), (10**12, 10**12 + 1), ([1], 1), (0.5, None)],
)
def test_values_of_other_kinds_differ(expected: Any, actual: Any) -> None:
    assert len(differences(expected, actual)) == 1
    assert len(differences(actual, expected)) == 1


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ("alpha,0.437512345,12", "alpha,0.437512346,12"),
        ("from -1.2345678e-05 on", "from -1.2345679e-05 on"),
        ("one\ntwo 0.33333333\n", "one\ntwo 0.33333334\n"),
        ("alpha is −0.05", "alpha is −0.06"),  # rounded to either side
    ],
)
def test_number_in_a_text_may_differ_in_the_last_digit(expected: str, actual: str) -> None:
    assert differences(expected, actual) == []


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ("alpha,0.437512345,12", "alpha,0.438012345,12"),  # by a thousandth
        ("alpha,0.437512345,12", "alpha,0.437512345,13"),
        ("alpha is 0.44", "alpha is 0.46"),
        ("alpha is 0.4", "alpha is 0.5"),
        ("alpha is 0.5", "alpha is 0.50"),  # another rounding
        ("1.23456789 of 3", "1.23456789 in 3"),
        ("version 1.23456789.1", "version 1.23456788.1"),
        ("id a1.23456789", "id a1.23456788"),
        ("a caption.", "a caption"),
        ("\\num{0.1}", "\\num{0.1} "),
    ],
)
def test_other_text_differs(expected: str, actual: str) -> None:
    (found,) = differences({"a.csv": f"head\n{expected}\n"}, {"a.csv": f"head\n{actual}\n"})
    assert found.startswith("a.csv[line 1]: expected ")


def test_lines_that_were_added_and_removed_are_found() -> None:
    assert differences("a\nb\nc", "a\nc") == ['[line 1]: expected "b", actual nothing']
    assert differences("a\nc", "a\nb\nc") == ['[line new 1]: expected nothing, actual "b"']


def test_message_shows_the_first_and_the_number() -> None:
    found = [f"[{place}]: expected 1, actual 2" for place in range(100)]
    said = message(found, "Accept them.")
    assert said.startswith("100 differences")
    assert said.count("expected 1") == SHOWN
    assert f"and {100 - SHOWN} more" in said
    assert said.endswith("Accept them.")
    assert message(found[:1], "").startswith("1 difference from")


def test_long_values_are_cut() -> None:
    (found,) = differences("x" * 5000, "y")
    assert len(found) < 500
    (found,) = differences("x" * 5000 + "1" + "x" * 5000, "x" * 5000 + "2" + "x" * 5000)
    assert "xx1xx" in found
    assert "xx2xx" in found
    assert len(found) < 500
