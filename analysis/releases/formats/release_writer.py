"""Writes a release into a folder: every table once, in all formats, then the metadata."""

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from django.utils import translation

from ..contents.content_table import ContentColumn, ContentTable
from ..contents.selection import Exclusion
from . import card, citation, croissant, datasheet, markup
from .about import FORMAT, SCHEMA_VERSION, About
from .output_folder import MANIFEST, Folder
from .release_formats import FORMATS, JSON_LINES
from .tabular import WORDS, chunk, schema


def of_tables(tables: Sequence[ContentTable]) -> list[dict[str, Any]]:
    """Return the meaning, key and fields of every table."""
    return [
        {
            "name": table.name,
            "meaning": table.meaning,
            "key": list(table.key),
            "fields": [_field(column) for column in table.columns],
        }
        for table in tables
    ]


def _field(column: ContentColumn) -> dict[str, Any]:
    description: dict[str, Any] = {
        "name": column.name,
        "type": column.type,
        "nullable": column.nullable,
        "meaning": column.meaning,
    }
    if column.refers_to:
        description["refers_to"] = column.refers_to
    if column.values:
        description["values"] = list(column.values)
    return description


def write_fields(tables: Sequence[ContentTable]) -> str:
    """Return FIELDS.md."""
    parts = [
        "# Fields",
        "",
        f"Format `{FORMAT}`, schema version {SCHEMA_VERSION}. Each table is in {_folders_of_tables()} under "
        "its name, with the same rows in the same order. Types: " + ", ".join(sorted(set(WORDS.values()))) + ".",
    ]
    for table in tables:
        rows = [_row(column) for column in table.columns]
        parts += ["", f"## {table.name}", "", markup.line(table.meaning), ""]
        if table.key:
            parts += ["A row is identified by " + ", ".join(markup.code(name) for name in table.key) + ".", ""]
        parts.append(markup.table(["field", "type", "null", "meaning"], rows))
    return "\n".join(parts) + "\n"


def _folders_of_tables() -> str:
    *others, last = [f"`{form.folder}/`" for form in FORMATS if form.open_table is not None]
    return f"{', '.join(others)} and {last}"


def _row(column: ContentColumn) -> list[str]:
    kind = WORDS[column.type]
    if column.refers_to:
        kind += f"; one of {markup.code(column.refers_to)}"
    if column.values:
        kind += ": " + ", ".join(markup.code(value) for value in column.values)
    return [markup.code(column.name), kind, "yes" if column.nullable else "", markup.line(column.meaning)]


_MARKDOWN = "text/markdown; charset=utf-8"
_TEXT = "text/plain; charset=utf-8"


def of_every_file(about: About) -> dict[str, str]:
    """Return the metadata included in every file whose format allows it."""
    return {
        "release": about.name,
        "title": about.title,
        "licence": about.licence,
        "schema_version": str(SCHEMA_VERSION),
    }


def write_metadata(folder: Folder, tables: Sequence[ContentTable], about: About) -> dict[str, Any]:
    """Write all metadata after the data, and return the manifest."""
    # Readers are not the study's team: always write English, whatever the language of the worker.
    with translation.override("en"):
        manifest = manifest_of(folder, tables, about)
        folder.text("README.md", card.write_card(about, manifest), _MARKDOWN, "Dataset card (start here)")
        folder.text("FIELDS.md", write_fields(tables), _MARKDOWN, "Description of every field")
        folder.text("DATASHEET.md", datasheet.write(about, manifest), _MARKDOWN, "Datasheet")
        folder.text("CHANGES.md", card.write_changes(about, manifest), _MARKDOWN, "Changes in this version")
        folder.text("LICENSE", citation.write_licence(about), _TEXT, "Licence, and what it does not cover")
        folder.text("CITATION.cff", citation.write_citation(about), "application/x-yaml", "Citation")
        described = croissant.croissant_document(about, manifest, tables)
        folder.text("croissant.json", _json(described), "application/ld+json", "Croissant metadata")
        folder.text(MANIFEST, _json(manifest), "application/json", "Manifest for programs")
        folder.sums()
    return manifest


def manifest_of(folder: Folder, tables: Sequence[ContentTable], about: About) -> dict[str, Any]:
    """Return the manifest of the data files in the folder."""
    lines = {file.path: file for file in folder.files}
    described = []
    for table in of_tables(tables):
        file = lines[JSON_LINES.path(table["name"])]
        described.append(table | {"rows": file.rows, "content_sha256": file.content_sha256})
    return {
        "format": FORMAT,
        "schema_version": SCHEMA_VERSION,
        "name": about.name,
        "study": about.slug,
        "version": about.version,
        "title": about.title,
        "description": about.description,
        "language": about.language,
        "is_simulated": about.is_simulated,
        "released": about.released.isoformat(),
        "licence": about.licence,
        "licences": list(about.licences),
        "passage_terms": about.passage_terms,
        "creators": [asdict(creator) for creator in about.creators],
        "doi": about.doi,
        "address": about.address,
        "code_version": about.code_version,
        "choices": about.choices.as_json(),
        "left_out": [asdict(exclusion) for exclusion in about.left_out],
        "layout_left_out": [asdict(exclusion) for exclusion in about.layout_left_out],
        "runs": [asdict(run) for run in about.runs],
        "runs_digest": digest_of_runs(about),
        "tables": described,
        "files": [file.as_json() for file in folder.files],
    }


def digest_of_runs(about: About) -> str:
    """Return a digest of the inputs and parameters of the runs; empty if no results are in the release.

    Runs of equal kind, code, inputs, parameters and seed give equal results, whatever their names.
    """
    if not about.runs:
        return ""
    runs = sorted(
        json.dumps([run.kind, run.code_version, run.inputs_digest, run.parameters, run.seed], sort_keys=True)
        for run in about.runs
    )
    return hashlib.sha256("\n".join(runs).encode()).hexdigest()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


# Called after every chunk with the table's name and the number of rows written; may raise to stop.
Report = Callable[[str, int], None]
Row = dict[str, Any]


def _silent(_table: str, _rows: int) -> None:
    pass


def write_files(
    root: Path,
    tables: Sequence[ContentTable],
    about: About,
    *,
    layout: Sequence[ContentTable] = (),
    left_out: Callable[[], tuple[Exclusion, ...]] = tuple,
    report: Report = _silent,
) -> dict[str, Any]:
    """Write the whole release into an empty folder, and return its manifest.

    The same tables and `about` give identical bytes. `layout` has the tables of the CrowdRAG-25 layout, named by path;
    after writing them, `left_out` is called for what they do not contain.

    Raises
    ------
    BrokenTableError
        If a row does not match its table.
    """
    folder = Folder(root)
    for table in tables:
        _table(folder, table, about, report)
    for form in sorted(FORMATS, key=lambda form: form.folder):
        if form.write_all is not None:
            form.write_all(folder, tables, layout)
    return write_metadata(folder, tables, replace(about, layout_left_out=left_out()))


def _table(folder: Folder, table: ContentTable, about: About, report: Report) -> None:
    """Write a table in all complete formats, reading it once."""
    types = schema(table, of_every_file(about))
    done = 0
    with ExitStack() as opened:
        into = [
            opened.enter_context(form.open_table(folder, form.path(table.name), table, types))
            for form in FORMATS
            if form.open_table is not None
        ]
        for columns in table.chunks():
            ready = chunk(table, types, columns)
            for sink in into:
                sink(ready)
            done += ready.arrow.num_rows
            report(table.name, done)
