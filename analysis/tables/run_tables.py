"""Stored result tables: rows of a run, their JSON and CSV output, and the run that is shown."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F, Func, IntegerField, Q

from crowdrag.jobs.models import Run

from ..inputs.models import Snapshot
from .models import ResultTable, ResultTableQuerySet
from .rows import NOTE, Row
from .table import TABLES

MEDIA_TYPES = {
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
}
#: Kinds of runs with result tables: analyses, their updates, plans, and experiments (name prefixed with EXPERIMENT).
ANALYSIS, UPDATE, PLAN, EXPERIMENT = "analysis", "analysis.update", "plan", "experiment."
#: Parameter of an update with the key of its analysis.
UPDATE_OF = "of"
# Characters that begin a formula in spreadsheets.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class WholeTable:
    """A table with the ordered names of its columns."""

    columns: list[str]
    rows: list[Row]


class UnknownTableError(LookupError):
    """The run has no such table, or the format does not exist."""


def store(run: Run, tables: Mapping[str, Sequence[Row]]) -> None:
    """Store the tables of a run; call it in a transaction.

    One statement for each: `bulk_create` sends them as an array of texts, and psycopg escapes every quotation mark of
    such an array in Python, which takes longer than all else.
    """
    for name, rows in tables.items():
        ResultTable.objects.create(run=run, name=name, rows=rows)


def full_analysis_of(run: Run) -> Run | None:
    """Return the full analysis of an update; None if the run is not an update, or the analysis was deleted."""
    if run.kind != UPDATE:
        return None
    analyses = Run.objects.filter(study=run.study_id, key=run.parameters.get(UPDATE_OF)).select_related("study")
    return analyses.exclude(kind=UPDATE).first()


def read(run: Run, *names: str) -> dict[str, list[Row]]:
    """Return tables of a run by name, in one query; missing tables are empty.

    Tables that an update did not compute are those of its full analysis.
    """
    tables = _read(run, names)
    if missing := [name for name in names if name not in tables]:
        base = full_analysis_of(run)
        tables |= _read(base, missing) if base else {}
    return {name: tables.get(name, []) for name in names}


def _read(run: Run, names: Sequence[str]) -> dict[str, list[Row]]:
    return dict(ResultTable.objects.filter(run=run, name__in=names).values_list("name", "rows"))


def runs_with_tables() -> Q:
    """Return the condition for runs of a kind with result tables."""
    return Q(kind__in=(ANALYSIS, UPDATE, PLAN)) | Q(kind__startswith=EXPERIMENT)


#: Source of an experiment's questions (`source` in its parameter `collection`): the study's own texts.
STUDY, RESPONSES = "study", "responses"
OF_STUDY = (STUDY, RESPONSES)


def used_texts_of_study(run: Run) -> bool:
    """Return whether a run is an experiment on its study's own texts, not on an uploaded file."""
    source = (run.parameters.get("collection") or {}).get("source", STUDY)
    return run.kind.startswith(EXPERIMENT) and source in OF_STUDY


def stored_table(run: Run, name: str) -> ResultTableQuerySet:
    """Return one table of a run, for filtering its rows."""
    return ResultTable.objects.filter(run=run, name=name)


def names(run: Run) -> list[str]:
    """Return the names of a run's own tables, in the order of docs/reference/tables.md."""
    return in_order(ResultTable.objects.filter(run=run).values_list("name", flat=True))


def in_order(names: Iterable[str]) -> list[str]:
    """Return the names of result tables among these, in the order of docs/reference/tables.md."""
    present = set(names)
    return [name for name in TABLES if name in present]


def table(run: Run, name: str) -> WholeTable:
    """Return a table of a run with its columns.

    Raises
    ------
    UnknownTableError
        If the run has no such table.
    """
    rows = read(run, name)[name] if name in TABLES else []
    if not rows and not (name in TABLES and _has(run, name)):
        raise UnknownTableError(f"There is no table {name!r}. See docs/reference/tables.md for all tables.")
    return WholeTable(_columns(name, rows), rows)


def sizes(run: Run, *names: str) -> dict[str, int]:
    """Return the numbers of rows of tables, without reading them."""
    length = Func(F("rows"), function="jsonb_array_length", output_field=IntegerField())
    return dict(ResultTable.objects.filter(run=run, name__in=names).values_list("name", length))


def write(run: Run, name: str, form: str) -> bytes:
    """Write a table of a run as "json" or "csv".

    Raises
    ------
    UnknownTableError
        If the table or the format does not exist.
    """
    if form not in MEDIA_TYPES:
        raise UnknownTableError(f"There is no table {name!r} as {form!r}. See docs/reference/tables.md for all tables.")
    return render(name, table(run, name).rows, form)


def _has(run: Run, name: str) -> bool:
    base = full_analysis_of(run)
    return ResultTable.objects.filter(run__in=[run, base] if base else [run], name=name).exists()


def render(name: str, rows: Sequence[Row], form: str) -> bytes:
    """Write rows of the table `name` with its fixed order of columns, `note` last if a row has one."""
    columns = _columns(name, rows)
    if form == "json":
        return _json(rows, TABLES[name].column_names)
    return _csv(rows, columns)


def _columns(name: str, rows: Sequence[Row]) -> list[str]:
    names = TABLES[name].column_names
    return [*names, NOTE] if any(NOTE in row for row in rows) else list(names)


def _json(rows: Sequence[Row], columns: Sequence[str]) -> bytes:
    ordered = [{key: row[key] for key in (*columns, NOTE) if key in row} for row in rows]
    lines = ",\n".join(json.dumps(row, ensure_ascii=False, allow_nan=False) for row in ordered)
    return f"[\n{lines}\n]\n".encode() if ordered else b"[]\n"


def _csv(rows: Sequence[Row], columns: Sequence[str]) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out)  # default CRLF line ends (RFC 4180), so that stray carriage returns are quoted
    writer.writerow(columns)
    writer.writerows([_harmless(row.get(column)) for column in columns] for row in rows)
    return out.getvalue().encode()


def _harmless(value: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula; numbers are unchanged."""
    if isinstance(value, str) and value.startswith(FORMULA):
        return f"'{value}"
    return value


@dataclass(frozen=True)
class AnalysisState:
    """State of a study's analysis.

    Attributes
    ----------
    run : Run or None
        The run that is shown: the requested one, or else the latest finished analysis, or its latest update for live
        pages.
    full : Run or None
        The full analysis: `run`, or the one that it updates.
    full_snapshot : Snapshot or None
        Inputs of `full`, without the payload.
    newer : Run or None
        A later run that is active, failed or was cancelled.
    snapshot : Snapshot or None
        Inputs of `run`, without the payload.
    changed : bool
        Whether valid judgments or responses have changed since.
    added : int
        Number of judgments added since (negative: fewer).
    judgments : int
        Number of valid judgments now, in all pools.
    responses : int
        Number of valid responses now.
    """

    run: Run | None
    full: Run | None
    newer: Run | None
    snapshot: Snapshot | None
    full_snapshot: Snapshot | None
    changed: bool
    added: int
    judgments: int
    responses: int

    @property
    def separate(self) -> int:
        """Number of valid judgments in the run's inputs that are not in its main pool: of models or other judges."""
        if self.snapshot is None:
            return 0
        everything: int = self.snapshot.mark.get("judgments", 0)
        return max(0, everything - self.snapshot.judgments)

    @property
    def is_update(self) -> bool:
        """Whether the run shown is an update of a full analysis."""
        return self.run is not None and self.run.kind == UPDATE
