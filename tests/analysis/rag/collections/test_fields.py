"""What is wrong in a file is said with file, line and field."""

import gzip
import json
from pathlib import Path

import pytest

from analysis.rag.collections import banks, corpus, fields, lamp, qa
from analysis.rag.collections.fields import BadCollectionError, Fields, lines
from tests.analysis.cases import check_each

GOOD = {"id": "q1", "question": "Who?", "golden_answers": ["Ada"], "documents": [{"id": "d", "text": "Ada did."}]}


def written(folder: Path, *rows: object, name: str = "data.jsonl") -> Path:
    path = folder / name
    path.write_text(
        "".join((row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)) + "\n" for row in rows)
    )
    return path


def test_a_line_that_is_wrong_is_said_with_its_place(tmp_path):
    def check(row, field, expected):
        path = written(tmp_path, GOOD | {"id": "q0"}, "", row)
        with pytest.raises(BadCollectionError, match=r"data\.jsonl, line 3") as caught:
            qa.read(path)
        assert caught.value.field == field
        assert expected in caught.value.expected
        assert str(caught.value).count("expected") == 1

    check_each(
        [
            ("{", "", "JSON"),
            ("[1]", "", "a JSON object"),
            ('{"id": 1, "id": 2}', "id", "each field once"),
            (GOOD | {"id": ""}, "id", "an id"),
            (GOOD | {"id": True}, "id", "an id"),
            (GOOD | {"question": 5}, "question", "a text that is not blank"),
            ({k: v for k, v in GOOD.items() if k != "question"}, "question", "a text that is not blank"),
            (GOOD | {"golden_answers": "Ada"}, "golden_answers", "a list of texts"),
            (GOOD | {"golden_answers": [1]}, "golden_answers", "a list of texts"),
            (GOOD | {"metric": "bleu"}, "metric", "one of em, f1"),
            (GOOD | {"documents": {}}, "documents", "a list"),
            (GOOD | {"documents": [None]}, "documents[0]", "a document or the id of one"),
            (GOOD | {"documents": ["d9"]}, "documents[0]", "ids need a corpus"),
            (GOOD | {"documents": [{"id": "d"}]}, "documents[0].contents", "contents"),
            (GOOD | {"documents": [{"text": "x"}]}, "documents[0].id", "an id"),
            (GOOD | {"documents": [{"id": 1, "text": "x", "score": "high"}]}, "documents[0].score", "a finite number"),
            (GOOD | {"documents": [{"id": 1, "text": "x", "score": float("nan")}]}, "documents[0].score", "finite"),
            (
                GOOD | {"documents": [{"id": 1, "text": "x", "is_helpful": 1}]},
                "documents[0].is_helpful",
                "true or false",
            ),
            (GOOD | {"documents": [{"id": 1, "text": "x"}, {"id": 1, "text": "y"}]}, "documents[1].id", "one text"),
            (GOOD | {"ctxs": []}, "ctxs", "documents in one place only"),
            (GOOD | {"output": {"retrieval_result": []}}, "output.retrieval_result", "documents in one place only"),
            (GOOD | {"output": 3}, "output", "an object"),
        ],
        check,
    )


def test_an_id_stands_once(tmp_path):
    with pytest.raises(BadCollectionError, match="line 2, id: an id that no line before has expected, found q1"):
        qa.read(written(tmp_path, GOOD, GOOD))
    with pytest.raises(BadCollectionError, match="at least one question"):
        qa.read(written(tmp_path, ""))
    with pytest.raises(BadCollectionError, match=r"nothing\.jsonl: a file that can be read"):
        qa.read(tmp_path / "nothing.jsonl")


def test_files_are_unpacked_by_what_they_are(tmp_path):
    packed = tmp_path / "named-otherwise"
    packed.write_bytes(gzip.compress(json.dumps(GOOD).encode()))
    assert qa.read(packed).queries == qa.read(written(tmp_path, GOOD)).queries
    packed.write_bytes(packed.read_bytes()[:-12])
    for reader in (qa.read, banks.read, lamp.read, corpus.Corpus.open):
        with pytest.raises(BadCollectionError, match="a whole gzip file"):
            reader(packed)
    (tmp_path / "latin").write_bytes('{"id": "é"}'.encode("latin-1"))
    with pytest.raises(BadCollectionError, match="line 1: text in UTF-8 expected, found byte 8"):
        list(lines(tmp_path / "latin"))


def test_what_is_too_large_is_not_read(tmp_path, monkeypatch):
    path = tmp_path / "packed.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n[" + b" " * 5000 + b"]"))
    monkeypatch.setattr(fields, "LONGEST_LINE", 5000)
    with pytest.raises(BadCollectionError, match="line 2: at most 5000 bytes expected, found more"):
        qa.read(path)
    monkeypatch.setattr(fields, "LARGEST", 5000)
    with pytest.raises(BadCollectionError, match="at most 5000 bytes"):
        lamp.read(path)


def test_what_was_found_is_shown_briefly():
    row = Fields("f", "line 1", {"a": "x" * 500, "b": None}, "in.")
    assert str(row.wrong("a", "less")).endswith("x" * 60 + "…")
    assert str(row.wrong("b", "more")) == "f, line 1, in.b: more expected, found null"
    assert str(row.wrong("c", "more")) == "f, line 1, in.c: more expected, found nothing"
    with pytest.raises(BadCollectionError, match="a whole number"):
        Fields("f", "", {"n": True}).whole("n")
