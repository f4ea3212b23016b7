"""A report of a finished analysis or experiment, built by one function.

English as the rest of a report. docs/methods/experiments.md.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from crowdrag.jobs.models import Run
from crowdrag.studies import money

from ..experiments import wording
from ..experiments.experiment import PREFIX, get
from ..experiments.wording import collection_label, currency_of
from ..inputs import snapshots
from ..inputs.models import Snapshot
from ..methods import captions, charts, missing_value_notes
from ..methods.settings import AnalysisSettings
from ..tables import run_tables
from ..tables.display_table import DisplayColumn, DisplayTable, Value
from ..tables.pivot import wider
from ..tables.rows import COLUMNS, Row
from ..tables.value_labels import ValueLabels
from . import footnotes, methods_paragraph
from .types import About, Chart, Methods, Report, Section


def experiment_report(run: Run, about: About, rows: Mapping[str, list[Row]], sections: tuple[Section, ...]) -> Report:
    """Build the report of a finished experiment from what all reports share."""
    experiment = get(run.kind)
    said = collection_label(run.parameters.get("collection") or {})
    written = experiment.methods(run, rows)
    return Report(
        title=f"{run.study.title}: {experiment.title}",
        about=replace(about, parameters=tuple((name, said if name == "collection" else None if value == "" else value)
                                              for name, value in about.parameters)),
        methods=Methods((*written.paragraphs, *_left_out(run)), written.references),
        sections=(*sections, Section("cost", "What it took", paragraphs=tuple(_took(run)))),
    )  # fmt: skip


def _left_out(run: Run) -> list[str]:
    found = run.summary.get("left_out") or {}
    if not found:
        return []
    listed = ", ".join(f"{n} ({reason})" for reason, n in found.items())
    return [f"Left out while all of the data was read, before questions were drawn from it: {listed}."]


def _took(run: Run) -> list[str]:
    """Calls, tokens, money and time in sentences."""
    usage = run.summary.get("usage")
    if usage is None:
        return []
    asked = f"{usage['calls']:,} prompts were generated for this run, and {usage['stored']:,} had been answered before"
    tokens = f"{usage['prompt_tokens']:,} prompt tokens and {usage['completion_tokens']:,} completion tokens"
    found = [f"{asked} and cost nothing. With these, {tokens} were read and written."]
    if usage.get("failed"):
        found.append(f"{usage['failed']:,} prompts have no answer: the generator refused them or failed.")
    if cost := Decimal(str(usage.get("cost") or 0)):
        found.append(f"The calls cost {money.format_cost(cost, currency_of(run))}.")
    if run.started_at and run.finished_at:
        seconds = (run.finished_at - run.started_at).total_seconds()
        found.append(f"From the first unit to the last it took {wording.many(round(seconds), 'second')}.")
    return found


#: Longer tables are not printed in a report.
MOST_ROWS = 400
#: Packages whose versions a result may hang on; the run keeps those of all.
PACKAGES = ("numpy", "scipy", "sacrebleu", "rouge-score", "torch", "transformers", "altair", "vl-convert-python")


def report(run: Run) -> Report:
    """Build the report of a finished analysis or experiment.

    The same run always gives the same report while the study's labels of dimensions and styles are the same.
    """
    names = run_tables.names(run)
    rows = run_tables.read(run, *(name for name in names if captions.table(name).whole))
    sizes = run_tables.sizes(run, *(name for name in names if name not in rows))
    naming = ValueLabels.of(run.study)
    sizes |= {name: len(found) for name, found in rows.items() if len(found) > MOST_ROWS}
    shown = {
        name: table(name, [] if name in sizes else rows[name], run.parameters, naming, sizes.get(name))
        for name in names
    }
    sections = tuple(_sections(shown, {each.name: each for each in charts_of(run, rows)}))
    if run.kind.startswith(PREFIX):
        return experiment_report(run, about(run, as_of=run.created_at), rows, sections)
    return Report(
        title=f"{run.study.title}: analysis",
        about=about(run, as_of=Snapshot.objects.values_list("created_at", flat=True).get(run=run)),
        methods=methods_of(run, [name for name in names if sizes.get(name, True)], rows),
        sections=sections,
    )


def table(
    name: str, rows: list[Row], parameters: Mapping[str, Any], naming: ValueLabels, size: int | None = None
) -> DisplayTable:
    """Build one table of a report, laid out as people read it; `size` where its rows are left out."""
    said = captions.table(name)
    made = long_table(name, rows, parameters, naming, size)
    printed = tuple(column for column in made.columns if column.key not in said.unprinted)
    return wider(replace(made, columns=printed), said.across)


def long_table(
    name: str, rows: list[Row], parameters: Mapping[str, Any], naming: ValueLabels, size: int | None = None
) -> DisplayTable:
    """Build one table with the columns and rows that it is stored with."""
    said = captions.table(name)
    columns = said.columns or tuple(_undescribed(key, rows) for key in COLUMNS.get(name, ()))
    shown = tuple(_row(row, columns, naming) for row in rows)
    return DisplayTable(
        name=name,
        title=str(said.title),
        caption=missing_value_notes.with_interval_note(
            wording.caption(said.caption, parameters), [name], missing_value_notes.without_intervals({name: rows})
        ),
        columns=tuple(_column(column) for column in columns),
        rows=shown,
        size=len(rows) if size is None else size,
        is_whole=size is None,
        notes=tuple(footnotes.notes(rows, shown, columns, said.unprinted)),
    )


def whole_table(run: Run, name: str) -> DisplayTable:
    """Build one table with all its rows, however many.

    Raises
    ------
    UnknownTableError
        If the run has no such table.
    """
    if name not in run_tables.names(run):
        raise run_tables.UnknownTableError(f"This analysis has no table {name!r}.")
    return table(name, run_tables.read(run, name)[name], run.parameters, ValueLabels.of(run.study))


def charts_of(run: Run, rows: Mapping[str, list[Row]]) -> Iterator[Chart]:
    """Build the charts that the run holds something for; `rows` of its tables that a report reads whole."""
    without = missing_value_notes.without_intervals(rows)
    for name, spec in charts.specifications(run):
        said = captions.figure(name)
        caption = wording.caption(said.caption, run.parameters)
        caption = missing_value_notes.with_interval_note(caption, charts.CHARTS[name].tables, without)
        yield Chart(name, str(said.title), caption, str(said.alt), spec)


def about(run: Run, *, as_of: datetime) -> About:
    """Say what made the results; `as_of`: when what it used was read."""
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
        as_of=as_of,
        finished_at=run.finished_at,
        is_simulated=bool(run.summary.get("simulated")),
        stale=run.stale_reason,
    )


def methods_of(run: Run, names: Iterable[str], rows: Mapping[str, list[Row]]) -> Methods:
    """Write what the run did; parameters that this version no longer knows are left to the list of parameters."""
    known = {name: value for name, value in run.parameters.items() if name in AnalysisSettings.__dataclass_fields__}
    return methods_paragraph.methods(
        methods_paragraph.RunFacts(
            settings=AnalysisSettings(**known),
            seed=run.seed,
            code_version=run.code_version,
            summary=run.summary,
            names=frozenset(names),
            rows=rows,
            has_known=bool(snapshots.inputs(run).main.known),
        )
    )


def _sections(shown: Mapping[str, DisplayTable], figures: Mapping[str, Chart]) -> Iterator[Section]:
    """Each section with what there is for it, in the order of the registry."""
    for key, title in captions.SECTIONS.items():
        mine = tuple(shown[name] for name in _ordered(captions.TABLES, shown) if captions.table(name).section == key)
        drawings = tuple(
            figures[name] for name in _ordered(captions.FIGURES, figures) if captions.figure(name).section == key
        )
        if mine or drawings:
            yield Section(key, str(title), tables=mine, charts=drawings)


def _ordered(registry: Mapping[str, Any], there: Mapping[str, Any]) -> list[str]:
    return [name for name in dict.fromkeys([*registry, *there]) if name in there]


def _undescribed(key: str, rows: Iterable[Row]) -> captions.Column:
    """A column that nobody described: it goes by its key."""
    values = [row.get(key) for row in rows]
    is_number = any(isinstance(value, int | float) for value in values)
    return captions.Column(key, key, 2 if is_number else None)


def _column(column: captions.Column) -> DisplayColumn:
    return DisplayColumn(
        key=column.key,
        label=str(column.label),
        digits=column.digits,
        low=column.low,
        high=column.high,
        n=column.n,
        is_share=column.share,
        is_id=column.words == "id",
        is_key=column.is_key,
    )


def _row(row: Row, columns: Iterable[captions.Column], naming: ValueLabels) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for column in columns:
        found[column.key] = naming.said(column, row.get(column.key), row)
        for bound in (column.low, column.high):
            if bound:
                found[bound] = naming.said(replace(column, words=""), row.get(bound), row)
    return found


def _plain(value: Any) -> Value:
    """A parameter as a report says it."""
    if isinstance(value, list):
        return ", ".join(str(each) for each in value)
    return value if isinstance(value, str | int | float | bool | None) else str(value)
