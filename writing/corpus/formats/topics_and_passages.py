"""Topics and passages beside answers: requests and documents of `autojudge-base`, and similar JSON lines.

Topics: `request_id` and `title` (autojudge-base), or `id`, `qid` and `query`, `text`. Passages: `id`, `docid`, `docno`,
`segid` and `text`, `segment`, `contents`; `title`, `url`.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..imports import json_lines, trec
from ..imports.fields import Identifier, Text
from ..imports.problems import Problems
from ..imports.sources import Member
from .record_files import as_json_lines, checked, collect, json_values, rest_of
from .report_fields import document_of, document_record
from .values import Document, FileContents, Located, Request

_TOPIC_NAMES: Final = ("request_id", "topic_id", "narrative_id", "qid", "query_id", "id")
_QUERY_NAMES: Final = ("title", "query", "narrative", "text", "topic")
_PASSAGE_NAMES: Final = ("id", "docid", "doc_id", "_id", "segid", "docno")
_TEXT_NAMES: Final = ("text", "segment", "contents", "passage")
#: The names of a topic's ID that repeat each other (`autojudge-base` writes all of them).
_MIRRORS: Final = ("topic_id", "narrative_id")


def is_request(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a topic."""
    if "request_id" in record and "title" in record:
        return True
    has_id = any(name in record for name in _TOPIC_NAMES)
    return (
        has_id
        and any(isinstance(record.get(name), str) for name in ("query", "title", "narrative"))
        and not (
            {"answer", "responses", "output", "docs", "nuggets", "nugget_bank", "segment", "contents"} & set(record)
        )
        and "text" not in record
    )


def is_passage(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a passage."""
    return any(name in record for name in _PASSAGE_NAMES) and any(
        isinstance(record.get(name), str) for name in _TEXT_NAMES
    )


def read_requests(
    member: Member, problems: Problems, *, report: json_lines.Report = json_lines.no_report
) -> FileContents:
    """Read topics from JSON; a topic that the file has already is set aside."""
    records = json_values(member, problems, report=report)
    return collect(member, problems, records, _parse_request, lambda request: (request.topic, f"topic {request.topic}"))


def _parse_request(record: Any) -> Request:
    fields = record if isinstance(record, dict) else {}
    topic, query = _first(_TOPIC_NAMES, fields), _first(_QUERY_NAMES, fields)
    data = checked(record, {topic: Identifier(), query: Text()})
    extra = rest_of(record, (topic, query))
    mirrors = {name for name in _MIRRORS if str(extra.get(name)) == data[topic]}
    return Request(data[topic], data[query], {name: value for name, value in extra.items() if name not in mirrors})


def read_topic_lines(
    member: Member, problems: Problems, *, report: json_lines.Report = json_lines.no_report
) -> FileContents:
    """Read topics as `id<TAB>query`, or in the classic `<top>` layout."""
    queries = trec.read_queries(member, problems)
    return FileContents(
        [Located(query.line, Request(query.external_id, query.query, _narrative(query.narrative))) for query in queries]
    )


def _narrative(text: str) -> dict[str, str]:
    return {"narrative": text} if text else {}


def read_passages(
    member: Member, problems: Problems, *, report: json_lines.Report = json_lines.no_report
) -> FileContents:
    """Read passages; one that the file has already is set aside."""
    records = json_values(member, problems, report=report)
    return collect(member, problems, records, _parse_passage, lambda document: (document.id, f"passage {document.id}"))


def _parse_passage(record: Any) -> Document:
    checked(record, {})  # an object
    return document_of(record, needs_id=True)


def _first(names: tuple[str, ...], record: Mapping[str, Any]) -> str:
    return next((name for name in names if record.get(name) is not None), names[0])


def write_requests(contents: FileContents) -> Iterator[bytes]:
    """Write topics as requests of `autojudge-base`."""
    return as_json_lines(
        {"request_id": request.topic, "title": request.query} | dict(request.extra) for request in contents.values
    )


def write_topic_lines(contents: FileContents) -> Iterator[bytes]:
    """Write topics as `id<TAB>query`; line breaks and tabs within a query become blanks."""
    for request in contents.values:
        yield f"{' '.join(request.topic.split())}\t{' '.join(request.query.split())}\n".encode()


def write_passages(contents: FileContents) -> Iterator[bytes]:
    """Write passages as documents of `autojudge-base`."""
    return as_json_lines(document_record(document) for document in contents.values)
