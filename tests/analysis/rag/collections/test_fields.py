"""What is wrong in a file is said with file, line and field."""

import gzip
import json
from pathlib import Path

import pytest

from analysis.rag.collections import corpus, fields, lamp, passage_banks, qa
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
    def check(row, field):
        path = written(tmp_path, GOOD | {"id": "q0"}, "", row)
        with pytest.raises(BadCollectionError, match=r"data\.jsonl, line 3") as caught:
            qa.read(path)
        assert caught.value.field == field

    check_each(
        [
            ("{", ""),
            ("[1]", ""),
            ('{"id": 1, "id": 2}', "id"),
            (GOOD | {"id": ""}, "id"),
            (GOOD | {"id": True}, "id"),
            (GOOD | {"question": 5}, "question"),
            ({k: v for k, v in GOOD.items() if k != "question"}, "question"),
            (GOOD | {"golden_answers": "Ada"}, "golden_answers"),
            (GOOD | {"golden_answers": [1]}, "golden_answers"),
            (GOOD | {"metric": "bleu"}, "metric"),
            (GOOD | {"documents": {}}, "documents"),
            (GOOD | {"documents": [None]}, "documents[0]"),
            (GOOD | {"documents": ["d9"]}, "documents[0]"),
            (GOOD | {"documents": [{"id": "d"}]}, "documents[0].contents"),
            (GOOD | {"documents": [{"text": "x"}]}, "documents[0].id"),
            (GOOD | {"documents": [{"id": 1, "text": "x", "score": "high"}]}, "documents[0].score"),
            (GOOD | {"documents": [{"id": 1, "text": "x", "score": float("nan")}]}, "documents[0].score"),
            (GOOD | {"documents": [{"id": 1, "text": "x", "is_helpful": 1}]}, "documents[0].is_helpful"),
            (GOOD | {"documents": [{"id": 1, "text": "x"}, {"id": 1, "text": "y"}]}, "documents[1].id"),
            (GOOD | {"ctxs": []}, "ctxs"),
            (GOOD | {"output": {"retrieval_result": []}}, "output.retrieval_result"),
            (GOOD | {"output": 3}, "output"),
        ],
        check,
    )


def test_an_id_stands_once(tmp_path):
    with pytest.raises(BadCollectionError, match="line 2, id"):
        qa.read(written(tmp_path, GOOD, GOOD))
    with pytest.raises(BadCollectionError):
        qa.read(written(tmp_path, ""))
    with pytest.raises(BadCollectionError, match=r"nothing\.jsonl"):
        qa.read(tmp_path / "nothing.jsonl")


def test_files_are_unpacked_by_what_they_are(tmp_path):
    packed = tmp_path / "named-otherwise"
    packed.write_bytes(gzip.compress(json.dumps(GOOD).encode()))
    assert qa.read(packed).queries == qa.read(written(tmp_path, GOOD)).queries
    packed.write_bytes(packed.read_bytes()[:-12])
    for reader in (qa.read, passage_banks.read, lamp.read, corpus.Corpus.open):
        with pytest.raises(BadCollectionError):
            reader(packed)
    (tmp_path / "latin").write_bytes('{"id": "é"}'.encode("latin-1"))
    with pytest.raises(BadCollectionError, match=r"line 1: .*8"):
        list(lines(tmp_path / "latin"))


def test_what_is_too_large_is_not_read(tmp_path, monkeypatch):
    path = tmp_path / "packed.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n[" + b" " * 5000 + b"]"))
    monkeypatch.setattr(fields, "LONGEST_LINE", 5000)
    with pytest.raises(BadCollectionError, match="line 2"):
        qa.read(path)
    monkeypatch.setattr(fields, "LARGEST", 5000)
    with pytest.raises(BadCollectionError, match="5000"):
        lamp.read(path)


def test_what_was_found_is_shown_briefly():
    row = Fields("f", "line 1", {"a": "x" * 500, "b": None}, "in.")
    assert str(row.wrong("a", "less")).endswith("x" * 60 + "…")
    for field in "bc":
        assert str(row.wrong(field, "more")).startswith(f"f, line 1, in.{field}: more")
    with pytest.raises(BadCollectionError):
        Fields("f", "", {"n": True}).whole("n")
