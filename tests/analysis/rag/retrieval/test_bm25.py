"""BM25 by the formula on paper, by hand, and by two routes: the library's index and the scan of a corpus."""

import logging
import math
import os
import re
from collections import Counter
from pathlib import Path

import bm25s
import numpy as np
import pytest
import Stemmer
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.rag.collections import passage_banks
from analysis.rag.protocols import Document, Query
from analysis.rag.retrieval import bm25, search
from analysis.rag.retrieval.bm25 import BM25, Bm25Settings, Index, scan, weight
from analysis.rag.retrieval.search import NoDocumentsError
from tests.examples import examples

DATA = os.environ.get("CROWDRAG_DATA", "")
TEXTS = ["The cats sat on the mat.", "A dog barks; dogs bark loudly.", "cat cat cat dog", "", "Nothing here"]


def by_formula(texts: list[str], question: str, settings: Bm25Settings) -> np.ndarray:
    """Robertson's sum, word by word, in plain Python; Kamphuis et al. 2020 for the variants of a word's weight."""
    stem = Stemmer.Stemmer("english").stemWord if settings.stem else str
    stops = set(bm25s.stopwords.STOPWORDS_EN) if settings.stop_words else set()

    def words(text: str) -> list[str]:
        return [stem(word) for word in re.findall(r"\w\w+", text.lower()) if word not in stops]

    documents = [words(text) for text in texts]
    mean = sum(map(len, documents)) / len(documents)
    scores = []
    for document in documents:
        score, counts = 0.0, Counter(document)
        for word in words(question):
            having = sum(word in other for other in documents)
            if not having:
                continue
            odds = (len(documents) - having + 0.5) / (having + 0.5)
            idf = {"lucene": math.log(1 + odds), "robertson": max(math.log(odds), 0.0),
                   "atire": math.log(len(documents) / having)}[settings.formula]  # fmt: skip
            top = counts[word] * (settings.k1 + 1 if settings.formula == "atire" else 1)
            length = 1 - settings.b + settings.b * len(document) / mean if mean else 1
            score += idf * top / (counts[word] + settings.k1 * length)
        scores.append(score)
    return np.array(scores)


def query(texts: list[str], question: str = "cat dogs") -> Query:
    return Query("q", question, ("a",), tuple(Document(f"d{i}", text) for i, text in enumerate(texts)))


def listed(texts: list[str]) -> search.DocumentList:
    return search.DocumentList([Document(f"d{i}", text) for i, text in enumerate(texts)])


def test_by_hand():
    # Two documents of 1 and 3 words; "cat" is in both, "dog" in one: weights log(1 + 0.5 / 2.5), log 2.
    found = BM25(Bm25Settings(k1=1.0, b=0.5)).scores(query(["cat", "dog cat dog"], "cat dog"))
    cat, dog = math.log(1.2), math.log(2)
    np.testing.assert_allclose(found, [cat / 1.75, cat / 2.25 + dog * 2 / 3.25], rtol=1e-6)


@pytest.mark.parametrize("formula", ["lucene", "robertson", "atire"])
@pytest.mark.parametrize("plain", [False, True])
def test_by_the_formula(formula, plain):
    given = Bm25Settings(k1=0.9, b=0.4, formula=formula, stop_words=not plain, stem=not plain)
    for question in ("the cat and the Dogs", "dog dog", "unknown", "", "on"):
        expected = by_formula(TEXTS, question, given)
        np.testing.assert_allclose(Index(TEXTS, given).scores(question), expected, rtol=2e-6)
        np.testing.assert_allclose(BM25(given).scores(query(TEXTS, question)), expected, rtol=2e-6)


WORDS = st.lists(st.sampled_from(["cat", "dog", "the", "barks", "xy", "z"]), max_size=8).map(" ".join)


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=9), st.lists(WORDS, min_size=1, max_size=3), st.integers(1, 10),
       st.sampled_from(["lucene", "robertson", "atire"]), st.integers(1, 4))  # fmt: skip
