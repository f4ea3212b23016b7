"""Read responses of RAG systems, models and people from JSON lines (including the TREC RAG format)."""

import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from crowdrag.studies.enums import ParticipantKind

from ..responses import Part, ResponseInput
from . import json_lines
from .fields import MAX_STYLE, AddressedIdentifier, Either, Identifier, ListOf, Object, Optional, Text, Whole
from .problems import MAX_SHOWN, Problems
from .sources import Member

DEFAULT_STYLE = "essay"
# Responses without an ID get one derived from their author, topic and style, so that a file always gives the same IDs.
NAMESPACE = uuid.UUID("6f4f2f4e-52b5-5d3e-9a26-9a0b1f0f4f25")

# All names of each field, CrowdRAG's first.
TOPIC = ("topic", "topic_id", "qid", "narrative_id")
AUTHORS = {
    "run": ParticipantKind.SYSTEM,
    "run_id": ParticipantKind.SYSTEM,
    "run_tag": ParticipantKind.SYSTEM,
    "model": ParticipantKind.MODEL,
    "writer": ParticipantKind.CROWD,
    "expert": ParticipantKind.EXPERT,
}
CONTENT = ("text", "statements", "answer")
ID = ("response", "response_id", "id")

_PARTS = ListOf(
    Object({"text": Text(blank=True), "citations": Optional(ListOf(Either((Whole(), Identifier(300)))))}), most=10_000
)
_CONTENT_FIELDS = {"text": Text(blank=True), "statements": _PARTS, "answer": _PARTS}


def read(
    member: Member,
    problems: Problems,
    *,
    style: str = DEFAULT_STYLE,
    report: json_lines.Report = json_lines.no_report,
) -> list[ResponseInput]:
    """Read responses; `style` is the default style."""
    responses = []
    for number, text in json_lines.texts(member, problems, limits=json_lines.KEPT, report=report):
        record = json_lines.parse_json(text, problems, file=member.name, line=number)
        if record is json_lines.MISSING:
            continue
        if isinstance(record, dict) and isinstance(record.get("metadata"), dict):
            record = record["metadata"] | record
        data = json_lines.check_record(record, _shape(record), problems, file=member.name, line=number)
        if data is not None:
            responses.append(_response(json_lines.Row(member.name, number, data), problems, style))
    _refuse_duplicates(responses, problems)
    return responses


def response_id(kind: str, author: str, topic: str, style: str) -> str:
    """Return an ID for a response that has none."""
    return str(uuid.uuid5(NAMESPACE, f"{kind}\0{author}\0{topic}\0{style}"))


def _shape(record: Any) -> json_lines.Shape:
    """Return the expected fields of this record, under the names that it uses."""
    fields = record if isinstance(record, dict) else {}
    content = _first(CONTENT, fields)
    return {
        _first(TOPIC, fields): Identifier(),
        _first(AUTHORS, fields): Identifier(),
        content: _CONTENT_FIELDS[content],
        _first(ID, fields): Optional(AddressedIdentifier()),
        "style": Optional(AddressedIdentifier(MAX_STYLE)),
        "references": Optional(ListOf(Either((Identifier(300), Object({"id": Identifier(300)}))))),
    }


def _first(names: Iterable[str], record: Mapping[str, Any]) -> str:
    """Return the first of these names that the record has; if none, the first name, to be reported as missing."""
    names = tuple(names)
    return next((name for name in names if name in record), names[0])


def _response(row: json_lines.Row, problems: Problems, default_style: str) -> ResponseInput:
    data = row.data
    author = _first(AUTHORS, data)
    kind = AUTHORS[author]
    style = data["style"] or default_style
    topic = data[_first(TOPIC, data)]
    content = _first(CONTENT, data)
    is_text = content == "text"
    return ResponseInput(
        external_id=data[_first(ID, data)] or response_id(kind, data[author], topic, style),
        topic=topic,
        style=style,
        kind=kind,
        participant=data[author],
        text=data["text"] if is_text else None,
        parts=() if is_text else _parts(row, content, problems),
        file=row.file,
        line=row.line,
    )


def _parts(row: json_lines.Row, name: str, problems: Problems) -> tuple[Part, ...]:
    """Return the parts with their citations: ranks, or passage IDs if the response has a list of references."""
    references = row.data["references"]
    if references is None:
        return tuple((part["text"], tuple(part["citations"] or ())) for part in row.data[name])
    ids = [entry["id"] if isinstance(entry, dict) else entry for entry in references]
    parts = []
    for n, part in enumerate(row.data[name]):
        cited: list[int | str] = []
        for citation in part["citations"] or ():
            if isinstance(citation, int) and not 0 <= citation < len(ids):
                field = f"{name}[{n}].citations"
                expected = (
                    f"indices of references, 0 to {len(ids) - 1}" if ids else "no citation, as there are no references"
                )
                problems.add(file=row.file, line=row.line, field=field, expected=expected, message=f"got {citation}")
            else:
                cited.append(ids[citation] if isinstance(citation, int) else citation)
        parts.append((part["text"], tuple(cited)))
    return tuple(parts)


def _refuse_duplicates(responses: Iterable[ResponseInput], problems: Problems) -> None:
    seen: dict[str, int] = {}
    for response in responses:
        first = seen.setdefault(response.external_id, response.line)
        if first != response.line:
            what = f"{response.participant}, topic {response.topic}, style {response.style}"[: 3 * MAX_SHOWN]
            message = f"this response ({what}) is on line {first} already"
            problems.add(
                file=response.file, line=response.line, field="response", expected="each response once", message=message
            )
