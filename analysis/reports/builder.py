"""Builder of the report of a finished analysis or experiment."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from crowdrag.jobs.models import Run

from ..figures import figure
from ..figures.figure import FIGURES
from ..inputs.models import Snapshot
from ..methods import undefined_values
from ..tables import run_tables
from ..tables.display_table import DisplayColumn, DisplayTable, Value
from ..tables.pivot import wider
from ..tables.rows import Row
from ..tables.table import IDS, Table, fill, get
from ..tables.table import Column as DeclaredColumn
from ..tables.value_labels import ValueLabels
from . import footnotes, report_kinds
from .types import About, Chart, Report, Section

#: Longer tables are not printed in a report.
MOST_ROWS = 400
#: Packages that may influence results; the run stores the versions of all packages.
PACKAGES = ("numpy", "scipy", "sacrebleu", "rouge-score", "torch", "transformers", "altair", "vl-convert-python")


def report(run: Run, *, with_charts: bool = True) -> Report:
    """Build the report of a finished analysis or experiment; `with_charts`: with the specifications of its figures.

    The same run always gives the same report, unless labels of dimensions or styles in the study change.
    """
    kind = report_kinds.of(run)
    names = run_tables.names(run)
    rows = run_tables.read(run, *(name for name in names if get(name).is_whole))
    sizes = run_tables.sizes(run, *(name for name in names if name not in rows))
    labels = ValueLabels.of(run.study)
    sizes |= {name: len(table_rows) for name, table_rows in rows.items() if len(table_rows) > MOST_ROWS}
    parameters = kind.caption_parameters(run)
    shown = {
        name: table(name, [] if name in sizes else rows[name], parameters, labels, sizes.get(name)) for name in names
    }
    figures = {chart.name: chart for chart in charts_of(run, rows, parameters)} if with_charts else {}
    sections = tuple(_sections(kind.parts(run), shown, figures))
    return kind.compose(run, about(run), rows, sections)


def tables_of(run: Run, declared: Iterable[Table]) -> Iterator[DisplayTable]:
    """Build tables of a run as in its report; tables that the run does not have are left out."""
    labels, parameters = ValueLabels.of(run.study), report_kinds.of(run).caption_parameters(run)
    names = [declared_table.name for declared_table in declared]
    rows = run_tables.read(run, *(name for name in names if get(name).is_whole))
    sizes = run_tables.sizes(run, *large) if (large := [name for name in names if name not in rows]) else {}
    sizes |= {name: len(table_rows) for name, table_rows in rows.items() if len(table_rows) > MOST_ROWS}
    for name in names:
        if name in sizes:
            yield table(name, [], parameters, labels, sizes[name])
        elif rows.get(name):
            yield table(name, rows[name], parameters, labels)


def table(
    name: str, rows: list[Row], parameters: Mapping[str, Any], labels: ValueLabels, size: int | None = None
) -> DisplayTable:
    """Build a table of a report in its layout for readers; `size` is the number of rows if they are left out."""
    declared = get(name)
    long_form = long_table(name, rows, parameters, labels, size)
    printed = tuple(column for column in long_form.columns if column.key not in declared.unprinted)
    return wider(replace(long_form, columns=printed), declared.across)


def long_table(
    name: str, rows: list[Row], parameters: Mapping[str, Any], labels: ValueLabels, size: int | None = None
) -> DisplayTable:
    """Build a table with its columns and rows as stored."""
    declared = get(name)
    shown = tuple(_row(row, declared.columns, labels) for row in rows)
    return DisplayTable(
        name=name,
        title=str(declared.title),
        caption=undefined_values.with_interval_note(
            fill(declared.caption, parameters), [name], undefined_values.without_intervals({name: rows})
        ),
        columns=tuple(_column(column) for column in declared.columns),
        rows=shown,
        size=len(rows) if size is None else size,
        is_whole=size is None,
        notes=tuple(footnotes.notes(rows, shown, declared.columns, declared.unprinted)),
    )


def whole_table(run: Run, name: str) -> DisplayTable:
    """Build a table with all its rows.

    Raises
    ------
    UnknownTableError
        If the run has no such table.
    """
    if name not in run_tables.names(run):
        raise run_tables.UnknownTableError(f"This analysis has no table {name!r}.")
    return table(name, run_tables.read(run, name)[name], run.parameters, ValueLabels.of(run.study))


def charts_of(run: Run, rows: Mapping[str, list[Row]], parameters: Mapping[str, Any]) -> Iterator[Chart]:
    """Build the figures for which the run has data; `rows` are its tables that a report reads completely."""
    without = undefined_values.without_intervals(rows)
    for name, spec in figure.specifications(run):
        declared = FIGURES[name]
        caption = fill(declared.caption, parameters)
        caption = undefined_values.with_interval_note(caption, declared.tables, without)
        yield Chart(name, str(declared.title), caption, str(declared.alt), spec)


def about(run: Run) -> About:
    """Return the provenance of the results."""
    read_at = Snapshot.objects.filter(run=run).values_list("created_at", flat=True).first()
    packages = run.environment.get("packages", {})
    environment = [(key, str(run.environment[key])) for key in ("python", "platform") if key in run.environment]
    environment += [(name, str(packages[name])) for name in PACKAGES if name in packages]
    return About(
        study=run.study.title,
        slug=run.study.slug,
        run=str(run.key),
        parameters=tuple((name, _plain(value)) for name, value in sorted(run.parameters.items())),
        seed=run.seed,
        inputs_digest=run.inputs_digest,
        code_version=run.code_version,
        environment=tuple(environment),
        as_of=read_at or run.created_at,
        finished_at=run.finished_at,
        is_simulated=bool(run.summary.get("simulated")),
        stale=run.stale_reason,
    )


def _sections(
    parts: Iterable[report_kinds.Part], shown: Mapping[str, DisplayTable], figures: Mapping[str, Chart]
) -> Iterator[Section]:
    """Yield each section with its available tables and figures."""
    for part in parts:
        tables = tuple(shown[declared_table.name] for declared_table in part.tables if declared_table.name in shown)
        charts = tuple(
            figures[declared_figure.name] for declared_figure in part.figures if declared_figure.name in figures
        )
        if tables or charts:
            yield Section(part.key, str(part.title), tables=tables, charts=charts)


def _column(column: DeclaredColumn) -> DisplayColumn:
    return DisplayColumn(
        key=column.key,
        label=str(column.label),
        digits=column.digits,
        low=column.low,
        high=column.high,
        n=column.n,
        is_share=column.is_share,
        is_id=isinstance(column.words, str) and column.words in IDS,
        is_key=column.is_key,
    )


def _row(row: Row, columns: Iterable[DeclaredColumn], labels: ValueLabels) -> dict[str, Value]:
    words: dict[str, Value] = {}
    for column in columns:
        words[column.key] = labels.value_in_words(column, row.get(column.key), row)
        for bound in (column.low, column.high):
            if bound:
                words[bound] = labels.value_in_words(replace(column, words=""), row.get(bound), row)
    return words


def _plain(value: Any) -> Value:
    """Convert a parameter value for a report."""
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    return value if isinstance(value, str | int | float | bool | None) else str(value)