def test_the_scan_finds_what_the_formula_says(texts, questions, n, formula, size):
    given = Bm25Settings(formula=formula)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "BLOCK", size)
        found = scan(questions, listed(texts), n, given)
    for row, question in enumerate(questions):
        expected = by_formula(texts, question, given)
        order = [i for i in np.argsort(-expected.round(12), kind="stable") if expected[i] > 1e-12][:n]
        # Documents that tie but for rounding may come in either order.
        np.testing.assert_allclose(expected[found.places[row][: len(order)]], expected[order], rtol=1e-9)
        np.testing.assert_allclose(found.scores[row][: len(order)], expected[order], rtol=1e-9)
        assert (found.places[row][len(order) :] == -1).all()
        assert np.isnan(found.scores[row][len(order) :]).all()


def test_words_that_none_has_weigh_nothing():
    assert weight(np.array([0, 1]), 2, "atire").tolist() == [0.0, math.log(2)]
    # Of those that most have, only lucene's is above 0.
    assert weight(np.array([3]), 4, "robertson").tolist() == [0.0]
    assert weight(np.array([3]), 4, "lucene").tolist() == pytest.approx([math.log(1 + 1.5 / 3.5)])


def test_words_are_weighed_over_the_candidates_or_over_all():
    queries = [query(["cat dog", "cat"], "dog cat"), query(["cat", "fish"], "cat")]
    alone, over = BM25(), BM25.over(queries)
    texts = ["cat dog", "cat", "fish"]
    for each, places in zip(queries, ([0, 1], [1, 2]), strict=True):
        np.testing.assert_allclose(
            over.scores(each), by_formula(texts, each.question, Bm25Settings())[places], rtol=2e-6
        )
    assert not np.allclose(alone.scores(queries[0]), over.scores(queries[0]))
    assert len({alone.name, over.name, BM25(Bm25Settings(k1=1)).name}) == 3
    assert alone.name == BM25().name
    with pytest.raises(KeyError):
        over.scores(query(["other text"]))


def test_titles_are_read_and_labels_are_not():
    one = Document("a", "mat", title="cat", label="dog")
    found = BM25().scores(Query("q", "cat", (), (one, Document("b", "mat", label="cat"))))
    assert found[0] > 0 == found[1]
    part = Query("q", "cat", (), (one, Document("b", "dog")), sought="dog")
    assert BM25().scores(part).argmax() == 1


def test_nothing_to_rank():
    with pytest.raises(NoDocumentsError, match="q"):
        BM25().scores(query([]))
    with pytest.raises(NoDocumentsError):
        BM25.over([query([])])
    with pytest.raises(NoDocumentsError):
        Index([])
    with pytest.raises(NoDocumentsError):
        BM25().search(["cat"], listed([]), 3)
    assert BM25().scores(query(["", "the of"])).tolist() == [0.0, 0.0]
    assert BM25().scores(query(["cat", "cat"], "dog")).tolist() == [0.0, 0.0]
    assert BM25().search(["cat"], listed(["", "of"]), 3).places.tolist() == [[-1, -1, -1]]
    assert len(set(BM25().scores(query(["cat dog", "cat dog"])))) == 1


@pytest.mark.skipif(not DATA, reason="CROWDRAG_DATA is not set: the self-preference data is not here")
def test_real_passages_by_both_routes():
    collection = passage_banks.read(Path(DATA) / "self_preference" / "nq_passages.jsonl.gz")
    documents = [each for query in collection.queries[:100] for each in query.documents]
    questions = [query.question for query in collection.queries[:100]]
    found = BM25().search(questions, search.DocumentList(documents), 10)
    index = Index([each.text for each in documents])
    own = 0
    for i, question in enumerate(questions):
        scores = index.scores(question)
        np.testing.assert_allclose(scores[found.places[i]], found.scores[i], rtol=2e-5)
        np.testing.assert_allclose(np.sort(scores)[::-1][:10], found.scores[i], rtol=2e-5)
        own += found.places[i][0] // 7 == i
    assert own >= 90  # the first one found is nearly always a question's own


def test_the_library_is_quiet() -> None:
    bm25.library()

    assert logging.getLogger("bm25s").getEffectiveLevel() >= logging.WARNING
