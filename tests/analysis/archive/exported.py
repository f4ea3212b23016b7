"""Making, reading and forging exports in tests."""

import gzip
import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from analysis.archive import services
from crowdrag.jobs import lifecycle
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Artifact, Run
from crowdrag.studies.models import Study
from writing.corpus.imports import importers

Files = dict[str, bytes]


def export(study: Study, format_: str = "archive") -> Artifact:
    run = lifecycle.wait(services.start(study=study, format_=format_))
    assert run.state == RunState.DONE, run.error
    return run.artifacts.get()


def import_archive(study: Study, path: Path) -> Run:
    return lifecycle.wait(importers.start(study=study, importer=importers.get("archive"), files={"file": path}))


def contents(artifact: Artifact) -> Files:
    return unzipped(Path(artifact.file.path))


def unzipped(path: Path) -> Files:
    with zipfile.ZipFile(path) as zipped:
        return {name: zipped.read(name) for name in zipped.namelist()}


def rows(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(content).decode().split("\n") if line]


def packed(lines: list[Any]) -> bytes:
    text = "".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines)
    return gzip.compress(text.encode(), mtime=0)


def with_manifest(files: Files, **changes: Any) -> Files:
    """Let the manifest say what the files are: a forger can do sums too."""
    manifest = json.loads(files["manifest.json"])
    for entry in manifest["files"]:
        content = files.get(entry["path"])
        if content is not None:
            text = gzip.decompress(content)
            entry |= {
                "rows": text.count(b"\n"),
                "bytes": len(content),
                "sha256": hashlib.sha256(content).hexdigest(),
                "content_bytes": len(text),
                "content_sha256": hashlib.sha256(text).hexdigest(),
            }
    return files | {"manifest.json": json.dumps(manifest | changes).encode()}


def forged(files: Files, table: str, change: Callable[[list[Any]], list[Any]]) -> Files:
    """Change a table's rows, and the manifest with them."""
    path = f"data/{table}.jsonl.gz"
    return with_manifest(files | {path: packed(change(rows(files[path])))})


def written(files: Files, path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as zipped:
        for name, content in files.items():
            zipped.writestr(name, content)
    return path
