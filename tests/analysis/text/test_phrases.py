"""Phrases as whole words, against the regular expression that says the same in more time."""

import re

from hypothesis import given
from hypothesis import strategies as st

from analysis.text.words import whole_words

WORDS = st.text(alphabet="aAb_. é1", max_size=40)


@given(st.text(alphabet="aAb_. é1", min_size=1, max_size=5), WORDS, st.booleans())
def test_finds_what_a_regular_expression_finds(phrase: str, text: str, ignore_case: bool) -> None:
    pattern = re.compile(rf"(?<!\w){re.escape(phrase)}(?!\w)", re.IGNORECASE if ignore_case else 0)
    assert list(whole_words(phrase, text, ignore_case=ignore_case)) == [
        found.span() for found in pattern.finditer(text)
    ]


def test_an_occurrence_is_found_that_overlaps_one_within_a_word() -> None:
    assert list(whole_words("a a", "xa a a")) == [(3, 6)]


def test_letters_whose_lower_case_is_longer_move_nothing() -> None:
    assert list(whole_words("cat", "İİ CAT", ignore_case=True)) == [(3, 6)]


def test_an_empty_phrase_stands_nowhere() -> None:
    assert list(whole_words("", "a text")) == []
