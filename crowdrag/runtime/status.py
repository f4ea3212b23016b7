"""The status file: what runs, where, since when. Written whole or not at all."""

import errno
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from crowdrag.runtime.folder import Folder

#: What is kept free for the status file: on a full disk it matters most that somebody can read what is wrong.
RESERVE = 256 * 1024


def write(folder: Folder, status: dict[str, Any]) -> None:
    """Replace the status file; where the disk is full, with the room of the reserve."""
    path, reserve = folder.run / "status.json", folder.run / "reserve"
    text = json.dumps(status, indent=1)
    try:
        _replace(path, text)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        reserve.unlink(missing_ok=True)
        _replace(path, text)
    else:
        with suppress(OSError):
            _keep(reserve)


def _replace(path: Path, text: str) -> None:
    draft = path.with_suffix(".new")
    try:
        draft.write_text(text)
        draft.replace(path)
    except OSError:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


def _keep(reserve: Path) -> None:
    """Take the reserve's room, if it is not taken and there is enough beside it."""
    if reserve.exists() and reserve.stat().st_size == RESERVE:
        return
    disk = os.statvfs(reserve.parent)
    if disk.f_bavail * disk.f_frsize < 16 * RESERVE:
        return
    descriptor = os.open(reserve, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        os.posix_fallocate(descriptor, 0, RESERVE)
    finally:
        os.close(descriptor)


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
