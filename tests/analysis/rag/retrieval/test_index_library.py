"""A folder of indexes: found by contents, built in steps that may be killed, used without reading the corpus again."""

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from analysis.rag.collections.fields import BadCollectionError
from analysis.rag.protocols import Collection, Query
from analysis.rag.retrieval import engines, search
from analysis.rag.retrieval.engine import BadRetrieverError
from analysis.rag.retrieval.index_library import IndexLibrary, IndexOrder, MissingIndexError

NOW = datetime(2026, 11, 28, tzinfo=UTC)
TEXTS = {"tide": "The tide follows the moon.", "moon": "The moon has no air.", "cat": "A cat sleeps by day."}


def written(path: Path, texts: dict[str, str] = TEXTS) -> Path:
    data = "".join(json.dumps({"id": key, "contents": text}) + "\n" for key, text in texts.items()).encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    return path


@pytest.fixture
def corpus(tmp_path):
    return written(tmp_path / "docs.jsonl")


@pytest.fixture
def library(tmp_path):
    return IndexLibrary(tmp_path / "indexes")


def best(library: IndexLibrary, order: IndexOrder, corpus: Path, question: str = "the moon?") -> list[str]:
    with library.open(order, corpus) as (documents, searcher):
        found = search.retrieve(Collection("c", (Query("q", question, ()),)), documents, searcher, 2)
    return [document.id for document in found.queries[0].documents]


@pytest.mark.parametrize("name", ["docs.jsonl", "docs.jsonl.gz"])
def test_an_index_is_built_once_and_then_opened(library, tmp_path, name):
    corpus = written(tmp_path / name)
    order = library.order(engines.read("bm25"), corpus)
    assert (library.find(order), library.entries()) == (None, [])
    with pytest.raises(MissingIndexError), library.open(order, corpus):
        pass
    entry = library.build(order, corpus, now=NOW)
    assert (entry.documents, entry.choice, entry.corpus, entry.built_at) == (3, "bm25", name, NOW.isoformat())
    assert library.entries() == [library.find(order)] == [entry]
    assert best(library, order, corpus) == ["tide", "moon"]
    # Nothing is built again, and the parts are gone.
    assert library.build(order, tmp_path / "none", now=NOW.replace(year=2030)) == entry
    assert list((tmp_path / "indexes").glob("parts/*/*")) == []


def test_an_index_is_of_contents_and_settings(library, corpus, tmp_path):
    order = library.order(engines.read("bm25"), corpus)
    moved = written(tmp_path / "moved.jsonl")
    assert library.order(engines.read("bm25"), moved).key == order.key
    assert library.order(engines.read("bm25?k1=0.9"), corpus).key != order.key
    assert library.order(engines.read("bm25?k1=1.5"), corpus).key == order.key
    changed = written(tmp_path / "changed.jsonl", TEXTS | {"cat": "A cat."})
    assert library.order(engines.read("bm25"), changed).key != order.key


def test_a_deleted_index_is_gone_with_all_that_only_it_needed(library, corpus, tmp_path):
    orders = [library.order(engines.read(name), corpus) for name in ("bm25", "bm25?b=0.4")]
    for order in orders:
        library.build(order, corpus, now=NOW)
    assert library.delete(orders[0].key).key == orders[0].key
    assert library.find(orders[0]) is None
    assert best(library, orders[1], corpus) == ["tide", "moon"]
    library.delete(orders[1].key)
    assert [path for path in (tmp_path / "indexes").rglob("*") if path.is_file()] == []
    with pytest.raises(MissingIndexError):
        library.delete(orders[1].key)
    library.store_corpus(orders[0], corpus)
    library.build_part(orders[0], corpus, 0)
    with pytest.raises(MissingIndexError):
        library.delete(orders[0].key)  # it was not complete; its parts go
    assert list((tmp_path / "indexes").glob("parts/*/*")) == []


def test_a_bad_corpus_and_a_missing_part_are_refused(library, corpus, tmp_path):
    bad = tmp_path / "bad.jsonl"
    bad.write_text(corpus.read_text() + '{"id": "x"}\n')
    with pytest.raises(BadCollectionError, match="line 4"):
        library.build(library.order(engines.read("bm25"), bad), bad, now=NOW)
    order = library.order(engines.read("bm25"), corpus)
    with pytest.raises(MissingIndexError):
        library.build_part(order, corpus, 0)
    with pytest.raises(MissingIndexError):
        library.assemble(order, corpus, now=NOW)
    with pytest.raises(BadRetrieverError):
        library.order(engines.read("given"), corpus)
    assert library.entries() == []


@pytest.mark.parametrize(
    "name",
    ["", "xyz", "bm25:some", "given:x", "dense", "dense:", "bm25?k1", "bm25?k1=x", "bm25?k1=-1", "bm25?b=2",
     "bm25?formula=x", "bm25?stem=1", "bm25?k9=1", "given?k1=1"],
)  # fmt: skip
def test_names_that_say_nothing_are_refused(name):
    with pytest.raises(BadRetrieverError):
        engines.read(name)


@pytest.mark.parametrize(
    "name", ["bm25", "bm25:all", "bm25?k1=0.9&b=0.4", "bm25?formula=atire&stem=false", "dense:some/model", "given"]
)
def test_a_choice_is_written_as_it_is_read(name):
    choice = engines.read(name)
    assert str(choice) == name
    assert engines.read(str(choice)) == choice


BUILD = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from analysis.rag.retrieval import engines, index_library
library, corpus = index_library.IndexLibrary(Path(sys.argv[1])), Path(sys.argv[2])
order = library.order(engines.read("bm25"), corpus)
order = index_library.IndexOrder(order.choice, order.version, order.corpus, order.sha256, order.size, parts=40)
print(flush=True)
library.build(order, corpus, now=datetime(2026, 11, 28, tzinfo=UTC))
"""


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.extended
def test_killed_again_and_again_it_ends_the_same(tmp_path):
    rng = random.Random(3)
    words = [f"w{n}" for n in range(500)]
    corpus = written(tmp_path / "docs.jsonl", {str(n): " ".join(rng.choices(words, k=20)) for n in range(4000)})
    folder, whole = tmp_path / "killed", tmp_path / "whole"
    kills, parts_then = 0, 0
    for _ in range(40):
        process = subprocess.Popen(
            [sys.executable, "-c", BUILD, str(folder), str(corpus)], stdout=subprocess.PIPE, env=os.environ
        )
        process.stdout.readline()
        ends_at = time.monotonic() + 60
        # Killed when a few more parts are done, or in the middle of the last step.
        while process.poll() is None and len(list(folder.glob("parts/*/[!.]*"))) < min(parts_then + 9, 40):
            assert time.monotonic() < ends_at
            time.sleep(0.002)
        time.sleep(rng.uniform(0, 0.02))
        process.send_signal(signal.SIGKILL)
        if process.wait() == 0:
            break
        kills += 1
        parts_now = len(list(folder.glob("parts/*/[!.]*")))
        assert parts_now >= parts_then or (folder / "indexes").exists()  # what was done stays done
        parts_then = parts_now
    assert kills >= 4
    subprocess.run([sys.executable, "-c", BUILD, str(folder), str(corpus)], check=True, capture_output=True)
    subprocess.run([sys.executable, "-c", BUILD, str(whole), str(corpus)], check=True, capture_output=True)
    assert files_of(folder) == files_of(whole)
