"""The status file: what runs, where, since when. Written whole or not at all."""

import json
from typing import Any

from crowdrag.runtime.folder import Folder


def write(folder: Folder, status: dict[str, Any]) -> None:
    """Replace the status file."""
    path = folder.run / "status.json"
    draft = path.with_suffix(".new")
    draft.write_text(json.dumps(status, indent=1))
    draft.replace(path)


def read(folder: Folder) -> dict[str, Any]:
    """Return what the file says; it may be about processes that are long gone."""
    try:
        found = json.loads((folder.run / "status.json").read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def is_running(folder: Folder) -> bool:
    """Return whether a supervisor lives: it holds a lock, and a file is no proof."""
    return folder.run.exists() and folder.supervisor_lock.is_held_by_another()
