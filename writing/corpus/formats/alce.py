"""ALCE's output: one JSON file with `args` and `data`; each entry has a question, documents and the `output`.

Citation markers in the output count the entry's `docs` from 1: `[1][2]` (Gao et al. 2023, and `eval.py` of ALCE).
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from analysis.text import statements

from ..imports import json_lines
from ..imports.fields import Identifier, Mismatch, Optional, Text
from ..imports.problems import Problems
from ..imports.sources import Member
from .record_files import JSON, checked, collect, json_values, rest_of, without_none
from .report_fields import Documents, document_record
from .values import FileContents, Report

_TOPIC_NAMES: Final = ("sample_id", "id")
_FIELDS: Final = ("question", "docs", "output")
_DATA: Final = "data"


def is_alce(record: Mapping[str, Any]) -> bool:
    """Return whether a record is an entry of ALCE's output, or the whole of it."""
    if isinstance(record.get(_DATA), list) and "args" in record:
        return True
    return "question" in record and "output" in record and isinstance(record.get("docs"), list)


def read(member: Member, problems: Problems, *, report: json_lines.Report = json_lines.no_report) -> FileContents:
    """Read ALCE's output. An entry with several outputs is set aside: they are samples of one system."""
    about: dict[str, Any] = {}
    records = json_values(member, problems, report=report, within=_DATA, about=about)
    rows = collect(member, problems, records, _report).rows
    try:
        return FileContents(rows, JSON.clean(about))
    except Mismatch as mismatch:
        problems.add(file=member.name, expected=mismatch.expected, message=mismatch.message)
        return FileContents(rows)


def _report(record: Any) -> Report:
    names = (name for name in _TOPIC_NAMES if isinstance(record, dict) and record.get(name) is not None)
    topic = next(names, _TOPIC_NAMES[0])
    data = checked(record, {
        topic: Optional(Identifier()), "question": Text(), "docs": Optional(Documents()), "output": Text(blank=True)
    })  # fmt: skip
    return Report(
        topic=data[topic] or "",
        run="",
        text=data["output"],
        first_marker=1,
        query=data["question"],
        documents=None if data["docs"] is None else tuple(data["docs"]),
        extra=rest_of(record, (topic, *_FIELDS)),
    )


def write(contents: FileContents) -> Iterator[bytes]:
    """Write ALCE's output."""
    head = {"args": {}} | dict(contents.about)
    yield (json.dumps(head, ensure_ascii=False, allow_nan=False, indent=4)[:-2] + f',\n    "{_DATA}": [').encode()
    for n, report in enumerate(contents.values):
        text = json.dumps(_record(report), ensure_ascii=False, allow_nan=False)
        yield f"{',' if n else ''}\n        {text}".encode()
    yield b"\n    ]\n}\n"


def _record(report: Report) -> dict[str, Any]:
    docs = [document_record(document) for document in report.documents or ()]
    record = {
        "sample_id": report.topic or None,
        "question": report.query,
        "docs": None if report.documents is None else docs,
        "output": marked_text(report, first_marker=1),
    }
    return without_none(record) | dict(report.extra)


def marked_text(report: Report, *, first_marker: int) -> str:
    """Return a report as one text, whose markers count its documents from `first_marker`.

    Sentences are joined as everywhere in CrowdRAG (`statements.compose`). Citations of passages that are not among the
    documents have no number and are left out.
    """
    if report.text is not None:
        return renumbered(report.text, first_marker - report.first_marker) if report.documents else report.text
    ranks = {document.id: rank for rank, document in enumerate(report.documents or ())}
    parts = [
        (sentence.text, [ranks.get(citation.passage, -1) for citation in sentence.citations or ()])
        for sentence in report.sentences or ()
    ]
    return renumbered(statements.compose(parts, passages=len(ranks)).text, first_marker)


def renumbered(text: str, shift: int) -> str:
    """Return a text whose citation markers are higher by `shift`; a marker with a number below 0 stays as it is."""
    return statements.shift_markers(text, shift) if shift else text
