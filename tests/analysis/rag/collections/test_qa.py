"""Questions as FlashRAG and DPR write them; corpora on disk."""

import doctest
import gzip
import json
import zipfile

import pytest

from analysis.rag.collections import corpus, folds, qa
from analysis.rag.collections.corpus import Corpus
from analysis.rag.collections.fields import BadCollectionError
from analysis.rag.protocols import Document
from tests.analysis.rag.collections.test_fields import written

PASSAGES = [{"id": i, "contents": f'"Title {i}"\nText of {i}.\nAnd more é.'} for i in range(7)]


def test_examples():
    assert doctest.testmod(corpus).failed == 0


def test_documents_in_the_line(tmp_path):
    ours = {"id": "a", "contents": '"Aaron"\nA prophet.', "score": 2, "is_helpful": True}
    found = qa.read(
        written(
            tmp_path,
            {"id": 1, "question": " Who? ", "golden_answers": [" Ada ", " "], "metric": "f1",
             "documents": [ours, ours]},
            {"id": 2, "question": "B?", "golden_answers": [],
             "ctxs": [{"id": "wiki:1", "title": "T", "text": "x", "score": "82.5", "hasanswer": False}]},
            {"id": "3", "question": "C?", "golden_answers": ["c"], "metadata": {"x": 1},
             "output": {"retrieval_result": [{"id": "7", "contents": "one line"}], "pred": "y"}},
            {"id": "4", "question": "D?", "golden_answers": ["d"]},
            name="nq.dev.jsonl",
        ),
        metric="em",
    )  # fmt: skip
    assert found.name == "nq"
    first, second, third, fourth = found.queries
    assert (first.id, first.question, first.answers, first.metric) == ("1", "Who?", ("Ada",), "f1")
    assert first.documents == (Document("a", "A prophet.", "Aaron", 2.0, True),)
    assert second.answers == ()
    assert second.metric == "em"
    assert second.documents == (Document("wiki:1", "x", "T", 82.5, False),)
    assert third.documents == (Document("7", "one line"),)
    assert fourth.documents == ()
    assert found.left_out == ((qa.BLANK_ANSWER, 1), (qa.TWICE, 1))


@pytest.mark.parametrize("packed", [False, True])
def test_a_corpus_is_read_by_place_by_id_and_in_blocks(tmp_path, packed):
    path = written(tmp_path, PASSAGES[0], "", *PASSAGES[1:])
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    with Corpus.open(path) as opened:
        assert len(opened) == 7
        assert opened[3] == Document("3", "Text of 3.\nAnd more é.", "Title 3")
        assert [opened.place(str(i)) for i in range(7)] == list(range(7))
        with pytest.raises(KeyError, match="9"):
            opened.place("9")
        blocks = []
        for start, block in opened.blocks(3):
            assert opened[6].id == "6"  # in between
            blocks.append((start, [each.id for each in block]))
        assert blocks == [(0, ["0", "1", "2"]), (3, ["3", "4", "5"]), (6, ["6"])]
        questions = written(tmp_path, {"id": 1, "question": "Q", "golden_answers": [], "documents": ["5", 2]}, name="q")
        assert [each.id for each in qa.read(questions, corpus=opened).queries[0].documents] == ["5", "2"]
        questions.write_text(json.dumps({"id": 1, "question": "Q", "golden_answers": [], "documents": ["5", "x"]}))
        with pytest.raises(BadCollectionError, match=r"line 1, documents\[1\]"):
            qa.read(questions, corpus=opened)


def test_a_corpus_has_each_id_once(tmp_path, monkeypatch):
    with pytest.raises(BadCollectionError, match="'3'"):
        Corpus.open(written(tmp_path, *PASSAGES, PASSAGES[3]))
    with pytest.raises(BadCollectionError):
        Corpus.open(written(tmp_path, ""))
    with pytest.raises(BadCollectionError, match="line 2, contents"):
        Corpus.open(written(tmp_path, PASSAGES[0], {"id": 9}))
    # Digests that collide are no ids that do.
    monkeypatch.setattr(corpus, "_digest", lambda key: int(key) % 2)
    with Corpus.open(written(tmp_path, *PASSAGES)) as opened:
        assert [opened.place(str(i)) for i in range(7)] == list(range(7))
    with pytest.raises(BadCollectionError, match="'3'"):
        Corpus.open(written(tmp_path, *PASSAGES, PASSAGES[3]))


def test_a_line_may_say_its_split_and_what_is_written_says_it_again(tmp_path):
    rows = [{"id": i, "question": "A?", "golden_answers": ["a"], "split": split}
            for i, split in enumerate(["train", "validation", "test", None])]  # fmt: skip
    found = qa.read(written(tmp_path, *rows))
    assert [folds.part_of(each) for each in found.queries] == ["train", "dev", "test", ""]
    assert [row.get("split") for row in qa.write(found.queries)] == ["train", "dev", "test", None]
    with pytest.raises(BadCollectionError, match="line 1, split"):
        qa.read(written(tmp_path, {"id": 1, "question": "A?", "golden_answers": [], "split": "half"}))


def test_an_archive_of_train_dev_and_test_is_read_as_they_are_published(tmp_path):
    def line(name: str) -> bytes:
        return json.dumps({"id": f"{name}_0", "question": "A?", "golden_answers": ["a"]}).encode()

    path = tmp_path / "nq.zip"
    with zipfile.ZipFile(path, "w") as pack:
        pack.writestr("nq/README.md", "Questions")
        pack.writestr("__MACOSX/nq/train.jsonl", "x")
        pack.writestr("nq/test.jsonl", line("test"))
        pack.writestr("nq/dev.jsonl.gz", gzip.compress(line("dev")))
        pack.writestr("nq/train.jsonl", line("train"))
    found = qa.read(path)
    assert [(each.id, folds.part_of(each)) for each in found.queries] == [
        ("train_0", "train"), ("dev_0", "dev"), ("test_0", "test"),
    ]  # fmt: skip
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as pack:
        pack.writestr("train.jsonl", line("a"))
        pack.writestr("other/train.jsonl", line("b"))
    with pytest.raises(BadCollectionError):
        qa.read(tmp_path / "two.zip")
    with zipfile.ZipFile(tmp_path / "none.zip", "w") as pack:
        pack.writestr("questions.jsonl", line("a"))
    with pytest.raises(BadCollectionError):
        qa.read(tmp_path / "none.zip")
