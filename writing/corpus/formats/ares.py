"""ARES data sets: TSV (or CSV) with the columns `Query`, `Document` and `Answer`, and labels such as
`Context_Relevance_Label` (Saad-Falcon et al. 2024)."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from ..imports import json_lines
from ..imports.fields import Text
from ..imports.problems import Problems
from ..imports.sources import Member
from .ragas import plain_text
from .record_files import as_csv, checked, collect, columns_of, csv_records, rest_of
from .values import Document, FileContents, Report

COLUMNS: Final = ("Query", "Document", "Answer")
_SHAPE: Final = {"Query": Text(), "Document": Text(blank=True), "Answer": Text(blank=True)}


def is_ares(names: Iterable[str]) -> bool:
    """Return whether these are columns of ARES."""
    return set(COLUMNS) <= set(names)


def read(member: Member, problems: Problems, *, report: json_lines.Report = json_lines.no_report) -> FileContents:
    """Read the rows of a data set; each is a query with one document and an answer."""
    return collect(member, problems, csv_records(member, problems, report=report), _report)


def _report(record: Any) -> Report:
    data = checked(record, _SHAPE)
    documents = (Document("", data["Document"]),) if data["Document"] else None
    extra = {name: value for name, value in rest_of(record, COLUMNS).items() if value != ""}
    return Report("", "", text=data["Answer"], query=data["Query"], documents=documents, extra=extra)


def write(contents: FileContents) -> Iterator[bytes]:
    """Write a data set as TSV; several documents of an answer are joined by a blank line."""
    records = [_record(report) for report in contents.values]
    columns = [*COLUMNS, *(name for name in columns_of(records) if name not in COLUMNS)]
    return as_csv(records, columns, delimiter="\t")


def _record(report: Report) -> dict[str, Any]:
    documents = "\n\n".join(document.text for document in report.documents or ())
    return {"Query": report.query, "Document": documents, "Answer": plain_text(report)} | dict(report.extra)
