"""Collections of ir_datasets, made of local files by its own means: what is written is what our readers read."""

import json

import pytest
from django.core.management import CommandError, call_command

from analysis.rag.collections import ir_collections, qa
from analysis.rag.collections.corpus import Corpus
from analysis.rag.collections.fields import BadCollectionError

ir_datasets = pytest.importorskip("ir_datasets", reason="the extra `retrieval` is not installed")


@pytest.fixture
def dataset(tmp_path):
    (tmp_path / "docs.tsv").write_text("d1\tThe tide follows the moon.\nd2\tA cat sleeps.\nd3\t \nd4\tBoats wait.\n")
    (tmp_path / "queries.tsv").write_text("q1\twhy is there a tide\nq2\twho sleeps\nq3\tnobody knows\n")
    (tmp_path / "qrels").write_text("q1 0 d1 2\nq1 0 d2 0\nq1 0 d9 1\nq2 0 d2 1\nq2 0 d4 1\nq2 0 d4 0\nq2 0 d3 1\n")
    return ir_datasets.create_dataset(
        docs_tsv=str(tmp_path / "docs.tsv"),
        queries_tsv=str(tmp_path / "queries.tsv"),
        qrels_trec=str(tmp_path / "qrels"),
    )


def test_a_collection_becomes_a_corpus_and_questions(dataset, tmp_path):
    written = ir_collections.write(dataset, tmp_path / "out", name="harbour")
    assert (written.documents, written.queries) == (3, 3)
    assert dict(written.set_aside) == {"documents without text": 1, "judgments of documents that are not there": 2}
    with Corpus.open(written.corpus) as corpus:
        assert [(each.id, each.text) for each in corpus.documents(range(3))][2] == ("d4", "Boats wait.")
        questions = qa.read(written.questions, corpus=corpus).queries
    judged = {query.id: {each.id: each.is_helpful for each in query.documents} for query in questions}
    assert judged == {"q1": {"d1": True, "d2": False}, "q2": {"d2": True, "d4": True}, "q3": {}}
    assert [query.question for query in questions] == ["why is there a tide", "who sleeps", "nobody knows"]
    stricter = ir_collections.write(dataset, tmp_path / "out", name="strict", relevant_from=2)
    graded = {query.id: [each.is_helpful for each in query.documents] for query in qa.read(stricter.questions).queries}
    assert graded["q2"] == [False, False]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "harbour-corpus.jsonl", "harbour-questions.jsonl", "strict-corpus.jsonl", "strict-questions.jsonl",
    ]  # fmt: skip


def test_parts_of_a_collection_may_be_missing(tmp_path):
    (tmp_path / "queries.tsv").write_text("q1\twhy\n")
    only_queries = ir_datasets.create_dataset(queries_tsv=str(tmp_path / "queries.tsv"))
    written = ir_collections.write(only_queries, tmp_path, name="q")
    assert (written.corpus, written.documents, written.queries) == (None, 0, 1)
    assert qa.read(written.questions).queries[0].documents == ()


def test_the_command_reads_a_registered_collection(dataset, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(ir_datasets.registry._registered, "harbour/test", dataset)
    call_command("ir_dataset", "harbour/test", out=tmp_path / "out", json=True)
    printed = json.loads(capsys.readouterr().out)
    assert (printed["documents"], printed["queries"], sum(printed["set_aside"].values())) == (3, 3, 3)
    assert qa.read(printed["questions"]).queries[0].id == "q1"
    with pytest.raises(CommandError, match="none/of/these"):
        call_command("ir_dataset", "none/of/these", out=tmp_path)
    with pytest.raises(BadCollectionError):
        ir_collections.load("none/of/these")
