"""`crowdrag drill FILE`: rehearse a restore. A backup that was never restored is a hope.

The backup is restored by the very command, in a process and a folder of its own, onto a PostgreSQL of its own; rows are
counted and sums checked on the way, then the invariants are asked of what came back. The folder is removed afterwards.
Nothing of the running system is touched but one row, which says how it went.
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crowdrag.runtime import archive, environment, status
from crowdrag.runtime.folder import REPOSITORY, Folder
from crowdrag.runtime.problems import Problem

# What leads to the running system's stores; a drill has its own.
OF_THE_SYSTEM = environment.ADDRESSES
STOPS_WITHIN = 60.0


@dataclass(frozen=True)
class Drilled:
    """How a rehearsal went."""

    is_good: bool
    seconds: float
    said: str
    manifest: dict[str, Any] = field(default_factory=dict)

    def facts(self, source: Path) -> dict[str, Any]:
        """Return what is noted of it."""
        return {
            "kind": "DRILL",
            "file": source.name,
            "size": source.stat().st_size if source.is_file() else 0,
            "is_good": self.is_good,
            "seconds": round(self.seconds, 1),
            "said": self.said,
            **figures(self.manifest),
        }


def figures(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return of a manifest when the backup was made, its rows and its files."""
    if not manifest:
        return {}
    files = sum(name.startswith("files/") for name in manifest["members"])
    return {"made_at": manifest["made_at"], "rows": sum(manifest["tables"].values()), "files": files}


def drill(folder: Folder, source: Path, *, place: Path | None = None) -> Drilled:
    """Restore a backup into an empty system, look whether it holds, and remove it. Raises Problem if there is none."""
    if not source.is_file():
        raise Problem(f"{source} is not there.")
    where = place or folder.root
    where.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with _scratch(where) as scratch:
        for command in (["restore", str(source.resolve())], ["check_invariants"]):
            made = _run(scratch, command)
            if made.returncode != 0:
                said = (made.stderr + made.stdout).strip().replace(str(scratch.root), "the drill's folder")
                return Drilled(
                    False, time.monotonic() - began, f"{command[0]}: {said[-2000:] or 'no reason was given'}"
                )
    found = _manifest(source)
    return Drilled(True, time.monotonic() - began, "Restored whole; what must hold of the data holds.", found)


@contextmanager
def _scratch(where: Path) -> Iterator[Folder]:
    """Lend an empty data folder; its stores have stopped when it is removed."""
    root = Path(tempfile.mkdtemp(prefix=".drill-", dir=where))
    folder = Folder(root)
    try:
        yield folder
    finally:
        deadline = time.monotonic() + STOPS_WITHIN
        while status.is_running(folder) and time.monotonic() < deadline:
            time.sleep(0.1)
        shutil.rmtree(root, ignore_errors=True)


def _run(scratch: Folder, command: list[str]) -> "subprocess.CompletedProcess[str]":
    kept = {name: value for name, value in os.environ.items() if name not in OF_THE_SYSTEM}
    return subprocess.run(
        [sys.executable, "-m", "crowdrag.runtime.cli", *command],
        env=kept | {"CROWDRAG_DATA_DIR": str(scratch.root)},
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )


def _manifest(source: Path) -> dict[str, Any]:
    with tarfile.open(source, "r:*") as tar:
        content = tar.extractfile(archive.MANIFEST)
        assert content is not None
        return dict(json.load(content))
