"""Exports of a finished analysis: tables, figures and the report, as one archive or in a folder."""

import json
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import partial
from pathlib import Path

from analysis.stats.processes import Calls
from crowdrag.jobs.models import Run

from ..figures import figure, renderer
from ..methods import judge_certificate
from ..tables import run_tables
from ..tables.value_labels import ValueLabels
from . import bibliography, builder, documents, latex
from .types import Chart, Report

Files = Iterator[tuple[str, bytes]]
FIGURES = "figures"
CERTIFICATE = "certificate.json"
TEX = "application/x-tex; charset=utf-8"
TABLE_TYPES = {**run_tables.MEDIA_TYPES, "tex": TEX}


class Extra(StrEnum):
    """Files besides the tables as CSV and JSON. Drawing and typesetting takes most of the time of an export."""

    REPORT = "report"
    LATEX = "latex"
    FIGURES = "figures"


#: Files of the report: writer and description.
WRITERS: dict[str, tuple[Callable[[Report], bytes], str]] = {
    "report.html": (documents.write_html, "text/html; charset=utf-8"),
    "report.pdf": (documents.write_pdf, "application/pdf"),
    "methods.tex": (latex.methods, TEX),
    "references.bib": (
        lambda report: bibliography.bibtex(report.methods.references).encode(),
        "text/plain; charset=utf-8",
    ),
}


#: The files of the report that are made only if it is asked for; the others are short texts.
_DRAWN = ("report.html", "report.pdf")


def table(run: Run, name: str, form: str) -> bytes:
    """Write a table of a run: "json" and "csv" as stored, "tex" in the layout for readers.

    Raises
    ------
    UnknownTableError
        If the table or the format does not exist.
    """
    if form != "tex":
        return run_tables.write(run, name, form)
    return latex.write(builder.whole_table(run, name), source=source(run))


def source(run: Run) -> str:
    """Return the source of an exported file in one line."""
    return f"{run.study.slug}, run {run.key}, inputs {run.inputs_digest}, seed {run.seed}, CrowdRAG {run.code_version}"


@dataclass(frozen=True)
class _Part:
    """Files that are made together, as one step of an export; made without the database, so in any process.

    Attributes
    ----------
    name : str
        Shown while it is made.
    make : callable() -> iterable of (file name, content)
    """

    name: str
    make: Callable[[], Iterable[tuple[str, bytes]]]


def _table_parts(run: Run, folder: str, *, as_latex: bool) -> list[_Part]:
    """Read the tables of a run, and return how their files are made, the longest first."""
    names = run_tables.names(run)
    labels, rows, comment = ValueLabels.of(run.study), run_tables.read(run, *names), source(run)

    def make(name: str) -> Iterator[tuple[str, bytes]]:
        for form in run_tables.MEDIA_TYPES:
            yield f"{folder}{name}.{form}", run_tables.render(name, rows[name], form)
        if as_latex:
            shown = builder.table(name, rows[name], run.parameters, labels)
            yield f"{folder}{name}.tex", latex.write(shown, source=comment)

    return [_Part(name, partial(make, name)) for name in sorted(names, key=lambda name: -len(rows[name]))]


def _figure_part(chart: Chart, folder: str, forms: Iterable[str]) -> _Part:
    def make() -> Iterator[tuple[str, bytes]]:
        for form in forms:
            yield f"{folder}{chart.name}.{form}", renderer.draw(dict(chart.spec), form)

    return _Part(chart.name, make)


def _document(name: str, report: Report) -> list[tuple[str, bytes]]:
    return [(name, WRITERS[name][0](report))]


