"""Result tables as they are stored: rows of a run, the same as JSON and CSV, and which run is shown."""

import csv
import io
import json
from collections.abc import Iterable, Sequence
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
#: Kinds of runs with result tables: analyses, updates of one, plans, and experiments (EXPERIMENT before their name).
ANALYSIS, UPDATE, PLAN, EXPERIMENT = "analysis", "analysis.update", "plan", "experiment."
#: The parameter of an update that names its analysis by key.
UPDATE_OF = "of"
# What a spreadsheet takes for the start of a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class WholeTable:
    """A table with the names of its columns in their order."""

    columns: list[str]
    rows: list[Row]


class UnknownTableError(LookupError):
    """A run holds no table of this name, or there is no such format."""


def full_analysis_of(run: Run) -> Run | None:
    """The full analysis that a run is an update of; None of a run that is none, or whose analysis is gone."""
    if run.kind != UPDATE:
        return None
    analyses = Run.objects.filter(study=run.study_id, key=run.parameters.get(UPDATE_OF)).select_related("study")
    return analyses.exclude(kind=UPDATE).first()


def read(run: Run, *names: str) -> dict[str, list[Row]]:
    """Return tables of a run by name, in one query; one that the run does not have is empty.

    What an update did not make anew is the full analysis's that it is an update of.
    """
    tables = _read(run, names)
    if missing := [name for name in names if name not in tables]:
        base = full_analysis_of(run)
        tables |= _read(base, missing) if base else {}
    return {name: tables.get(name, []) for name in names}


def _read(run: Run, names: Sequence[str]) -> dict[str, list[Row]]:
    return dict(ResultTable.objects.filter(run=run, name__in=names).values_list("name", "rows"))


def runs_with_tables() -> Q:
    """The condition that a run is of a kind whose results are tables."""
    return Q(kind__in=(ANALYSIS, UPDATE, PLAN)) | Q(kind__startswith=EXPERIMENT)


#: Where the questions of an experiment come from (`source` of its parameter `collection`): the study's own texts.
STUDY, RESPONSES = "study", "responses"
OF_STUDY = (STUDY, RESPONSES)


def used_texts_of_study(run: Run) -> bool:
    """Say whether a run is an experiment on its study's own texts, and not on a file that was uploaded."""
    source = (run.parameters.get("collection") or {}).get("source", STUDY)
    return run.kind.startswith(EXPERIMENT) and source in OF_STUDY


def stored_table(run: Run, name: str) -> ResultTableQuerySet:
    """Return one table of a run, to pick rows from."""
    return ResultTable.objects.filter(run=run, name=name)


def names(run: Run) -> list[str]:
    """Return the names of a run's own tables, in the order of docs/reference/tables.md."""
    return in_order(ResultTable.objects.filter(run=run).values_list("name", flat=True))


def in_order(names: Iterable[str]) -> list[str]:
    """Return those of these names that are of result tables, in the order of docs/reference/tables.md."""
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
    """Return how many rows tables have, without reading them."""
    length = Func(F("rows"), function="jsonb_array_length", output_field=IntegerField())
    return dict(ResultTable.objects.filter(run=run, name__in=names).values_list("name", length))


def write(run: Run, name: str, form: str) -> bytes:
    """Write a table of a run as "json" or "csv".

    Raises
    ------
    UnknownTableError
        If the run has no such table, or there is no such format.
    """
    if form not in MEDIA_TYPES:
        raise UnknownTableError(f"There is no table {name!r} as {form!r}. See docs/reference/tables.md for all tables.")
    return render(name, table(run, name).rows, form)


def _has(run: Run, name: str) -> bool:
    base = full_analysis_of(run)
    return ResultTable.objects.filter(run__in=[run, base] if base else [run], name=name).exists()


def render(name: str, rows: Sequence[Row], form: str) -> bytes:
    """Write rows of the table `name`; the columns stand in their fixed order, `note` last where a row has one."""
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
    writer = csv.writer(out)  # lines end as RFC 4180 says, so that a stray carriage return is quoted
    writer.writerow(columns)
    writer.writerows([_harmless(row.get(column)) for column in columns] for row in rows)
    return out.getvalue().encode()


def _harmless(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula; numbers stay what they are."""
    if isinstance(value, str) and value.startswith(FORMULA):
        return f"'{value}"
    return value


@dataclass(frozen=True)
class AnalysisState:
    """The state of a study's analysis.

    Attributes
    ----------
    run : Run or None
        The run whose results are shown: the one asked for, else the latest analysis that is done, or its latest update
        where these are asked for.
    full : Run or None
        The full analysis: `run`, or what it is an update of.
    full_snapshot : Snapshot or None
        What `full` used, without the payload.
    newer : Run or None
        A later run that is at work, failed or was cancelled.
    snapshot : Snapshot or None
        What `run` used, without the payload.
    changed : bool
        Whether the judgments or responses that count are others now.
    added : int
        How many judgments more count now (negative: fewer).
    judgments : int
        How many judgments count now, of all pools.
    responses : int
        How many responses count now.
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
    def is_update(self) -> bool:
        """Whether what is shown is an update of a full analysis."""
        return self.run is not None and self.run.kind == UPDATE
