"""Stored vectors and FAISS: texts encoded once, exact searches alike by three routes, and what is missed counted."""

import threading
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from analysis.rag.collections import corpus as corpora
from analysis.rag.protocols import Document
from analysis.rag.retrieval import engines, vector_store
from analysis.rag.retrieval.dense import Dense
from analysis.rag.retrieval.engine import BadRetrieverError
from analysis.rag.retrieval.index_library import IndexLibrary
from analysis.rag.retrieval.search import DocumentList, NoDocumentsError
from analysis.rag.retrieval.vector_store import StoredVectors, VectorStore, digests_of, encode, locate
from tests.analysis.rag import tiny
from tests.analysis.rag.retrieval.test_index_library import written

NOW = datetime(2026, 11, 28, tzinfo=UTC)
WORDS = ["cat", "dog", "mat", "night", "loud", "barks", "sat", "on", "the", "a"]


def texts(n: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, size=rng.integers(1, 9))) + "." for _ in range(n)]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny.bert(tmp_path_factory.mktemp("models") / "contriever-tiny"))


def test_each_text_is_encoded_once_in_whatever_corpus(tmp_path):
    encoded: list[str] = []

    def passages(batch):
        encoded.extend(batch)
        return np.array([[len(text), text.count("a")] for text in batch], dtype=np.float32)

    store = VectorStore(tmp_path / "store")
    first, second = texts(300), texts(300, seed=1) + texts(300)
    for name, of_corpus in (("one", first), ("two", second)):
        documents = DocumentList([Document(str(n), text) for n, text in enumerate(of_corpus)])
        parts = []
        for part in range(3):
            parts.append(tmp_path / f"{name}{part}")
            parts[-1].mkdir()
            low, high = (n * len(of_corpus) // 3 for n in (part, part + 1))
            encode(store, documents, low, high, passages, parts[-1], lambda *_: None)
        (tmp_path / name).mkdir()
        assert locate(store, parts, tmp_path / name) == len(of_corpus)
        # Another process reads the same, in the order of the documents.
        stored = StoredVectors(tmp_path / name, VectorStore(tmp_path / "store"))
        expected = [[len(text), text.count("a")] for text in of_corpus]
        assert stored.at(slice(None)).tolist() == expected
        assert np.concatenate([block for _, block in stored.blocks(7)]).tolist() == expected
    assert sorted(encoded) == sorted(set(first + second))


def test_processes_that_store_the_same_do_not_harm_each_other(tmp_path):
    store, digests = VectorStore(tmp_path), digests_of(["a", "b", "c"])
    vectors = np.arange(6, dtype=np.float32).reshape(3, 2)
    others = [VectorStore(tmp_path) for _ in range(4)]
    threads = [threading.Thread(target=other.add, args=(digests, vectors)) for other in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.refresh()
    shards, rows, names = store.find(digests_of(["c", "x", "a"]))
    assert (shards.tolist(), len(names), len(list(tmp_path.iterdir()))) == ([0, -1, 0], 1, 1)
    assert store.vectors(shards[[0, 2]], rows[[0, 2]], names).tolist() == [[4, 5], [0, 1]]


def test_what_is_not_stored_is_said(tmp_path):
    (tmp_path / "part").mkdir()
    np.save(tmp_path / "part" / "digests.npy", digests_of(["a"]))
    with pytest.raises(KeyError):
        locate(VectorStore(tmp_path / "store"), [tmp_path / "part"], tmp_path)
    np.save(tmp_path / "part" / "digests.npy", digests_of([]))
    with pytest.raises(NoDocumentsError):
        locate(VectorStore(tmp_path / "store"), [tmp_path / "part"], tmp_path)


ALL = "?lists=7&probes=7"


@pytest.mark.parametrize("name", ["dense:{}", "faiss-flat:{}", "faiss-ivf:{}" + ALL, "faiss-hnsw:{}"])
def test_an_index_finds_what_the_exact_search_finds(tmp_path, model, name):
    if name.startswith("faiss"):
        pytest.importorskip("faiss", reason="the extra `retrieval` is not installed")
    passages, questions = list(dict.fromkeys(texts(200))), texts(12, seed=5)
    corpus = written(tmp_path / "docs.jsonl", {str(n): text for n, text in enumerate(passages)})
    library = IndexLibrary(tmp_path / "indexes")
    order = library.order(engines.read(name.format(model)), corpus)
    library.build(order, corpus, now=NOW)
    exact = Dense.load(model, device="cpu")
    with library.open(order, corpus) as (documents, searcher), corpora.Corpus.open(corpus) as scanned:
        found, expected = searcher.search(questions, documents, 10), exact.search(questions, scanned, 10)
        assert exact.name in searcher.name
        with pytest.raises(ValueError, match="documents, not of 1"):
            searcher.search(questions, DocumentList([Document("a", "a")]), 1)
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-5)
    clear = np.abs(np.diff(expected.scores, axis=1)) > 1e-4
    is_clear = np.pad(clear, ((0, 0), (1, 0)), constant_values=True) & np.pad(clear, ((0, 0), (0, 1)))
    assert (found.places == expected.places)[is_clear].all()
    assert is_clear.mean() > 0.3


def test_indexes_of_one_model_share_its_vectors(tmp_path, model, monkeypatch):
    pytest.importorskip("faiss", reason="the extra `retrieval` is not installed")
    corpus = written(tmp_path / "docs.jsonl", {str(n): text for n, text in enumerate(texts(50))})
    library = IndexLibrary(tmp_path / "indexes")
    first, second = (library.order(engines.read(f"{name}:{model}"), corpus) for name in ("dense", "faiss-flat"))
    library.build(first, corpus, now=NOW)
    shards = {path: path.stat().st_mtime_ns for path in (tmp_path / "indexes" / "shared").rglob("*.npy")}
    library.build(second, corpus, now=NOW)
    assert shards == {path: path.stat().st_mtime_ns for path in (tmp_path / "indexes" / "shared").rglob("*.npy")}
    library.delete(first.key)
    assert all(path.exists() for path in shards)
    library.delete(second.key)
    assert not any(path.exists() for path in shards)


def clustered(folder: Path, n: int, dimensions: int = 32) -> tuple[StoredVectors, np.ndarray]:
    """Vectors of length 1 around 60 centres, as those of texts about 60 subjects, and questions near some of them."""
    rng = np.random.default_rng(2)
    centres = rng.normal(size=(60, dimensions))
    points = centres[rng.integers(60, size=n)] + 0.5 * rng.normal(size=(n, dimensions))
    points = (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)
    questions = points[rng.integers(n, size=100)] + 0.1 * rng.normal(size=(100, dimensions))
    store = VectorStore(folder / "store")
    documents = DocumentList([Document(str(place), f"text {place}") for place in range(n)])
    (folder / "part").mkdir()
    encode(store, documents, 0, n, lambda batch: points[[int(text.split()[1]) for text in batch]], folder / "part",
           lambda *_: None)  # fmt: skip
    locate(store, [folder / "part"], folder)
    return StoredVectors(folder, store), questions.astype(np.float32)


@pytest.mark.extended
def test_approximate_indexes_miss_few(tmp_path, monkeypatch):
    pytest.importorskip("faiss", reason="the extra `retrieval` is not installed")
    from analysis.rag.retrieval import faiss_index
    from analysis.rag.retrieval.faiss_index import FaissIndex, FlatSettings, HnswSettings, IvfSettings

    monkeypatch.setattr(faiss_index, "BLOCK", 3000)
    monkeypatch.setattr(vector_store, "TEXTS", 2000)
    vectors, questions = clustered(tmp_path, 8000)
    exact = vectors.search(questions, 10)
    recall = {}
    for settings in (FlatSettings(), IvfSettings(lists=80, probes=80), IvfSettings(lists=80, probes=1),
                     IvfSettings(lists=80, probes=12), HnswSettings()):  # fmt: skip
        folder = tmp_path / str(len(recall))
        folder.mkdir()
        faiss_index.assemble(vectors, settings, folder, lambda *_: None)
        found = FaissIndex(folder, settings).search(questions, 10)
        assert (np.diff(found.scores, axis=1) <= 0).all()
        recall[str(settings)] = np.mean(
            [len(set(a) & set(b)) / 10 for a, b in zip(found.places.tolist(), exact.places.tolist(), strict=True)]
        )
    flat, all_lists, one_list, some_lists, graph = recall.values()
    assert flat == all_lists == 1.0
    assert one_list < some_lists
    assert min(some_lists, graph) >= 0.95
    few = FaissIndex(tmp_path / "0", FlatSettings()).search(questions[:1], 8100)
    assert ((few.places >= 0).sum(), few.places[0, -1]) == (8000, -1)


@pytest.mark.parametrize("name", ["faiss-ivf:m?probes=0", "faiss-ivf:m?lists=-1", "faiss-hnsw:m?links=1",
                                  "faiss-hnsw:m?search=0", "faiss-flat", "faiss-flat:m?lists=3"])  # fmt: skip
def test_settings_out_of_bounds_are_refused(name):
    with pytest.raises(BadRetrieverError):
        engines.read(name)
