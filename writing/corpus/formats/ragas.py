"""RAGAS evaluation data sets: single-turn samples as JSON lines, a JSON array, or CSV.

Fields (`ragas.SingleTurnSample`): `user_input`, `retrieved_contexts`, `retrieved_context_ids`, `response`, `reference`,
`reference_contexts`, `rubrics`; before version 0.2 `question`, `contexts`, `answer`, `ground_truth`. In CSV a list is
a cell with a list of quoted texts, as pandas writes it.
"""

import ast
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from analysis.text import statements

from ..imports import json_lines
from ..imports.fields import ListOf, Mismatch, Optional, Text
from ..imports.problems import Problems
from ..imports.sources import Member
from .record_files import (
    JSON,
    as_csv,
    as_json_lines,
    checked,
    collect,
    columns_of,
    csv_records,
    json_values,
    rest_of,
    without_none,
)
from .report_fields import MAX_DOCUMENTS, PASSAGE_ID
from .values import Document, FileContents, Report

_QUERY: Final = ("user_input", "question")
_CONTEXTS: Final = ("retrieved_contexts", "contexts")
_ANSWER: Final = ("response", "answer")
_IDS: Final = "retrieved_context_ids"
#: Columns of RAGAS whose cells hold lists or objects.
_NESTED: Final = (*_CONTEXTS, _IDS, "reference_contexts", "reference_context_ids", "multi_responses", "rubrics",
    "rubric", "ground_truths")  # fmt: skip
MAX_CELL: Final = 4_000_000


def is_ragas(names: Iterable[str]) -> bool:
    """Return whether these are fields of a sample of RAGAS."""
    fields = set(names)
    if "user_input" in fields:
        return bool(fields & {"response", "retrieved_contexts", "reference"})
    return "question" in fields and "contexts" in fields and "answer" in fields


def read(member: Member, problems: Problems, *, report: json_lines.Report = json_lines.no_report) -> FileContents:
    """Read samples from JSON lines or a JSON array. Conversations of several turns are set aside."""
    return _read(json_values(member, problems, report=report), member, problems)


def read_csv(member: Member, problems: Problems, *, report: json_lines.Report = json_lines.no_report) -> FileContents:
    """Read samples from CSV."""
    records = ((line, _unquoted(record)) for line, record in csv_records(member, problems, report=report))
    return _read(records, member, problems)


def _unquoted(record: Mapping[str, str]) -> dict[str, Any]:
    """Return the cells of a row: empty ones are absent, and lists are read from their text."""
    cells = {name: cell for name, cell in record.items() if cell != "" or name in _ANSWER}
    return {name: _list(cell) if name in _NESTED else cell for name, cell in cells.items()}


def _list(cell: str) -> Any:
    text = cell.strip()
    if text[:1] not in ("[", "{") or len(text) > MAX_CELL:
        return cell
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return cell


def _read(records: Iterable[tuple[int, Any]], member: Member, problems: Problems) -> FileContents:
    return collect(member, problems, records, _report)


def _report(record: Any) -> Report:
    fields = record if isinstance(record, dict) else {}
    query, answer, contexts = (_first(names, fields) for names in (_QUERY, _ANSWER, _CONTEXTS))
    if isinstance(fields.get(query), list):
        raise Mismatch("a single question", "this sample is a conversation of several turns", query)
    shape = {
        query: Text(),
        answer: Text(blank=True),
        contexts: Optional(ListOf(Text(blank=True), most=MAX_DOCUMENTS)),
        _IDS: Optional(ListOf(PASSAGE_ID, most=MAX_DOCUMENTS)),
    }
    data = checked(record, shape)
    texts, ids = data[contexts], data[_IDS]
    if ids is not None and len(ids) != len(texts or ()):
        raise Mismatch(f"{len(texts or ())} IDs, one for each context", f"has {len(ids)}", _IDS)
    documents = None
    if texts is not None:
        documents = tuple(Document(id_, text) for id_, text in zip(ids or [""] * len(texts), texts, strict=True))
    extra = rest_of(record, (query, answer, contexts, _IDS))
    return Report("", "", text=data[answer], query=data[query], documents=documents, extra=extra)


def _first(names: tuple[str, ...], record: Mapping[str, Any]) -> str:
    return next((name for name in names if record.get(name) is not None), names[0])


def write(contents: FileContents) -> Iterator[bytes]:
    """Write samples as JSON lines."""
    return as_json_lines(map(_record, contents.values))


def write_csv(contents: FileContents) -> Iterator[bytes]:
    """Write samples as CSV; lists are JSON in a cell, which RAGAS reads too."""
    records = [_record(report) for report in contents.values]
    cells = [{name: _cell(value) for name, value in record.items()} for record in records]
    columns = ["user_input", "retrieved_contexts", "response"]
    return as_csv(cells, [*columns, *(name for name in columns_of(cells) if name not in columns)])


def _cell(value: Any) -> Any:
    return json.dumps(JSON.clean(value), ensure_ascii=False) if isinstance(value, list | dict) else value


def _record(report: Report) -> dict[str, Any]:
    documents = report.documents
    ids = [document.id for document in documents or ()]
    record = {
        "user_input": report.query,
        "retrieved_contexts": None if documents is None else [document.text for document in documents],
        "retrieved_context_ids": ids if ids and all(ids) else None,
        "response": plain_text(report),
    }
    return without_none(record) | dict(report.extra)


def plain_text(report: Report) -> str:
    """Return the text of a report without citations: its sentences joined, or its text as it is."""
    if report.text is not None:
        return report.text
    parts = [(sentence.text, ()) for sentence in report.sentences or ()]
    return statements.compose(parts, passages=0).text
