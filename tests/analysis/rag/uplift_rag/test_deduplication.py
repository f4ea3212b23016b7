"""Documents that are nearly equal: against comparing every pair, and in time that grows with the words alone."""

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.rag.protocols import Document, Query
from analysis.rag.uplift_rag.deduplication import SHINGLE, KnownTexts, key, without, words
from analysis.rag.uplift_rag.uplift_labels import LabelledQuery

#: Few words, so that texts share parts by chance; copies with changes come from `edited`.
WORDS = st.lists(st.sampled_from(["a", "b", "c", "D.", "e,"]), max_size=30)


def query(*texts: str) -> Query:
    return Query("q", "?", ("x",), tuple(Document(str(i), text) for i, text in enumerate(texts)))


def plainly(text: str, other: str) -> bool:
    """Every pair, by sets of tuples."""
    if key(Document("", text)) == key(Document("", other)):
        return True
    mine, theirs = _shingles(text), _shingles(other)
    return bool(mine and theirs) and 2 * len(mine & theirs) >= min(len(mine), len(theirs))


def _shingles(text: str) -> set[tuple[str, ...]]:
    found = words(text)
    size = min(SHINGLE, len(found))
    return {tuple(found[at : at + size]) for at in range(len(found) - size + 1)} if found else set()


@given(st.lists(WORDS, max_size=5), WORDS)
def test_what_is_nearly_equal_is_what_comparing_every_pair_finds(tested, own):
    texts = [" ".join(each) for each in tested]
    expected = any(plainly(" ".join(own), each) for each in texts)
    assert (Document("x", " ".join(own)) in KnownTexts([query(*texts)])) == expected


@given(st.data(), st.lists(st.integers(0, 10_000), min_size=12, max_size=60))
def test_a_copy_with_changes_is_found_as_comparing_finds_it(data, numbers):
    copy = list(numbers)
    for place in data.draw(st.lists(st.integers(0, len(copy) - 1), max_size=6)):
        copy[place] = -1 - place
    text, other = (" ".join(f"w{each}" for each in some) for some in (numbers, copy))
    assert (Document("x", other) in KnownTexts([query("of something else", text)])) == plainly(other, text)


def test_a_part_of_a_document_counts_as_it_and_a_few_common_words_do_not():
    whole = " ".join(f"word{i}" for i in range(60))
    tested = KnownTexts([query(whole, "")])
    assert Document("x", " ".join(whole.split()[20:40]), title="Another") in tested
    assert Document("x", whole.upper().replace(" ", ",\n")) in tested
    assert Document("x", " ".join([*whole.split()[:12], *(f"new{i}" for i in range(40))])) not in tested
    assert Document("x", "word1 word2") not in tested
    assert Document("x", " \n") in tested
    assert "a text" not in tested
    assert Document("x", whole.upper()) not in KnownTexts([query(whole)], nearly=False)
    assert Document("x", f" {whole}\n") in KnownTexts([query(whole)], nearly=False)
    assert Document("x", whole) not in KnownTexts([])


def test_labels_candidates_and_scored_copies_of_a_document_go_together():
    own = query("kept", "known", "kept too")
    documents = tuple(replace(each, score=1.0) for each in own.documents)
    labelled = LabelledQuery(own, documents, "no", ("a", "b", "c"), "em")
    found = without(labelled, KnownTexts([query("known")]).__contains__)
    assert (
        [each.text for each in found.documents] == [each.text for each in found.query.documents] == ["kept", "kept too"]
    )
    assert found.alone == ("a", "c")


@pytest.mark.extended
@pytest.mark.parametrize("alike", [False, True])
def test_looking_up_grows_with_the_words_and_not_with_the_pairs(alike):
    """Twice as many on both sides take about twice as long, be all texts different or parts of the same."""
    rng = np.random.default_rng(0)

    def texts(n: int) -> list[str]:
        start = ["the same words stand at the beginning of each of them"] if alike else []
        return [" ".join([*start, *(f"w{each}" for each in rng.integers(50_000, size=60))]) for _ in range(n)]

    def seconds(n: int) -> float:
        tested, others = texts(n), [Document(str(i), each) for i, each in enumerate(texts(n))]
        before = time.process_time()
        made = KnownTexts([query(*tested)])
        assert sum(each in made for each in others) == 0
        return time.process_time() - before

    seconds(200)
    few, many = min(seconds(500) for _ in range(3)), min(seconds(2000) for _ in range(3))
    assert many < 4 * 3 * few
