"""A file's format is told by its content: with any compression, container, encoding mark and line end."""

import bz2
import gzip
import io
import json
from typing import Any

import pyarrow as pa
import pytest
import zstandard
from pyarrow import ipc, parquet

from writing.corpus.formats import conversion
from writing.corpus.formats.format_registry import UnknownFormatError, get, recognise
from writing.corpus.formats.values import Citation, Part
from writing.corpus.imports.problems import BadInput, Effect, Problems
from writing.corpus.imports.sources import Member

METADATA = {"team_id": "t", "run_id": "r", "topic_id": "1"}
SENTENCE = {"text": "Yes.", "citations": ["d1"]}
DOCUMENT = {"id": "d1", "text": "One."}
ALCE = {"question": "Why?", "docs": [{"title": "A", "text": "B"}], "output": "So [1]."}
#: An example of each format, as its source documents it, and the number of values in it.
EXAMPLES: dict[str, tuple[Any, int]] = {
    "autojudge-reports": ([{"metadata": METADATA, "responses": [SENTENCE], "documents": {"d1": DOCUMENT}}], 1),
    "trec-rag25": ([{"metadata": METADATA, "references": ["d1"], "answer": [{"text": "Yes.", "citations": [0]}]}], 1),
    "trec-rag24": (
        [
            {"run_id": "r", "topic_id": "2024-1", "topic": "why", "references": ["d1"], "response_length": 1,
             "answer": [{"text": "Yes.", "citations": [0]}]},
        ],
        1,
    ),
    "autonuggetizer": (
        [{"query": "why", "qid": "q1", "nuggets": [{"text": "N", "importance": "vital", "assignment": "support"}]}], 1
    ),
    "autojudge-nuggets": ([{"query_id": "1", "claim_bank": [{"claim": "C", "query_id": "1", "references": ["d"]}]}], 1),
    "leaderboard-jsonl": ([{"run_id": "r", "topic_id": "all", "measure": "m", "value": 0.5}], 1),
    "alce": (json.dumps({"args": {"shot": 2}, "data": [ALCE, ALCE | {"sample_id": 7}]}, indent=4), 2),
    "ragas": ([{"user_input": "Why?", "retrieved_contexts": ["A."], "response": "So.", "reference": "R"}], 1),
    "ragas-csv": ("user_input,retrieved_contexts,response\nWhy?,\"['A.', 'it''s']\",So.\n", 1),
    "ares": ("Query\tDocument\tAnswer\tContext_Relevance_Label\nWhy?\tA.\tSo.\t1\n", 1),
    "autojudge-requests": ([{"request_id": "1", "title": "Why?", "problem_statement": "P"}], 1),
    "hugging-face": ([{"question": "Why?", "output": "So.", "model": "m"}], 1),
    "autojudge-documents": ([{"docid": "d1", "segment": "One.", "headings": "H"}], 1),
    "trec-run": ("1 Q0 d1 1 12.5 r\n1 Q0 d2 2 11 r\n", 2),
    "trec-qrels": ("1 0 d1 3\n1 0 d2 0\n", 2),
    "leaderboard-ir-measures": ("r\t1\tnDCG@10\t0.5\nr\tall\tnDCG@10\t0.5\n", 2),
    "leaderboard-tot": ("r m 1 0.5\nr m all 0.5\n", 2),
    "leaderboard-rag4reports": ("1 r m 0.5\nall r m 0.5\n", 2),
    "leaderboard-trec-eval": ("map                   \tall\t0.5\n", 1),
    "topic-lines": ("1\tWhy?\n2\tHow so?\n", 2),
}  # fmt: skip


def member(data: str | bytes, name: str = "file") -> Member:
    content = data.encode() if isinstance(data, str) else data
    return Member(name, len(content), lambda: io.BytesIO(content))


def as_text(example: Any) -> str:
    return example if isinstance(example, str) else "".join(json.dumps(record) + "\n" for record in example)


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_format_is_recognised_in_any_container(name: str) -> None:
    example, count = EXAMPLES[name]
    plain = as_text(example).encode()
    variants = [
        plain, b"\xef\xbb\xbf" + plain, plain.replace(b"\n", b"\r\n"), gzip.compress(plain), zstandard.compress(plain),
        b"\n" + plain if plain.startswith(b"{") else plain,
    ]  # fmt: skip
    if not isinstance(example, str):
        variants += [json.dumps(example).encode(), json.dumps(example, indent=2).encode()]
    for variant in variants:
        assert recognise(member(variant)).name == name
        problems = Problems()
        assert len(get(name).read(member(variant), problems).rows) == count
        assert problems.found == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_written_again_holds_the_same(name: str) -> None:
    text = as_text(EXAMPLES[name][0])
    converted = conversion.convert(member(text), get(name))
    again = conversion.convert(member(converted.data), get(name))

    assert (converted.set_aside, converted.lost) == (0, {})
    assert again.data == converted.data
    if name in (
        "autojudge-reports",
        "trec-rag24",
        "autonuggetizer",
        "leaderboard-jsonl",
        "ragas",
        "autojudge-requests",
    ):
        assert json.loads(converted.data) == json.loads(text)
    if name == "alce":
        assert json.loads(converted.data) == json.loads(text) | {"data": [ALCE, ALCE | {"sample_id": "7"}]}