def _made(
    run: Run,
    report: Report,
    *,
    tables: str,
    figures: str,
    extras: Collection[str] = tuple(Extra),
    report_progress: Callable[[int, int, str], None] = lambda *_: None,
) -> dict[str, bytes]:
    """Make the files of a run on all processors; `tables` and `figures` are folders, as the beginning of file names.

    Without the report and the figures, `report` needs no charts.
    """
    contents: dict[str, bytes] = {}
    table_parts, charts = _table_parts(run, tables, as_latex=Extra.LATEX in extras), list(report.charts)
    writers = [name for name in WRITERS if Extra.REPORT in extras or name not in _DRAWN]
    forms = renderer.MEDIA_TYPES if Extra.FIGURES in extras else ("svg",)
    done, total = 0, len(charts) + len(writers) + len(table_parts)

    def make(parts: Sequence[_Part]) -> None:
        nonlocal done
        with Calls(lambda part: list(part.make()), parts) as calls:
            results = iter(calls)
            for part in parts:
                report_progress(done, total, part.name)
                contents.update(next(results))
                done += 1

    make([_figure_part(chart, figures, forms) for chart in charts])
    # The documents show the figures again, so draw each only once.
    drawn = report.with_drawings({chart.name: contents[f"{figures}{chart.name}.svg"].decode() for chart in charts})
    slowest_first = sorted(writers, key=lambda name: name != "report.pdf")  # it takes longest
    documents = [_Part(name, partial(_document, name, drawn)) for name in slowest_first]
    make([*documents, *table_parts])
    if Extra.FIGURES not in extras:
        contents = {name: content for name, content in contents.items() if not name.startswith(figures)}
    return contents


def files(run: Run, report: Report, *, report_progress: Callable[[int, int, str], None] = lambda *_: None) -> Files:
    """Yield all files of an export with their names: the report, and each table and figure in all formats."""
    contents = _made(run, report, tables="tables/", figures="figures/", report_progress=report_progress)
    names = [*WRITERS]
    names += [f"tables/{name}.{form}" for name in run_tables.names(run) for form in TABLE_TYPES]
    names += [f"figures/{chart.name}.{form}" for chart in report.charts for form in renderer.MEDIA_TYPES]
    yield from ((name, contents[name]) for name in names)
    yield "captions.json", captions(report)
    yield "run.json", about(run)
    if content := certificate(run):
        yield CERTIFICATE, content


def certificate(run: Run) -> bytes | None:
    """Return the certificate of model judges: how they were asked, and all its tables; None if no model judged."""
    names = [table.name for table in judge_certificate.METHOD.tables if table.name in run_tables.names(run)]
    tables = run_tables.read(run, *names) if names else {}
    if not tables.get("judge_certificate"):
        return None
    content = {"run": json.loads(about(run)), **tables}
    return json.dumps(content, ensure_ascii=False, indent=2).encode() + b"\n"


def about(run: Run) -> bytes:
    """Return a run's provenance: the same inputs, parameters, seed and code reproduce the results."""
    provenance = {
        "study": run.study.slug,
        "run": str(run.key),
        "kind": run.kind,
        "inputs_digest": run.inputs_digest,
        "parameters": run.parameters,
        "seed": run.seed,
        "code_version": run.code_version,
        "environment": run.environment,
        "summary": run.summary,
        "started_at": run.started_at.isoformat() if run.started_at else None,
        "finished_at": run.finished_at.isoformat() if run.finished_at else None,
        "tables": run_tables.names(run),
    }
    return json.dumps(provenance, ensure_ascii=False, indent=2).encode() + b"\n"


def pack(run: Run, path: Path, *, report_progress: Callable[[int, int, str], None] = lambda *_: None) -> None:
    """Write everything as one ZIP file; the same run gives identical bytes."""
    report = builder.report(run)
    at = run.finished_at or report.about.as_of
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files(run, report, report_progress=report_progress):
            packed.writestr(_entry(f"{run.study.slug}-report/{name}", at), content)


def _entry(name: str, at: datetime) -> zipfile.ZipInfo:
    """Return an entry with the time of the run."""
    entry = zipfile.ZipInfo(name, at.timetuple()[:6])
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


