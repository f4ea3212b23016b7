"""Hugging Face data sets on this machine: Parquet, Arrow (as `save_to_disk` writes), JSON or CSV with columns.

The columns are recognised by their usual names, or given as `query=question,answer=output`. The Hub is not asked:
download a data set first (`hf download --repo-type dataset NAME --local-dir FOLDER`), then give the folder.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, Final

from ..imports import json_lines
from ..imports.fields import Either, Identifier, ListOf, Mismatch, Optional, Text
from ..imports.problems import Problems, quote_value
from ..imports.sources import Member
from .record_files import (
    as_json_lines,
    columns_of,
    csv_records,
    is_table,
    json_values,
    rest_of,
    table_records,
    without_none,
)
from .report_fields import (
    MAX_DOCUMENTS,
    REFERENCES,
    Documents,
    Sentences,
    document_record,
    named_sentences,
    sentences_of,
)
from .values import Document, FileContents, Located, Report

#: The usual names of the columns of each role; the first is the one that is written.
ROLES: Final[Mapping[str, tuple[str, ...]]] = {
    "query": ("query", "question", "user_input", "prompt", "instruction", "input"),
    "answer": ("answer", "response", "output", "completion", "prediction", "generated_answer"),
    "topic": ("topic", "topic_id", "qid", "query_id", "question_id", "id"),
    "system": ("system", "run_id", "run", "model", "model_name", "generator"),
    "passages": ("passages", "contexts", "documents", "retrieved_contexts", "context", "docs"),
    "sentences": ("sentences",),
    "references": ("references",),
}
#: JSON lines may leave columns out, so that the columns are those of the first rows.
PROBED_ROWS: Final = 100
_REQUIRED: Final = ("query", "answer")
#: Files of a data set's folder that hold no rows.
METADATA_FILES: Final = frozenset({"dataset_info.json", "state.json", "dataset_dict.json", "dataset_infos.json"})


class ColumnsNotKnownError(ValueError):
    """The columns of a data set cannot be told; the message says what to do."""


def roles(columns: Sequence[str], mapping: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the column of each role, as given or by its usual name.

    Raises
    ------
    ColumnsNotKnownError
        If a role does not exist, a given column is missing, or no column has the query or the answer.
    """
    chosen = dict(mapping or {})
    if unknown := sorted(set(chosen) - set(ROLES)):
        msg = f"There is no role {unknown[0]}. Use {', '.join(ROLES)}."
        raise ColumnsNotKnownError(msg)
    if missing := sorted(set(chosen.values()) - set(columns)):
        msg = f"There is no column {missing[0]}. The file has {', '.join(columns)}."
        raise ColumnsNotKnownError(msg)
    for role, names in ROLES.items():
        column = next((name for name in names if name in columns and name not in chosen.values()), None)
        if role not in chosen and column is not None:
            chosen[role] = column
    if "sentences" not in chosen and (absent := [role for role in _REQUIRED if role not in chosen]):
        advice = f"Say which column it is, for example {absent[0]}=NAME."
        msg = f"No column holds the {absent[0]}. {advice} The file has {', '.join(columns)}."
        raise ColumnsNotKnownError(msg)
    return chosen


def is_data_set(columns: Sequence[str]) -> bool:
    """Return whether the usual names tell which columns hold the query and the answer."""
    try:
        return "query" in roles(columns)
    except ColumnsNotKnownError:
        return False


def read(
    member: Member,
    problems: Problems,
    *,
    report: json_lines.Report = json_lines.no_report,
    columns: Mapping[str, str] | None = None,
) -> FileContents:
    """Read the rows of a data set as answers."""
    records = _records(member, problems, report)
    probed = list(islice(records, PROBED_ROWS))
    if not probed:
        return FileContents([])
    names = columns_of(record for _, record in probed if isinstance(record, dict))
    try:
        chosen = roles(names, columns)
    except ColumnsNotKnownError as error:
        problems.add(
            file=member.name,
            line=probed[0][0],
            expected="a column with queries and one with answers",
            message=str(error),
        )
        return FileContents([])
    rows = []
    for line, record in chain(probed, records):
        value = _report(record, chosen, problems, file=member.name, line=line)
        if value is not None:
            rows.append(Located(line, value))
    return FileContents(rows)


def _records(member: Member, problems: Problems, report: json_lines.Report) -> Iterator[tuple[int, Any]]:
    if is_table(member):
        return table_records(member, problems)
    if member.name.lower().removesuffix(".gz").removesuffix(".zst").endswith((".csv", ".tsv")):
        return csv_records(member, problems, report=report)
    return json_values(member, problems, report=report, within="data")


_PASSAGES: Final = Either((Documents(), ListOf(Text(blank=True), most=MAX_DOCUMENTS), Text(blank=True)))


def _report(record: Any, chosen: Mapping[str, str], problems: Problems, *, file: str, line: int) -> Report | None:
    shape = {
        "query": Text() if "sentences" not in chosen else Optional(Text(blank=True)),
        "answer": Text(blank=True) if "sentences" not in chosen else Optional(Text(blank=True)),
        "topic": Optional(Identifier()),
        "system": Optional(Identifier()),
        "passages": Optional(_PASSAGES),
        "sentences": Optional(Sentences()),
        "references": REFERENCES,
    }
    if not isinstance(record, dict):
        expected = "a row with columns"
        problems.set_aside(file=file, line=line, expected=expected, message=f"got {quote_value(record)}")
        return None
    named = {role: record[column] for role, column in chosen.items() if record.get(column) is not None}
    data = json_lines.check_record(named, shape, problems, file=file, line=line)
    if data is None:
        return None
    try:
        extra = rest_of(record, chosen.values())
    except Mismatch as mismatch:
        problems.set_aside(file=file, line=line, expected=mismatch.expected, message=mismatch.message)
        return None
    sentences, references = data["sentences"], data["references"]
    if sentences is None and data["answer"] is None:
        field = chosen.get("answer", "answer")
        problems.set_aside(file=file, line=line, field=field, expected="an answer", message="is missing")
        return None
    return Report(
        topic=data["topic"] or "",
        run=data["system"] or "",
        sentences=None
        if sentences is None
        else sentences_of(sentences, references, problems, file=file, line=line, field="sentences"),
        text=data["answer"] if sentences is None else None,
        query=data["query"] or "",
        references=None if references is None else tuple(references),
        documents=_documents(data["passages"]),
        extra=without_none(extra),
    )


def _documents(passages: Any) -> tuple[Document, ...] | None:
    if passages is None:
        return None
    if isinstance(passages, str):
        return (Document("", passages),) if passages else None
    return tuple(entry if isinstance(entry, Document) else Document("", entry) for entry in passages)


def write(contents: FileContents) -> Iterator[bytes]:
    """Write a data set as JSON lines, which `datasets.load_dataset("json")` reads."""
    return as_json_lines(map(_record, contents.values))


def _record(report: Report) -> dict[str, Any]:
    record = {
        "topic": report.topic or None,
        "system": report.run or None,
        "query": report.query or None,
        "answer": report.text,
        "sentences": None if report.sentences is None else named_sentences(report),
        "references": None if report.references is None else list(report.references),
        "passages": None if report.documents is None else [document_record(each) for each in report.documents],
    }
    return record | dict(report.extra)
