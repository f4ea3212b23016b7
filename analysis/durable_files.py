"""Files and folders that appear at once, complete and on the disk.

It imports nothing of ours, so that everything may import it, the pure packages too.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def published(target: Path) -> Iterator[Path]:
    """Yield an empty folder that gets its name, at once and with all files on the disk, if no error occurs.

    If another process publishes the same folder first, that one stays, and this one is removed.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")
    folder.mkdir()
    try:
        yield folder
        for path in (*folder.iterdir(), folder):
            sync(path)
        folder.rename(target)
        sync(target.parent)
    except OSError:
        if not target.exists():
            raise
    finally:
        # What killed processes left behind goes, too.
        for left in target.parent.glob(f".{target.name}.*.part") if target.exists() else (folder,):
            shutil.rmtree(left, ignore_errors=True)


@contextmanager
def written_at_once(target: Path) -> Iterator[BinaryIO]:
    """Open a file for writing that gets its name, complete and on the disk, if no error occurs."""
    part = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")
    try:
        with part.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
        sync(target.parent)
    finally:
        part.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Write a file or a folder to the disk. A new name is on the disk once its folder is."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