def readme(report: Report, extras: Collection[str] = tuple(Extra), how: str = "") -> bytes:
    """Write an overview: the main table of each part, then all tables and figures with captions.

    `extras` are the further files in the folder; `how` is the command that adds the others.
    """
    main = [section.tables[0] for section in report.sections if section.tables]
    lines = [f"# {report.title}", "", "Main table of each part:", ""]
    lines += [f"- `{table.name}.csv`: {table.title}" for table in main]
    also = "`.json` and `.tex`" if Extra.LATEX in extras else "`.json`"
    lines += ["", f"Each table is also available as {also}."]
    if Extra.REPORT in extras:
        lines[-1] += " `report.html` and `report.pdf` contain all of them."
    lines += ["`run.json` records how these results were computed.", ""]
    if how and (missing := [extra for extra in Extra if extra not in extras]):
        lines += [
            "To add more files without computing anything again:",
            "",
            f"    {how} --with {' '.join(missing)}",
            "",
        ]
    lines += ["## Tables", ""]
    for table in report.tables:
        lines += [f"- `{table.name}` ({table.size:,} rows): {table.title}. {table.caption}"]
    if Extra.FIGURES in extras and (charts := list(report.charts)):
        lines += ["", "## Figures", ""]
        lines += [f"- `{FIGURES}/{chart.name}.svg`: {chart.title}. {chart.caption}" for chart in charts]
    return ("\n".join(lines) + "\n").encode()


def captions(report: Report) -> bytes:
    """Return titles and captions of all tables and figures."""
    described = {
        "tables": {table.name: {"title": table.title, "caption": table.caption, "rows": table.size}
                   for table in report.tables},
        "figures": {chart.name: {"title": chart.title, "caption": chart.caption, "alt": chart.alt}
                    for chart in report.charts},
    }  # fmt: skip
    return json.dumps(described, ensure_ascii=False, indent=1).encode() + b"\n"


def write(run: Run, folder: Path, *, extras: Collection[str] = tuple(Extra), how: str = "") -> list[Path]:
    """Write the results of a finished run into a folder, created if necessary; return the files.

    Existing files of the same names are overwritten; others are kept, except extras of another run.

    Parameters
    ----------
    run : Run
    folder : Path
    extras : collection of str
        Which of `Extra` to write besides the data: tables as CSV and JSON, the methods text, and the descriptions.
    how : str
        The command that writes these files, for the README of a folder without some of the extras.
    """
    # Create all files before writing the first, so that the folder never mixes runs.
    report = builder.report(run, with_charts=not {Extra.REPORT, Extra.FIGURES}.isdisjoint(extras))
    contents = _made(run, report, tables="", figures=f"{FIGURES}/", extras=extras)
    contents |= {"README.md": readme(report, extras, how), "captions.json": captions(report), "run.json": about(run)}
    if content := certificate(run):
        contents[CERTIFICATE] = content
    folder.mkdir(parents=True, exist_ok=True)
    _remove_extras_of_other_runs(run, folder)
    if Extra.FIGURES in extras:
        (folder / FIGURES).mkdir(exist_ok=True)
    for name, content in contents.items():
        write_whole(folder / name, content)
    return [folder / name for name in contents]


def _remove_extras_of_other_runs(run: Run, folder: Path) -> None:
    """Remove the reports, LaTeX tables and figures that another run left in the folder."""
    try:
        before = json.loads((folder / "run.json").read_bytes())
    except (FileNotFoundError, ValueError):
        return
    if not isinstance(before, dict) or before.get("run") == str(run.key):
        return
    names = [*_DRAWN, *(f"{name}.tex" for name in before.get("tables", ()))]
    names += [f"{FIGURES}/{name}.{form}" for name in figure.FIGURES for form in renderer.MEDIA_TYPES]
    for name in names:
        (folder / name).unlink(missing_ok=True)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically: it gets its name when it is complete."""
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(content)
    part.replace(path)
