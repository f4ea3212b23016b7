"""SPLADE against the formula token by token, and against sentence-transformers; a tiny model of random weights."""

import math
from pathlib import Path

import numpy as np
import pytest

from analysis.rag.protocols import Collection, Document, Query
from analysis.rag.retrieval.search import DocumentList, NoDocumentsError, retrieve
from analysis.rag.retrieval.splade import NoVocabularyWeightsError, Splade
from tests.analysis.rag import tiny
from tests.analysis.rag.neural import torch, transformers

TEXTS = ["the cat sat on the mat", "a dog barks", "", "the dog sat", "a loud night on the mat is of a cat", "cat"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.masked(tmp_path_factory.mktemp("splade") / "splade-tiny")


@pytest.fixture(scope="module")
def splade(model: Path) -> Splade:
    return Splade.load(str(model), device="cpu")


def by_formula(model: Path, text: str) -> np.ndarray:
    """Formal et al. 2022: for each word the largest over the tokens, one number after the other."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    with torch.no_grad():
        logits = transformers.AutoModelForMaskedLM.from_pretrained(model)(
            **tokenizer(text, return_tensors="pt")
        ).logits[0]
    return np.array(
        [max(math.log(1 + max(0.0, float(logits[i, j]))) for i in range(len(logits))) for j in range(logits.shape[1])]
    )


def query(texts: list[str] = TEXTS, question: str = "cat night") -> Query:
    return Query("q", question, (), tuple(Document(str(i), text) for i, text in enumerate(texts)))


def test_by_the_formula(model, splade):
    found = splade.encode(TEXTS)
    expected = np.stack([by_formula(model, text) for text in TEXTS])
    assert found.shape == expected.shape == (6, splade.dimensions)
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-6)
    assert 0 < found.nnz < expected.size  # some words weigh nothing, and are not stored
    assert (found.data > 0).all()
    scores = splade.scores(query())
    np.testing.assert_allclose(scores, expected @ by_formula(model, "cat night"), rtol=1e-5)
    assert scores.dtype == np.float64


def test_as_sentence_transformers_has_it(model, splade):
    sparse = pytest.importorskip("sentence_transformers.sparse_encoder")
    parts = [sparse.modules.MLMTransformer(str(model)), sparse.modules.SpladePooling("max")]
    library = sparse.SparseEncoder(modules=parts, device="cpu")
    theirs = library.encode(TEXTS, convert_to_sparse_tensor=False)
    np.testing.assert_allclose(splade.encode(TEXTS).toarray(), np.asarray(theirs), atol=1e-6)


def test_long_texts_are_cut(model, splade):
    assert splade.longest == 32
    long = "cat " * 100
    np.testing.assert_allclose(splade.encode([long]).toarray(), splade.encode(["cat " * 30]).toarray(), atol=1e-6)


def test_words_say_what_a_text_is_about(model, splade):
    found = splade.words("the cat", limit=3)
    weights = by_formula(model, "the cat")
    assert [weight for _, weight in found] == pytest.approx(sorted(weights, reverse=True)[:3])
    names = transformers.AutoTokenizer.from_pretrained(model).convert_ids_to_tokens(np.argsort(-weights)[:3].tolist())
    assert [word for word, _ in found] == names


def test_a_corpus_is_searched_in_blocks(splade, monkeypatch):
    monkeypatch.setattr("analysis.rag.retrieval.search.BLOCK", 2)
    collection = Collection("c", (Query("1", "cat night", ()), Query("2", "dog", ())))
    for one in retrieve(collection, DocumentList(query().documents), splade, 4).queries:
        scores = splade.scores(query(question=one.question))
        order = np.argsort(-scores, kind="stable")[:4]
        assert [each.id for each in one.documents] == [str(i) for i in order]
        np.testing.assert_allclose([each.score for each in one.documents], scores[order], rtol=1e-5)
    for nothing in (lambda: splade.search(["x"], DocumentList([]), 3), lambda: splade.scores(query([]))):
        with pytest.raises(NoDocumentsError):
            nothing()


def test_a_model_that_predicts_no_words_is_refused(tmp_path):
    with pytest.raises(NoVocabularyWeightsError, match=r"cls\.predictions"):
        Splade.load(str(tiny.bert(tmp_path / "bert")))
