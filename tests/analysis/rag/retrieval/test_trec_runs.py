"""TREC run files: ranked as ir_measures reads them, broken rows set aside, documents taken from the corpus."""

import gzip

import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.rag.collections.corpus import Corpus
from analysis.rag.collections.fields import BadCollectionError
from analysis.rag.protocols import Collection, Query
from analysis.rag.retrieval import trec_runs
from tests.analysis.rag.retrieval.test_index_library import written
from tests.examples import examples

QUESTIONS = Collection("c", tuple(Query(f"q{n}", "?", ()) for n in (1, 2)), (("earlier", 1),))


@pytest.fixture
def corpus(tmp_path):
    with Corpus.open(written(tmp_path / "docs.jsonl")) as opened:
        yield opened


def file(tmp_path, text: str | bytes):
    path = tmp_path / "run.trec"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_run_file_gives_the_candidates(tmp_path, corpus):
    run = trec_runs.read(file(tmp_path, "q1 Q0 cat 2 7.5 bm25\nq1\tQ0 moon 1\t9 bm25\n\nq3 Q0 cat 1 1 bm25\n"
                                        "q1 Q0 gone 3 8 bm25\nq1 Q0 tide 3 7 bm25\n"))  # fmt: skip
    assert (run.name, run.set_aside) == ("bm25", ())
    found = trec_runs.retrieve(QUESTIONS, run, corpus, 2)
    assert [[(each.id, each.score) for each in query.documents] for query in found.queries] == [
        [("moon", 9.0), ("cat", 7.5)], [],
    ]  # fmt: skip
    assert found.queries[0].documents[1].text == "A cat sleeps by day."
    assert dict(found.left_out) == {"earlier": 1, "questions that the run does not rank": 1,
                                    "ranked documents that the corpus does not have": 1,
                                    "ranked questions that the file does not have": 1}  # fmt: skip


def test_broken_rows_are_set_aside_with_their_lines(tmp_path, corpus):
    rows = [b"q1 Q0 cat 1 2 tag", b"q1 Q0 cat 2", b"q1 Q0 tide x 1 tag", b"q1 Q0 tide 2 nan tag", b"\xff Q0 a 1 1 tag",
            b"q1 Q0 cat 9 1 tag", b"q1 Q0 tide 1 1 tag more", b"q1 Q0 moon 2 1 other"]  # fmt: skip
    run = trec_runs.read(file(tmp_path, b"\n".join(rows)))
    assert [row.line for row in run.set_aside] == [2, 3, 4, 5, 6, 7]
    assert sorted(count for _reason, count in run.counts) == [1, 1, 2, 2]
    assert run.rankings == {"q1": (("cat", 2.0), ("moon", 1.0))}
    assert run.name == "tag+other"
    counts = dict(trec_runs.retrieve(QUESTIONS, run, corpus, 5).left_out)
    assert sum(counts.values()) == 6 + 2  # and the question without a ranking, and what was left out before


@pytest.mark.parametrize("text", ["", "\n", "{}", '{"id": "q"}\n', b"\x1f\x8bbroken"])
def test_what_is_no_run_file_is_refused(tmp_path, text):
    with pytest.raises(BadCollectionError, match=r"run\.trec"):
        trec_runs.read(file(tmp_path, text))


ROWS = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9), st.integers(-3, 3)), min_size=1, max_size=30,
                unique_by=lambda row: row[:2])  # fmt: skip


@settings(max_examples=examples(30), deadline=None)
@given(ROWS, st.booleans())
def test_rows_are_read_as_ir_measures_reads_them(tmp_path_factory, rows, is_packed):
    text = "".join(f"{query} Q0 d{document} 1 {score / 2} tag\n" for query, document, score in rows)
    path = file(tmp_path_factory.mktemp("run"), text)
    expected = {}
    for row in ir_measures.read_trec_run(str(path)):
        expected.setdefault(row.query_id, {})[row.doc_id] = row.score
    if is_packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    run = trec_runs.read(path)
    assert {query: dict(ranking) for query, ranking in run.rankings.items()} == expected
    for ranking in run.rankings.values():
        scores = [score for _document, score in ranking]
        assert scores == sorted(scores, reverse=True)