def test_parquet_and_arrow_are_data_sets() -> None:
    table = pa.table({"question": ["Why?", "How?"], "answer": ["So.", None], "contexts": [["A."], []], "label": [1, 2]})
    for write in (parquet.write_table, _arrow_file, _arrow_stream):
        sink = io.BytesIO()
        write(table, sink)
        problems = Problems(sets_aside=True)
        [row] = recognise(member(sink.getvalue())).read(member(sink.getvalue()), problems).rows
        assert (row.value.query, row.value.documents[0].text, row.value.extra) == ("Why?", "A.", {"label": 1})
        assert problems.rows(Effect.SET_ASIDE) == {"file": 1}
    damaged = member(b"PAR1" + b"x" * 50)
    with pytest.raises(BadInput):
        conversion.convert(damaged, get("hugging-face"), source=get("hugging-face"))


def _arrow_file(table: pa.Table, sink: io.BytesIO) -> None:
    with ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def _arrow_stream(table: pa.Table, sink: io.BytesIO) -> None:
    with ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)


def test_messy_rows_are_set_aside_with_their_lines() -> None:
    good = json.dumps({"metadata": METADATA, "answer": [SENTENCE], "score": float("nan")})
    wrong = [
        "{", "null", '"text"', "[[]]", "{}", '{"metadata": {"run_id": "r", "topic_id": "1"}, "answer": 3}',
        json.dumps({"metadata": METADATA, "answer": [{"text": "\x00"}]}),
        json.dumps({"metadata": METADATA, "answer": [{"text": "\ud800"}]}),
        json.dumps({"metadata": METADATA, "answer": [SENTENCE | {"x": "\ud800"}]}),
        json.dumps({"metadata": METADATA | {"narrative_id": "2"}, "answer": [SENTENCE]}),
        json.dumps({"metadata": METADATA, "answer": [{"text": "x", "citations": {"d": float("inf")}}]}),
        '{"a": ' * 5000, '{"metadata": {"run_id": ' + "9" * 5000 + "}}",
    ]  # fmt: skip
    data = "\n".join([good, *wrong, good]).encode() + b"\n\xff\xfe\n"
    problems = Problems(sets_aside=True)
    contents = get("trec-rag25").read(member(data), problems)

    assert [row.line for row in contents.rows] == [1, len(wrong) + 2]
    assert contents.values[0].extra == {"score": None}
    assert {fault.line for fault, _ in problems.faults} == set(range(2, len(wrong) + 2)) | {len(wrong) + 3}
    assert all(fault.message and fault.expected for fault, _ in problems.faults)


@pytest.mark.parametrize(
    "data",
    [
        gzip.compress(as_text(EXAMPLES["trec-rag25"][0]).encode() * 99)[:-40],
        zstandard.compress(b"\0" * (17 * 1024**2)),
        as_text(EXAMPLES["trec-rag25"][0]).encode("utf-16"),
    ],
    ids=["truncated", "one endless line", "utf-16"],
)
def test_files_that_cannot_be_read_are_refused(data: bytes) -> None:
    with pytest.raises(BadInput):
        conversion.convert(member(data), get("trec-rag25"), source=get("trec-rag25"))


@pytest.mark.parametrize("data", ["", "some words\n", bz2.compress(b"x"), b"\x00\x01", "{}", "[]", "a b c d\n"])
def test_what_no_format_recognises_is_named_with_the_formats(data: str | bytes) -> None:
    with pytest.raises(UnknownFormatError, match="trec-rag25"):
        recognise(member(data))


def test_a_conversion_counts_what_is_lost() -> None:
    text = as_text(EXAMPLES["autojudge-reports"][0])
    converted = conversion.convert(member(text), get("ragas"))
    assert converted.lost == {
        Part.TOPIC_ID: 1, Part.RUN: 1, Part.TEAM: 1, Part.CITATIONS: 1,
    }  # fmt: skip
    assert json.loads(converted.data) == {
        "user_input": "", "retrieved_contexts": ["One."], "retrieved_context_ids": ["d1"], "response": "Yes.",
    }  # fmt: skip
    with pytest.raises(conversion.NotConvertibleError):
        conversion.convert(member(text), get("trec-qrels"))


def test_texts_with_markers_become_sentences_and_back() -> None:
    text = as_text(EXAMPLES["alce"][0])
    converted = conversion.convert(member(text, "sys.json"), get("autojudge-reports"))
    [value, _] = get("autojudge-reports").read(member(converted.data), Problems()).values
    [sentence] = value.sentences
    assert (value.run, value.query, sentence.text) == ("sys", "Why?", "So.")
    assert sentence.citations == (Citation(value.documents[0].id),)

    back = json.loads(conversion.convert(member(converted.data), get("alce")).data)
    assert [entry["output"] for entry in back["data"]] == ["So [1].", "So [1]."]
    plain = json.loads(conversion.convert(member(text), get("ragas")).data.splitlines()[0])
    assert plain["response"] == "So."
