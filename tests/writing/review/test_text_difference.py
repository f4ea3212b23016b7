"""Differences between two versions of a text: nothing is lost, and what is long is compared in time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from writing.review import text_difference
from writing.review.text_difference import difference

WORDS = st.lists(st.sampled_from([*"abcde", "word", "[0]", "."]), max_size=60).map(" ".join)


def sides(before: str, after: str) -> tuple[str, str]:
    parts = difference(before, after)
    assert all(part.text for part in parts)
    return tuple("".join(part.text for part in parts if part.kind != kind) for kind in ("new", "gone"))  # type: ignore[return-value]


@given(WORDS, WORDS)
def test_parts_give_both_texts(before: str, after: str) -> None:
    assert sides(before, after) == (before, after)


@given(WORDS, WORDS)
def test_parts_give_both_texts_by_words_that_stand_once(before: str, after: str) -> None:
    limit = text_difference._COMPARABLE
    text_difference._COMPARABLE = 4  # type: ignore[misc]
    try:
        assert sides(before, after) == (before, after)
    finally:
        text_difference._COMPARABLE = limit  # type: ignore[misc]


@pytest.mark.extended
def test_in_a_long_text_only_what_changed_is_shown() -> None:
    words = [f"w{n}" for n in range(5000)]
    changed = [*words[:2500], "inserted", *words[2500:4000], *words[4001:]]
    parts = difference(" ".join(words), " ".join(changed))
    assert [part.text.strip() for part in parts if part.kind != "same"] == ["inserted", "w4000"]
