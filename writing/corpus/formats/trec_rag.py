"""Answers of the TREC RAG track as submitted in 2024 and 2025, and reports of `autojudge-base`: one record a line.

2024: `run_id`, `topic_id`, `topic`, `references`, `response_length`, and `answer`, whose sentences cite indices of the
references. 2025: the same with `metadata` (`team_id`, `run_id`, `type`, `narrative_id`, `narrative`). Reports of
`autojudge-base` 1.0 have `responses`, whose sentences cite IDs or (with confidences) an object, and may have
`documents`.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from ..imports import json_lines
from ..imports.fields import Identifier, Mismatch, Optional, Text
from ..imports.problems import Problems
from ..imports.sources import Member
from .record_files import as_json_lines, json_values, rest_of, without_none
from .report_fields import (
    REFERENCES,
    Documents,
    Sentences,
    document_record,
    named_sentences,
    numbered_references,
    numbered_sentences,
    sentences_of,
)
from .values import FileContents, Located, Report

_TOPIC_NAMES: Final = ("topic_id", "narrative_id", "request_id", "qid")
_QUERY_NAMES: Final = ("narrative", "topic", "query")
_RUN_NAMES: Final = ("run_id", "run_tag")
_SENTENCE_NAMES: Final = ("answer", "responses")
_META_FIELDS: Final = (*_TOPIC_NAMES, "narrative", *_RUN_NAMES, "team_id")
_FLAT_FIELDS: Final = (*_TOPIC_NAMES, *_QUERY_NAMES, *_RUN_NAMES, "team_id")


def is_2024(record: Mapping[str, Any]) -> bool:
    """Return whether a record is an answer as in 2024: without metadata."""
    return "answer" in record and "metadata" not in record and _has(record, _RUN_NAMES) and _has(record, _TOPIC_NAMES)


def is_2025(record: Mapping[str, Any]) -> bool:
    """Return whether a record is an answer as in 2025: with metadata and `answer`."""
    return isinstance(record.get("metadata"), dict) and isinstance(record.get("answer"), list)


def is_autojudge(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a report of `autojudge-base`: with metadata and `responses`."""
    return isinstance(record.get("metadata"), dict) and isinstance(record.get("responses"), list)


def _has(record: Mapping[str, Any], names: Iterable[str]) -> bool:
    return any(name in record for name in names)


def read(member: Member, problems: Problems, *, report: json_lines.Report = json_lines.no_report) -> FileContents:
    """Read answers of any of the three layouts."""
    rows = []
    for line, record in json_values(member, problems, report=report):
        value = _report(record, problems, file=member.name, line=line)
        if value is not None:
            rows.append(Located(line, value))
    return FileContents(rows)


def _report(record: Any, problems: Problems, *, file: str, line: int) -> Report | None:
    has_metadata = isinstance(record, dict) and isinstance(record.get("metadata"), dict)
    metadata = record["metadata"] if has_metadata else {}
    fields = record | metadata if isinstance(record, dict) else record
    names = fields if isinstance(fields, dict) else {}
    topic_name, run_name = _first(_TOPIC_NAMES, names), _first(_RUN_NAMES, names)
    content, query_name = _first(_SENTENCE_NAMES, names), _first(_QUERY_NAMES, names)
    shape = {
        topic_name: Identifier(),
        run_name: Identifier(),
        "team_id": Optional(Text(blank=True)),
        query_name: Optional(Text(blank=True)),
        content: Sentences(),
        "references": REFERENCES,
        "documents": Optional(Documents()),
    }
    data = json_lines.check_record(fields, shape, problems, file=file, line=line)
    if data is None:
        return None
    topics = {str(names[name]) for name in _TOPIC_NAMES if names.get(name) is not None}
    if len(topics) > 1:
        message = f"two topics: {', '.join(sorted(topics))}"
        problems.set_aside(file=file, line=line, field=topic_name, expected="one topic a record", message=message)
        return None
    kept = ("metadata", *_SENTENCE_NAMES, "references", "documents")
    try:
        other = rest_of(record, kept if has_metadata else (*kept, *_FLAT_FIELDS))
        other_metadata = rest_of(metadata, _META_FIELDS)
    except Mismatch as mismatch:
        problems.set_aside(file=file, line=line, expected=mismatch.expected, message=mismatch.message)
        return None
    references = data["references"]
    return Report(
        topic=data[topic_name],
        run=data[run_name],
        sentences=sentences_of(data[content], references, problems, file=file, line=line, field=content),
        query=data[query_name] or "",
        team=data["team_id"] or "",
        references=None if references is None else tuple(references),
        documents=None if data["documents"] is None else tuple(data["documents"]),
        metadata=other_metadata,
        extra=other,
    )


def _first(names: Iterable[str], record: Mapping[str, Any]) -> str:
    """Return the first of these names that has a value; if none, the first name, to be reported as missing."""
    names = tuple(names)
    return next((name for name in names if record.get(name) is not None), names[0])


def write_2024(contents: FileContents) -> Iterator[bytes]:
    """Write answers as in 2024."""
    return as_json_lines(map(_record_2024, contents.values))


def write_2025(contents: FileContents) -> Iterator[bytes]:
    """Write answers as in 2025."""
    return as_json_lines(map(_record_2025, contents.values))


def write_autojudge(contents: FileContents) -> Iterator[bytes]:
    """Write reports of `autojudge-base`."""
    return as_json_lines(map(_record_of_autojudge, contents.values))


def _numbered(report: Report) -> dict[str, Any]:
    references = numbered_references(report)
    has_references = report.references is not None or bool(references)
    return ({"references": references} if has_references else {}) | {"answer": numbered_sentences(report, references)}


def _record_2024(report: Report) -> dict[str, Any]:
    head = {
        "run_id": report.run,
        "topic_id": report.topic,
        "topic": report.query or None,
        "team_id": report.team or None,
    }
    return without_none(head) | _numbered(report) | dict(report.extra)


def _record_2025(report: Report) -> dict[str, Any]:
    head = {
        "team_id": report.team or None,
        "run_id": report.run,
        "narrative_id": report.topic,
        "narrative": report.query or None,
    }
    return {"metadata": without_none(head) | dict(report.metadata)} | _numbered(report) | dict(report.extra)


def _record_of_autojudge(report: Report) -> dict[str, Any]:
    head = {
        # autojudge-base requires a team
        "team_id": report.team,
        "run_id": report.run,
        "topic_id": report.topic,
        "narrative": report.query or None,
    }
    record: dict[str, Any] = {
        "metadata": without_none(head) | dict(report.metadata),
        "responses": named_sentences(report),
    }
    if report.references is not None:
        record["references"] = list(report.references)
    if report.documents is not None:
        record["documents"] = {document.id: document_record(document) for document in report.documents}
    return record | dict(report.extra)
