"""The small made-up corpus of tests/data/crowdrag25, to be changed and imported."""

import gzip
import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.db import connection

from annotation.imports import crowdrag25
from crowdrag.studies.models import Study
from writing.corpus.imports.importers import Stored
from writing.corpus.imports.sources import Source, of_folder

CORPUS = Path(__file__).parents[2] / "data" / "crowdrag25"
NOW = datetime(2026, 2, 3, tzinfo=UTC)
Rows = list[dict[str, Any]]


class Folder:
    """A copy of the small corpus."""

    def __init__(self, path: Path):
        self.path = shutil.copytree(CORPUS, path)

    def rows(self, name: str) -> Rows:
        """Return a file's records."""
        return [json.loads(line) for line in (self.path / f"{name}.jsonl").read_text().splitlines()]

    def write(self, name: str, rows: Rows) -> None:
        """Write a file's records anew, gzipped as published."""
        (self.path / f"{name}.jsonl").unlink(missing_ok=True)
        text = "\n".join(json.dumps(row) for row in rows)
        (self.path / f"{name}.jsonl.gz").write_bytes(gzip.compress(text.encode()))

    def change(self, name: str, change: Callable[[Rows], None]) -> None:
        """Change a file's records."""
        rows = self.rows(name)
        change(rows)
        self.write(name, rows)

    def remove(self, *names: str) -> None:
        """Take files away."""
        for name in names:
            (self.path / f"{name}.jsonl").unlink()


def bring_in(study: Study, path: Path, *, strict: bool = True) -> dict[str, Any]:
    """Import a folder, and return the figures."""
    return stored(study, path, strict=strict).summary


def stored(study: Study, path: Path, *, strict: bool = False) -> Stored:
    """Import a folder, and return the figures and the faults."""
    return crowdrag25.import_corpus(study=study, source=Source(of_folder(path)), now=NOW, strict=strict)


def everything() -> dict[str, list[tuple[Any, ...]]]:
    """Return the physical version of every row of writing, judging and people: what was touched shows."""
    tables = [
        name
        for name in connection.introspection.table_names()
        if name.startswith(("writing_", "annotation_", "studies_"))
    ]
    found = {}
    with connection.cursor() as cursor:
        for table in sorted(tables):
            cursor.execute(f'SELECT ctid::text, xmin::text FROM "{table}" ORDER BY ctid')
            found[table] = cursor.fetchall()
    # The lock that an import holds on its study leaves a mark on the study's row, and changes nothing of it.
    del found["studies_study"]
    return found
