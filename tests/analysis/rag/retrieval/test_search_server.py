"""A search server as an engine, against a process that keeps its documented rules and fails as planned."""

import json
import os
import subprocess
import sys
import urllib.request
from datetime import UTC, datetime

import numpy as np
import pytest

from analysis.rag.protocols import Document
from analysis.rag.retrieval import engines, search_server
from analysis.rag.retrieval.bm25 import Bm25Settings, scan
from analysis.rag.retrieval.engine import BadRetrieverError
from analysis.rag.retrieval.index_library import IndexLibrary
from analysis.rag.retrieval.search import DocumentList
from analysis.rag.retrieval.search_server import SearchServer, SearchServerError, ServerSettings
from tests.analysis.rag.retrieval.test_index_library import best, written
from tests.analysis.rag.retrieval.test_word_index import corpus_of, equal

NOW = datetime(2026, 11, 28, tzinfo=UTC)


class StandIn:
    def __init__(self, url: str) -> None:
        self.url = url

    def faults(self, *planned: dict) -> None:
        request = urllib.request.Request(f"{self.url}/_faults", json.dumps(planned).encode(), method="POST")
        urllib.request.urlopen(request).close()

    @property
    def state(self) -> dict:
        with urllib.request.urlopen(f"{self.url}/_state") as response:
            return json.load(response)


@pytest.fixture(scope="module")
def process():
    with subprocess.Popen(
        [sys.executable, "-m", "tests.analysis.rag.retrieval.search_stand_in"], stdout=subprocess.PIPE, env=os.environ
    ) as started:
        yield StandIn(f"http://127.0.0.1:{int(started.stdout.readline())}")
        started.kill()


@pytest.fixture
def stand_in(process, monkeypatch):
    process.faults()
    monkeypatch.setitem(search_server.SERVERS, "here", process.url)
    return process


@pytest.fixture
def pauses():
    return []


@pytest.fixture
def server(stand_in, pauses):
    with SearchServer(stand_in.url, sleep=pauses.append) as opened:
        yield opened


TEXTS = corpus_of(120)
DOCUMENTS = DocumentList([Document(f"d{n}", text) for n, text in enumerate(TEXTS)])


def add(server: SearchServer, index: str, documents: DocumentList = DOCUMENTS) -> None:
    server.create(index, ServerSettings())
    server.add(index, documents, 0, len(documents), lambda *_: None)


def test_it_finds_what_the_server_finds(server, monkeypatch):
    monkeypatch.setattr(search_server, "BULK_BYTES", 2000)
    monkeypatch.setattr(search_server, "QUESTIONS", 7)
    add(server, "found")
    assert server.count("found") == 0  # nothing is visible before the refresh
    server.finish("found", len(TEXTS))
    questions = [text for text in corpus_of(20, seed=2) if text] + ["xyzzy"]
    equal(server.search("found", questions, 9), scan(questions, DOCUMENTS, 9, Bm25Settings(k1=1.2)))
    server.delete("found")
    server.delete("found")


def test_a_part_that_is_sent_twice_changes_nothing(server):
    add(server, "twice")
    add(server, "twice")
    server.finish("twice", len(TEXTS))
    with pytest.raises(SearchServerError, match="120 of 121"):
        server.finish("twice", 121)


def test_a_busy_server_is_asked_again(server, stand_in, pauses):
    stand_in.faults(
        {"status": 503}, {"status": 429, "headers": {"retry-after": "7"}}, {}, {"item": 429}, {"item": 503}
    )  # the index is there at the third try, and its documents, too
    add(server, "busy")
    server.finish("busy", len(TEXTS))
    # One pause for the index, the one that the server asked for, and two for single documents.
    assert pauses == [0.5, 7.0, 0.5, 1.0]
    stand_in.faults({"item": 429}, {"status": 502})
    found = server.search("busy", TEXTS[:5], 3)
    np.testing.assert_array_equal(found.places, scan(TEXTS[:5], DOCUMENTS, 3, Bm25Settings(k1=1.2)).places)
    assert len(pauses) == 6
    stand_in.faults(*[{"status": 429}] * search_server.TRIES)
    with pytest.raises(SearchServerError, match="429"):
        server.search("busy", ["cat"], 3)
    stand_in.faults(*[{"item": 429}] * search_server.TRIES)
    with pytest.raises(SearchServerError, match="busy"):
        server.search("busy", ["cat"], 3)


def test_what_the_server_refuses_is_said(server):
    poisoned = DocumentList([*DOCUMENTS.items, Document("bad", "poison")])
    with pytest.raises(SearchServerError, match="document 121: document_parsing_exception"):
        add(server, "refused", poisoned)
    with pytest.raises(SearchServerError, match="analyzer has not been configured"):
        server.create("other", ServerSettings(analyzer="klingon"))
    with pytest.raises(SearchServerError, match="404"):
        server.count("missing")
    with pytest.raises(SearchServerError, match="1024"):
        server.search("refused", [" ".join(f"w{n}" for n in range(1100))], 1)
    pauses: list[float] = []
    with SearchServer("http://127.0.0.1:9", sleep=pauses.append) as nobody, pytest.raises(SearchServerError):
        nobody.count("any")
    assert len(pauses) == search_server.TRIES - 1
    assert max(pauses) == search_server.LONGEST_PAUSE


def test_the_engine_builds_opens_and_deletes_an_index(stand_in, tmp_path):
    corpus, library = written(tmp_path / "docs.jsonl"), IndexLibrary(tmp_path / "indexes")
    order = library.order(engines.read("opensearch:here?k1=0.9&analyzer=standard"), corpus)
    entry = library.build(order, corpus, now=NOW)
    name = entry.facts["on_server"]
    assert stand_in.state["indexes"][name] == 3
    assert stand_in.state["settings"][name]["settings"]["index"]["similarity"]["default"]["k1"] == 0.9
    assert best(library, order, corpus) == ["tide", "moon"]
    with library.open(order, corpus) as (_documents, searcher), pytest.raises(ValueError, match="3 documents"):
        searcher.search(["moon"], DOCUMENTS, 1)
    library.delete(order.key)
    assert name not in stand_in.state["indexes"]


@pytest.mark.parametrize("name", ["opensearch", "opensearch:x?k1=-1", "opensearch:x?b=2", "opensearch:x?analyzer=a/b"])
def test_wrong_names_are_refused(name):
    with pytest.raises(BadRetrieverError):
        engines.read(name)


def test_only_known_servers_are_asked(tmp_path):
    corpus, library = written(tmp_path / "docs.jsonl"), IndexLibrary(tmp_path / "indexes")
    with pytest.raises(BadRetrieverError, match="elsewhere"):
        library.build(library.order(engines.read("opensearch:elsewhere"), corpus), corpus, now=NOW)
