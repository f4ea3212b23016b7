"""Lucene indexes by Pyserini: for real where it and Java are installed; elsewhere it is said what is missing."""

import importlib.util
import os
import subprocess
from pathlib import Path

import pytest

from analysis.rag.collections.corpus import Corpus
from analysis.rag.protocols import Collection, Query
from analysis.rag.retrieval import engines, lucene_index
from analysis.rag.retrieval.engine import BadRetrieverError
from analysis.rag.retrieval.lucene_index import LuceneSettings, PyseriniMissingError
from analysis.rag.retrieval.search import BadSearchError
from tests.analysis.rag.retrieval.test_index_library import written

QUESTIONS = Collection("c", (Query("q1", "the moon?", ()), Query("q2", "who sleeps", ()), Query("q3", "xyzzy", ())))


@pytest.fixture
def anserini() -> list[str]:
    """The command that runs a class of Anserini; the test is skipped where it is not installed."""
    found = importlib.util.find_spec("pyserini")
    java = Path(os.environ.get("JAVA_HOME", "/none")) / "bin" / "java"
    if found is None or not java.exists():
        pytest.skip("Pyserini is not installed, or JAVA_HOME is not set")
    jar = next(Path(found.submodule_search_locations[0]).glob("resources/jars/anserini-*-fatjar.jar"))
    return [str(java), "-cp", str(jar)]


@pytest.mark.filterwarnings("ignore")
def test_an_index_of_anserini_gives_the_candidates(anserini, tmp_path):
    (tmp_path / "docs").mkdir()
    corpus, index = written(tmp_path / "docs" / "docs.jsonl"), tmp_path / "lucene"
    subprocess.run(
        [*anserini, "io.anserini.index.IndexCollection", "-collection", "JsonCollection", "-input", corpus.parent,
         "-index", index, "-generator", "DefaultLuceneDocumentGenerator", "-threads", "1"],
        check=True, capture_output=True,
    )  # fmt: skip
    choice = engines.read(f"pyserini:{index}?k1=1.2&b=0.75")
    with Corpus.open(corpus) as documents:
        found = choice.engine.looks_up(choice, QUESTIONS, documents, 5)
    assert [[each.id for each in query.documents] for query in found.queries] == [["moon", "tide"], ["cat"], []]
    # They tie, and Anserini orders them by id. Both have three words, one of them "moon", in a corpus of three:
    # ln(1 + 1.5 / 2.5) / (1 + 1.2 (1 - 0.75 + 0.75 * 3 / mean length)).
    scores = [each.score for each in found.queries[0].documents]
    assert scores == pytest.approx([0.2136] * 2, rel=0.05)
    with pytest.raises(BadSearchError):
        lucene_index.rank(tmp_path, [("q", "x")], 1, LuceneSettings())


@pytest.mark.skipif(importlib.util.find_spec("pyserini") is not None, reason="Pyserini is installed")
def test_without_pyserini_it_is_said(tmp_path):
    with pytest.raises(PyseriniMissingError, match="Java"):
        lucene_index.rank(tmp_path, [("q", "x")], 1, LuceneSettings())


@pytest.mark.parametrize("name", ["pyserini", "pyserini:x?k1=-1", "pyserini:x?b=2"])
def test_wrong_names_are_refused(name):
    with pytest.raises(BadRetrieverError):
        engines.read(name)
