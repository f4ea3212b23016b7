"""TREC's files are read by the field's own reader, and say what the tables say."""

from pathlib import Path

import ir_measures

from tests.analysis.releases.formats.judged import gold, grades, responses, retrieved, topics
from tests.analysis.releases.formats.made import TABLES, TEXTS, TOPICS, release


def read(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text(encoding="utf-8").split("\n") if line]


def test_grades_are_read_as_qrels_twice_as_large(tmp_path):
    release(tmp_path, (grades(
        ("r", "t1", "a", "quality", 1.0), ("r", "t1", "b", "quality", 2.5), ("r", "t1", "c", "quality", 2.5),
        ("r", "t 2", "d e", "quality", 1), ("r", "t1", "a", "coverage", 3.0), ("r", "t1", "z", "quality", None),
    ),))  # fmt: skip
    assert {path.name for path in (tmp_path / "trec").iterdir()} == {"qrels.quality.txt", "qrels.coverage.txt"}
    found = list(ir_measures.read_trec_qrels(str(tmp_path / "trec/qrels.quality.txt")))
    assert [(each.query_id, each.doc_id, each.relevance) for each in found] == [
        ("t1", "a", 2), ("t1", "b", 5), ("t1", "c", 5), ("t%202", "d%20e", 2),
    ]  # fmt: skip


def test_each_run_has_files_of_its_own(tmp_path):
    manifest = release(tmp_path, (grades(("one", "t", "a", "q", 1), ("two", "t", "a", "q", 2)),))
    assert read(tmp_path / "trec/qrels.q.txt") == [["t", "0", "a", "2"]]
    assert read(tmp_path / "trec/qrels.q.2.txt") == [["t", "0", "a", "4"]]
    meanings = {file["path"]: file["meaning"] for file in manifest["files"]}
    assert all(part in meanings["trec/qrels.q.2.txt"] for part in ("q", "two"))


def test_no_dimension_leaves_its_folder(tmp_path):
    release(tmp_path / "r", (grades(("r", "t", "a", "../../x", 1), ("r", "t", "b", ".. .. x", 2)),))
    assert sorted(path.name for path in (tmp_path / "r/trec").iterdir()) == ["qrels._x.2.txt", "qrels._x.txt"]
    assert [path.name for path in tmp_path.iterdir()] == ["r"]


def test_labels_are_preferences(tmp_path):
    pairs = gold(
        ("r", "a", "b", "q", "a"), ("r", "b", "a", "q", "n"), ("r", "a", "c", "q", "b"), ("r", "a", "b", "q", None),
    )  # fmt: skip
    release(tmp_path, (responses(("a", "t"), ("b", "t"), ("c", "t")), pairs))
    assert read(tmp_path / "trec/preferences.q.txt") == [
        ["t", "a", "b", "-1"], ["t", "b", "a", "0"], ["t", "a", "c", "1"],
    ]  # fmt: skip


def test_of_a_topic_only_the_last_version_is_there(tmp_path):
    lists = retrieved(("t", 1, 0, "p1", 1.0), ("t", 2, 0, "p2", 0.25), ("t", 2, 1, "p 3", None))
    release(tmp_path, (topics(("t", 1, "old"), ("t", 2, "two\twords\n here")), lists))
    assert (tmp_path / "trec/topics.tsv").read_text() == "t\ttwo words here\n"
    assert read(tmp_path / "trec/retrieved.run") == [
        ["t", "Q0", "p2", "1", "0.25", "retrieved"], ["t", "Q0", "p%203", "2", "-1.0", "retrieved"],
    ]  # fmt: skip
    found = list(ir_measures.read_trec_run(str(tmp_path / "trec/retrieved.run")))
    assert [(each.query_id, each.doc_id, each.score) for each in found] == [("t", "p2", 0.25), ("t", "p%203", -1.0)]


def test_hostile_queries_stay_on_their_lines(tmp_path):
    release(tmp_path, TABLES)
    lines = (tmp_path / "trec/topics.tsv").read_bytes().decode().split("\n")
    assert len(lines) == len(TEXTS) + 1
    assert [line.split("\t")[0] for line in lines[:-1]] == [row["topic"] for row in TOPICS.rows()]
    assert {line.count("\t") for line in lines[:-1]} == {1}


def test_what_has_no_line_has_no_file(tmp_path):
    lists = retrieved(("t", 1, 0, "p", 1.0))
    release(tmp_path, (topics(("t", 2, "q")), lists, grades(("r", "t", "a", "q", None)), responses(), gold()))
    assert [path.name for path in (tmp_path / "trec").iterdir()] == ["topics.tsv"]
