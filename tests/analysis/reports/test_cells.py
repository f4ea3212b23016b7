"""How values are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.tables.cells import cell, number
from analysis.tables.display_table import DisplayColumn
from analysis.typesetter import breakable, visible


@pytest.mark.parametrize(
    ("value", "digits", "said"),
    [
        (0.1234, 2, "0.12"), (-0.1234, 2, "\u22120.12"), (-0.001, 2, "0.00"), (1234.5, 0, "1,234"),
        (0.00001, 4, "<0.0001"),
        (0, 4, "0.0000"), (0.00001, 2, "0.00"), (2.5, 1, "2.5"),
    ],
)  # fmt: skip
def test_numbers(value, digits, said):
    assert number(value, digits) == said


def test_shares_are_said_in_per_cent():
    assert number(0.256, 0, is_share=True) == "26\u202f%"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"v": 0.5, "low": 0.25, "high": 0.75}, "0.50 [0.25, 0.75]"),
        ({"v": 0.5, "low": None, "high": None}, "0.50"),
        ({"v": None, "low": 0.1, "high": 0.2}, "–"),
        ({}, ""),
        ({"v": 7, "low": None, "high": None}, "7"),
        ({"v": "x"}, "x"),
        ({"v": True}, "yes"),
    ],
)
def test_cells(row, said):
    assert str(cell(DisplayColumn("v", "V", 2, low="low", high="high"), row)) == said


@given(st.text())
def test_what_is_visible_is_seen_and_letters_stay(text):
    said = visible(text)
    assert visible(said) == said
    assert all(each.isprintable() or each.isspace() or each in "\u200c\u200d" or ord(each) >= 0xE0020 for each in said)
    assert not set(said) & set("\u202e\u2066\u200b\ufeff\u2028\x00\x07")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\u200db", "a[U+200D]b"),
        ("👩\u200d👧", "👩\u200d👧"),
        ("\U000e0041tag", "[U+E0041]tag"),
        ("a\nb", "a b"),
        ("", ""),
    ],
)
def test_what_joins_emoji_stays_and_what_hides_in_a_name_does_not(text, said):
    assert visible(text) == said


@given(st.text())
def test_breaking_adds_nothing_that_is_seen(text):
    plain = text.replace("\u200b", "")
    assert breakable(plain).replace("\u200b", "") == plain
    assert max((len(word) for part in breakable(plain).split("\u200b") for word in part.split()), default=0) <= 14
