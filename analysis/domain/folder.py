"""A run's results as a folder: each table and figure in every format, the report, and what made them."""

from collections.abc import Iterator
from pathlib import Path

from crowdrag.jobs.models import Run

from . import charts, reports, tables
from .reports import exporting


def write(run: Run, folder: Path) -> list[Path]:
    """Write the results of a finished run into a folder, which is made if need be; return the files.

    Files of the same names are overwritten; others are left alone.
    """
    (folder / exporting.FIGURES).mkdir(parents=True, exist_ok=True)
    # All are made before the first is written: what stands in the folder is of one run.
    files = {folder / name: content for name, content in _files(run)}
    for path, content in files.items():
        _write_whole(path, content)
    return list(files)


def _files(run: Run) -> Iterator[tuple[str, bytes]]:
    for name in tables.names(run):
        for form in exporting.TABLE_TYPES:
            yield f"{name}.{form}", exporting.table(run, name, form)
    for name, spec in charts.specifications(run):
        for form in charts.MEDIA_TYPES:
            yield f"{exporting.FIGURES}/{name}.{form}", charts.draw(spec, form)
    report = reports.report(run)
    yield "README.md", exporting.readme(report)
    for name, (written, _type) in exporting.WRITERS.items():
        yield name, written(report)
    yield "captions.json", exporting.captions(report)
    yield "run.json", exporting.about(run)


def _write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it stands under its name only when it is whole."""
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(content)
    part.replace(path)
