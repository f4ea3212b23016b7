"""Normalization is Unicode's own, but for stacks of marks that no script has."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from analysis.text.words import MOST_MARKS, normalize

FORMS = st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"])


@given(FORMS, st.text(max_size=60))
def test_normalizes_as_unicode_does(form, text: str) -> None:
    assert normalize(form, text) == unicodedata.normalize(form, text)


@given(FORMS, st.text(alphabet="\u0315\u0300a", max_size=200))
def test_no_stack_of_marks_is_longer_than_unicode_recommends(form, text: str) -> None:
    stack = longest = 0
    for character in normalize(form, text):
        stack = stack + 1 if unicodedata.combining(character) else 0
        longest = max(longest, stack)
    # A letter that takes a mark apart adds one.
    assert longest <= MOST_MARKS + 1
    assert [c for c in normalize(form, text) if c != "\u034f"].count("\u0315") == text.count("\u0315")
