"""The best of many in blocks, against sorting all; scores that are given; an oracle."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.rag.protocols import Collection, Document, Query
from analysis.rag.retrieval import search
from analysis.rag.retrieval.bm25 import BM25
from analysis.rag.retrieval.known_scores import KnownScores, NoScoresError, Oracle
from analysis.rag.retrieval.search import DocumentList, NoDocumentsError, TopDocuments, block, retrieve


@given(st.lists(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0]), min_size=3, max_size=3), max_size=12),
       st.integers(1, 6), st.integers(1, 5), st.sampled_from([-np.inf, 0.0]))  # fmt: skip
def test_the_best_in_blocks_are_the_best_of_all(columns, n, size, above):
    scores = np.array(columns).T.reshape(3, len(columns))
    best = TopDocuments(3, n, above=above)
    for start in range(0, len(columns), size):
        best.add(start, scores[:, start : start + size])
    found = best.results()
    for row in range(3):
        order = [i for i in np.argsort(-scores[row], kind="stable").tolist() if scores[row][i] > above][:n]
        assert found.places[row].tolist() == order + [-1] * (n - len(order))
        assert found.scores[row][: len(order)].tolist() == scores[row][order].tolist()
        assert np.isnan(found.scores[row][len(order) :]).all()


def test_scores_that_are_held_are_bounded():
    assert block(1) == block(10_000) == 1024
    assert block(100_000) * 100_000 <= search.HELD
    assert block(10**9) == 1
    with pytest.raises(ValueError, match=r"\bn\b"):
        TopDocuments(1, 0)


def test_candidates_are_retrieved():
    corpus = DocumentList([Document("a", "a cat"), Document("b", "dogs and cats"), Document("c", "a dog barks"),
                     Document("d", "fish", score=9.0)])  # fmt: skip
    queries = (
        Query("1", "which dogs?", ("x",), (Document("old", "fish"),)),
        Query("2", "whole question", (), sought="cat"),
        Query("3", "cat", ()),
        Query("4", "bird", ()),
    )
    found = retrieve(Collection("c", queries), corpus, BM25(), 2)
    assert [[each.id for each in query.documents] for query in found.queries] == [
        ["b", "c"],  # equal scores: in the corpus's order
        ["a", "b"],
        ["a", "b"],
        [],
    ]
    scores = [each.score for each in found.queries[0].documents]
    assert scores == sorted(scores, reverse=True)
    assert found.queries[0].answers == ("x",)
    assert KnownScores().scores(found.queries[0]).tolist() == scores
    with pytest.raises(NoDocumentsError):
        retrieve(Collection("c", queries), DocumentList([]), BM25(), 2)


def test_given_scores():
    query = Query("q", "?", (), (Document("a", "x", score=2.0), Document("b", "y", score=-1.0)))
    assert KnownScores().scores(query).tolist() == [2.0, -1.0]
    assert KnownScores().scores(query).dtype == np.float64
    with pytest.raises(NoScoresError, match=r"\bq\b.*\bb\b"):
        KnownScores().scores(Query("q", "?", (), (*query.documents[:1], Document("b", "y"))))
    with pytest.raises(NoScoresError, match=r"\ba\b"):
        KnownScores().scores(Query("q", "?", (), (Document("a", "y", score=float("nan")),)))
    with pytest.raises(NoDocumentsError):
        KnownScores().scores(Query("q", "?", ()))


def test_an_oracle_knows_labels():
    query = Query("q", "?", (), (Document("a", "x"), Document("b", "y")))
    assert Oracle({"q": [0, 1]}).scores(query).tolist() == [0.0, 1.0]
    with pytest.raises(NoScoresError, match=r"\bq\b"):
        Oracle({}).scores(query)
    for wrong in ([1], [1, np.nan], [[1, 2]]):
        with pytest.raises(NoScoresError, match="2"):
            Oracle({"q": wrong}).scores(query)
    with pytest.raises(NoDocumentsError):
        Oracle({"q": []}).scores(Query("q", "?", ()))
