"""Result tables of the selected runs, without rows about data that are left out."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from django.db.models import Func, JSONField

from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from writing.models import Response

from ...methods.reusable_fits import FITS
from ...tables.models import ResultTable
from ...tables.run_tables import used_texts_of_study
from ...tables.table import PARTICIPANT, RESPONSE, Holds, Table, get
from .content_table import ContentColumn, ContentTable, Row, Type
from .source import Source

CHUNK = 2000
GOLD, GRADES = "gold", "grades"
ROWS = "rows of results"
ABOUT_LEFT_OUT = "they are about a response or person that is left out"
OF_OWN_TEXTS = "they contain texts of the study or answers from them, without naming the person"
# Columns that pages do not have.
_ANYWHERE = {"note": "Reason for missing values"}
_RUN = ContentColumn("run", "integer", False, "The run that computed it.", "runs.run")


class Results:
    """The finished selected runs of the study in the order of completion, and their tables."""

    def __init__(self, source: Source) -> None:
        self._source = source
        runs = Run.objects.filter(study=source.study, state=RunState.DONE, key__in=source.choices.runs)
        self.runs = tuple(runs.order_by("finished_at", "pk"))
        self._numbers = {run.pk: number for number, run in enumerate(self.runs, 1)}
        self._of_study = frozenset(run.pk for run in self.runs if used_texts_of_study(run))
        self._released = frozenset(self._names_of_responses()) if self.runs else frozenset()

    def tables(self) -> Iterator[ContentTable]:
        """Yield the table of runs, and the result tables by name."""
        if not self.runs:
            return
        yield self._of_runs()
        kept = ResultTable.objects.filter(run__in=self.runs).exclude(name=FITS)
        for name in kept.order_by("name").values_list("name", flat=True).distinct():
            if self._is_chosen(name):
                yield self._of_name(name)

    def _names_of_responses(self) -> Iterator[str]:
        selection = self._source.selection
        rows = Response.objects.filter(study=self._source.study).values_list("pk", "external_id")
        return (name for pk, name in rows.iterator(CHUNK) if pk in selection.responses)

    def _is_chosen(self, name: str) -> bool:
        choices = self._source.choices
        return {GOLD: choices.gold, GRADES: choices.grades}.get(name, choices.tables)

    def _of_runs(self) -> ContentTable:
        columns = (
            ContentColumn("run", "integer", False, "Its number in this release, in order of completion."),
            ContentColumn("kind", "text", False, "The kind of run."),
            ContentColumn("finished_at", "time", True, "When it finished."),
            ContentColumn("code_version", "text", False, "The version of the software."),
            ContentColumn("inputs_digest", "text", True, "SHA-256 of its inputs."),
            ContentColumn("parameters", "json", False, "The parameters."),
            ContentColumn("seed", "integer", False, "The random seed."),
            ContentColumn("stale", "text", True, "How its inputs have changed since. Null: no change."),
        )

        def rows() -> Iterator[Row]:
            for run in self.runs:
                yield {
                    "run": self._numbers[run.pk],
                    "kind": run.kind,
                    "finished_at": self._source.clock.time(run.finished_at),
                    "code_version": run.code_version,
                    "inputs_digest": run.inputs_digest or None,
                    "parameters": run.parameters,
                    "seed": run.seed,
                    "stale": run.stale_reason or None,
                }

        return ContentTable("runs", "A run with results in the release.", columns, rows, ("run",))

    def _of_name(self, name: str) -> ContentTable:
        columns = self._columns(name)
        kinds = {column.name: column.type for column in columns}

        def rows() -> Iterator[Row]:
            for row in self._rows(name):
                yield {column: _as(kind, row.get(column)) for column, kind in kinds.items()}

        file = name if name in (GOLD, GRADES) else f"results_{name}"
        return ContentTable(file, f"{get(name).title}, as computed by the runs.", columns, rows)

    def _rows(self, name: str, *, count: bool = False) -> Iterator[Row]:
        """Yield the rows of a table, parsed one by one in the database."""
        elements = Func("rows", function="jsonb_array_elements", output_field=JSONField(), set_returning=True)
        kept = ResultTable.objects.filter(run__in=self.runs, name=name).order_by("run__finished_at", "run_id")
        for run, row in kept.annotate(row=elements).values_list("run_id", "row").iterator(CHUNK):
            # Consents and passage terms cannot be looked up for these rows.
            is_nameless = get(name).holds is Holds.TEXTS and run in self._of_study
            released_row = None if is_nameless else self._released_row(get(name), row)
            if released_row is not None:
                yield {"run": self._numbers[run], **released_row}
            elif count:
                self._source.selection.count.add(ROWS, OF_OWN_TEXTS if is_nameless else ABOUT_LEFT_OUT)

    def _released_row(self, table: Table, row: Row) -> Row | None:
        """Return a row with released names; None if it is about data that are left out."""
        if any(
            row.get(column) not in (None, "") and row[column] not in self._released
            for column in table.columns_of(RESPONSE)
        ):
            return None
        released_row = dict(row)
        names, participants = self._source.names, self._source.selection.participants
        for column in table.columns_of(PARTICIPANT):
            pseudonym = row.get(column)
            pk = names.key(pseudonym) if isinstance(pseudonym, str) else None
            if pk is not None:
                if pk not in participants:
                    return None
                released_row[column] = names.of(pk)
        return released_row

    def _columns(self, name: str) -> tuple[ContentColumn, ...]:
        """Return the columns of a table: those of the results, with types from the rows."""
        kinds: dict[str, set[type]] = defaultdict(set)
        counts: Counter[str] = Counter()
        for row in self._rows(name, count=True):
            counts.update(row.keys())
            for key, value in row.items():
                kinds[key].add(type(value))
        for key, types in kinds.items():
            if counts[key] < counts["run"]:
                types.add(type(None))  # rows without the column
        kinds.pop("run", None)
        table = get(name)
        of_responses = table.columns_of(RESPONSE)
        ordered = [key for key in table.column_names if key in kinds]
        labels = _labels(table)
        rest = [key for key in kinds if key not in ordered]
        return (
            _RUN,
            *(
                self._column(key, kinds[key], labels.get(key, ""), is_response=key in of_responses)
                for key in [*ordered, *rest]
            ),
        )

    def _column(self, key: str, kinds: set[type], label: str, *, is_response: bool) -> ContentColumn:
        kind = _type(kinds - {type(None)})
        refers = ""
        if is_response and self._source.choices.responses:
            refers = "responses.response"
        meaning = f"{label}." if label else f"See {key} in the documentation of CrowdRAG (docs/reference/tables.md)."
        return ContentColumn(key, kind, type(None) in kinds, meaning, refers, is_free_text=kind in ("text", "json"))


def _labels(table: Table) -> dict[str, str]:
    """Return the meanings of a table's columns, for readers who have only the release."""
    labels = dict(_ANYWHERE)
    for column in table.columns:
        label = str(column.label)
        labels |= {
            column.low: f"Lower bound of the interval of {column.key} ({label})",
            column.high: f"Upper bound of the interval of {column.key} ({label})",
            column.n: f"Number of observations behind {column.key}",
        }
    return labels | {column.key: str(column.label) for column in table.columns}


def _type(kinds: set[type]) -> Type:
    if kinds == {bool}:
        return "boolean"
    if kinds == {int}:
        return "integer"
    if kinds and kinds <= {int, float}:
        return "number"
    return "text" if kinds <= {str} else "json"


def _as(kind: str, value: Any) -> Any:
    return float(value) if kind == "number" and value is not None else value
