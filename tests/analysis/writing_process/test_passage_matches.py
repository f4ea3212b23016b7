"""Where a pasted text comes from."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.writing_process import Sources
from analysis.writing_process.passage_matches import tokens
from tests.analysis.writing_process.planted_writers import FOREIGN, PASSAGES

WORDS = st.lists(st.sampled_from(["ab", "cd", "ef", "gh", "ij"]), min_size=1, max_size=14)


def share_by_hand(words, passage, size):
    """Mark every word that stands in a run of `size` words which the passage has too."""
    size = min(size, len(words))
    marked = [False] * len(words)
    for i in range(len(words) - size + 1):
        for j in range(len(passage) - size + 1):
            if words[i : i + size] == passage[j : j + size]:
                marked[i : i + size] = [True] * size
    return sum(marked) / len(words)


@given(WORDS, st.lists(WORDS, min_size=1, max_size=4))
def test_shares_are_those_of_marking_word_by_word(words, passages):
    sources = Sources([" ".join(passage) for passage in passages], shingle=3)
    shares = [share_by_hand(words, passage, 3) for passage in passages]
    text = " ".join(words)
    whole = [text in " ".join(passage) for passage in passages]
    expected = [1.0 if exact else share for exact, share in zip(whole, shares, strict=True)]
    assert [sources.share(text, rank) for rank in range(len(passages))] == pytest.approx(expected)
    found = sources.find(text)
    if any(whole):
        assert (found.passage, found.is_exact) == (whole.index(True), True)
    elif max(shares) >= 0.6:
        assert (found.passage, found.share) == (shares.index(max(shares)), pytest.approx(max(shares)))
    else:
        assert found.passage is None
        assert found.share == pytest.approx(max(shares))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (PASSAGES[0], 0),
        ("RAINFALL  in the valley,\nhas declined [1] by a fifth", 1),
        ("nfall in the valley has decl", 1),
        ("山の上に降り", 2),
        ("Rainfall in the valley has declined by a quarter since measurements began", 1),
        (FOREIGN, None),
        ("", None),
        ("...", None),
    ],
)
def test_case_punctuation_markers_and_cut_words_do_not_count(text, place):
    assert Sources(PASSAGES).find(text).passage == place


def test_scripts_without_blanks_are_cut_into_letters():
    assert tokens("Tokyo東京2020 ok") == ["tokyo", "東", "京", "2020", "ok"]
