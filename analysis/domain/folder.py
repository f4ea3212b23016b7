"""A run's results as a folder: tables as JSON and CSV, figures as Vega-Lite and SVG, the report, what made them."""

import json
from pathlib import Path
from typing import Any

from crowdrag.runs.models import Run

from . import charts, reports, tables
from .reports import exporting

FIGURES = "figures"


def write(run: Run, folder: Path) -> list[Path]:
    """Write the results of a finished run into a folder, which is made if need be; return the files.

    Files of the same names are overwritten; others are left alone.
    """
    (folder / FIGURES).mkdir(parents=True, exist_ok=True)
    files = {}
    for name in tables.names(run):
        for form in ("json", "csv"):
            files[folder / f"{name}.{form}"] = tables.write(run, name, form)
    for name, spec in charts.specifications(run):
        for form in ("json", "svg"):
            files[folder / FIGURES / f"{name}.{form}"] = charts.draw(spec, form)
    report = reports.report(run)
    for name, (written, _type) in exporting.WRITERS.items():
        files[folder / name] = written(report)
    files[folder / "run.json"] = json.dumps(about(run), ensure_ascii=False, indent=2).encode() + b"\n"
    for path, content in files.items():
        _write_whole(path, content)
    return list(files)


def about(run: Run) -> dict[str, Any]:
    """What made a run's results: with the same inputs, parameters, seed and code they come out the same."""
    return {
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
        "tables": tables.names(run),
    }


def _write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it stands under its name only when it is whole."""
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(content)
    part.replace(path)
