"""An index of BM25 that is built in parts: the scores of the scan, the files of the library, the same in any parts."""

import random
import string
from pathlib import Path

import bm25s
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.rag.protocols import Document
from analysis.rag.retrieval import search, word_index
from analysis.rag.retrieval.bm25 import Bm25Settings, library, scan, words_of
from analysis.rag.retrieval.search import DocumentList, NoDocumentsError, best_of
from analysis.rag.retrieval.word_index import WordIndex
from tests.examples import examples

SETTINGS = [Bm25Settings(), Bm25Settings(k1=0.9, b=0.4, formula="atire", stop_words=False),
            Bm25Settings(formula="robertson", stem=False)]  # fmt: skip


def listed(texts: list[str]) -> DocumentList:
    return DocumentList([Document(f"d{i}", text) for i, text in enumerate(texts)])


def built(texts: list[str], folder: Path, given: Bm25Settings = SETTINGS[0], parts: int = 2) -> WordIndex:
    folders = []
    for part in range(parts):
        folders.append(folder / f"part{part}")
        folders[-1].mkdir(parents=True)
        first, last = (n * len(texts) // parts for n in (part, part + 1))
        word_index.count(listed(texts), first, last, given, folders[-1], lambda *_: None)
    (folder / "index").mkdir()
    word_index.assemble(folders, given, folder / "index", lambda *_: None)
    return WordIndex(folder / "index", given)


def equal(found: search.SearchResults, expected: search.SearchResults) -> None:
    """The same scores; documents that tie but for rounding may come in either order."""
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-6)
    for row, scores in enumerate(expected.scores):
        clear = [i for i in range(len(scores)) if np.isclose(scores, scores[i], rtol=1e-5).sum() < 2]
        # The last one may tie with one that was not found.
        assert found.places[row][clear[:-1]].tolist() == expected.places[row][clear[:-1]].tolist()


WORDS = ["cat", "cats", "dog", "the", "barks", "xy", "z", "Über", "naïve", "x_1", "猫の"]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), min_size=1, max_size=14)


@settings(max_examples=examples(40), deadline=None)
@given(TEXTS, TEXTS, st.integers(1, 16), st.sampled_from(SETTINGS), st.integers(1, 5), st.integers(1, 40))
def test_it_scores_as_the_scan_does(tmp_path_factory, texts, questions, n, chosen, parts, entries):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_index, "ENTRIES", entries)
        index = built(texts, tmp_path_factory.mktemp("index"), chosen, parts)
    equal(index.search(questions, listed(texts), n), scan(questions, listed(texts), n, chosen))


def corpus_of(n: int, seed: int = 1) -> list[str]:
    """Texts with words as frequent as in language: the k-th is 1 / k times as frequent as the first."""
    rng = random.Random(0)
    words = ["".join(rng.choices(string.ascii_lowercase, k=rng.randint(2, 9))) for _ in range(3000)]
    rng.seed(seed)
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    return [" ".join(rng.choices(words, weights, k=rng.randint(0, 60))) for _ in range(n)]


@pytest.mark.extended
def test_it_scores_as_the_scan_does_on_many_documents(tmp_path):
    texts = corpus_of(3000)
    questions = [text for text in corpus_of(40, seed=2) if text]
    found = built(texts, tmp_path, parts=7).search(questions, listed(texts), 100)
    equal(found, scan(questions, listed(texts), 100, SETTINGS[0]))
    assert (found.places >= 0).mean() > 0.5


def test_the_library_opens_it_and_scores_alike(tmp_path):
    texts, questions = corpus_of(800), corpus_of(30, seed=2)
    ours = built(texts, tmp_path).search(questions, listed(texts), 5)
    library()
    theirs = bm25s.BM25.load(tmp_path / "index", mmap=True)
    tokens = [words_of(question, SETTINGS[0]) for question in questions]
    found = theirs.retrieve(tokens, k=5, show_progress=False)
    np.testing.assert_allclose(np.nan_to_num(ours.scores), found.scores, rtol=1e-5)


def test_its_files_are_those_that_the_library_saves(tmp_path):
    texts = ["a cat sat", "a dog sat down", "", "cat cat dog"]
    built(texts, tmp_path, Bm25Settings(stop_words=False, stem=False), parts=3)
    theirs = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
    theirs.index(bm25s.tokenize(texts, stopwords=None, show_progress=False), show_progress=False)
    ours = bm25s.BM25.load(tmp_path / "index", mmap=True)
    for word, place in ours.vocab_dict.items():
        of_theirs = theirs.vocab_dict[word]
        for bm25, at in ((ours, place), (theirs, of_theirs)):
            assert bm25.scores["num_docs"] == 4
            bounds = slice(*bm25.scores["indptr"][at : at + 2])
            row = dict(zip(bm25.scores["indices"][bounds].tolist(), bm25.scores["data"][bounds].tolist(), strict=True))
            if bm25 is ours:
                expected = row
        assert row == pytest.approx(expected)
    assert set(ours.vocab_dict) == set(theirs.vocab_dict) - {""}


def test_its_files_do_not_depend_on_the_parts(tmp_path):
    texts = corpus_of(200)
    for parts in (1, 2, 9):
        built(texts, tmp_path / str(parts), parts=parts)
    first, *others = ({file.name: file.read_bytes() for file in (tmp_path / str(parts) / "index").iterdir()}
                      for parts in (1, 2, 9))  # fmt: skip
    assert all(other == first for other in others)


def test_nothing_to_find(tmp_path):
    index = built(["", "the of", "cat"], tmp_path)
    assert index.search(["dog", "", "the"], listed(["", "the of", "cat"]), 3).places.tolist() == [[-1] * 3] * 3
    with pytest.raises(ValueError, match="3 documents"):
        index.search(["cat"], listed(["cat"]), 3)
    with pytest.raises(ValueError, match="n is 1"):
        index.search(["cat"], listed(["", "", ""]), 0)
    none = built(["", "the of"], tmp_path / "none")
    assert none.search(["cat"], listed(["", ""]), 1).places.tolist() == [[-1]]
    with pytest.raises(NoDocumentsError):
        word_index.assemble([], SETTINGS[0], tmp_path, lambda *_: None)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.integers(-2, 3), max_size=40), st.integers(1, 12), st.sampled_from([-np.inf, 0.0]))
def test_the_best_are_those_of_sorting_all(values, n, above):
    scores = np.array(values, dtype=np.float64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "_GROUP", 3)
        places, best = best_of(scores, n, above=above)
    expected = [i for i in np.argsort(-scores, kind="stable") if scores[i] > above][:n]
    assert (places.tolist(), best.tolist()) == (expected, scores[expected].tolist())
