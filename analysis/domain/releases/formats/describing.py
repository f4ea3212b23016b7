"""What stands beside the data: manifest, card, metadata, datasheet, licence, citation, fields, changes, sums."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.utils import translation

from ..contents.table import Table
from . import card, changes, citation, croissant, datasheet, dictionary, licence
from .about import FORMAT, SCHEMA_VERSION, About
from .folder import Folder

MANIFEST = "release.json"
_MARKDOWN = "text/markdown; charset=utf-8"
_TEXT = "text/plain; charset=utf-8"


def of_every_file(about: About) -> dict[str, str]:
    """Return what a file says of the release that it is of, where a format has room for that."""
    return {
        "release": about.name,
        "title": about.title,
        "licence": about.licence,
        "schema_version": str(SCHEMA_VERSION),
    }


def write(folder: Folder, tables: Sequence[Table], about: About) -> dict[str, Any]:
    """Write it all, the data being there, and return the manifest."""
    # It is read by others than those who made it: in one language, whatever a worker process speaks.
    with translation.override("en"):
        manifest = manifest_of(folder, tables, about)
        folder.text("README.md", card.write(about, manifest), _MARKDOWN, "The dataset card: begin here")
        folder.text("FIELDS.md", dictionary.write(tables), _MARKDOWN, "What every field means")
        folder.text("DATASHEET.md", datasheet.write(about, manifest), _MARKDOWN, "The datasheet")
        folder.text("CHANGES.md", changes.write(about, manifest), _MARKDOWN, "What is new in this version")
        folder.text("LICENSE", licence.write(about), _TEXT, "Under which licence, and what it does not cover")
        folder.text("CITATION.cff", citation.write(about), "application/x-yaml", "How to cite it")
        described = croissant.of(about, manifest, tables)
        folder.text("croissant.json", _json(described), "application/ld+json", "Croissant metadata")
        folder.text(MANIFEST, _json(manifest), "application/json", "The manifest: what programs want to know")
        folder.sums()
    return manifest


def manifest_of(folder: Folder, tables: Sequence[Table], about: About) -> dict[str, Any]:
    """Return the manifest of the data files that are there."""
    lines = {file.path: file for file in folder.files}
    described = []
    for table in dictionary.of_tables(tables):
        file = lines[f"jsonl/{table['name']}.jsonl.gz"]
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
        "left_out": [asdict(each) for each in about.left_out],
        "layout_left_out": [asdict(each) for each in about.layout_left_out],
        "runs": [asdict(run) for run in about.runs],
        "runs_digest": digest_of_runs(about),
        "tables": described,
        "files": [file.as_json() for file in folder.files],
    }


def digest_of_runs(about: About) -> str:
    """Return one digest of what the runs took in and how; empty where no run's results are in the release.

    Runs of equal kind, code, inputs, parameters and seed give equal results, whatever they are called.
    """
    if not about.runs:
        return ""
    said = sorted(
        json.dumps([run.kind, run.code_version, run.inputs_digest, run.parameters, run.seed], sort_keys=True)
        for run in about.runs
    )
    return hashlib.sha256("\n".join(said).encode()).hexdigest()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
