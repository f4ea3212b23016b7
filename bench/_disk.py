"""A small disk of its own, which can be filled."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def small_disk(place: Path, megabytes: int) -> Iterator[bool]:
    """Mount a disk of this size on a folder; yield whether this account may do so."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(place)]
    if os.getuid() or subprocess.run(command, check=False, capture_output=True).returncode:
        yield False
        return
    try:
        yield True
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(disk: Path) -> Path:
    """Take all the room that is left; return the file to delete."""
    filler = disk / "filler"
    for piece in (1 << 20, 1 << 16, 512):
        with filler.open("ab", buffering=0) as file, suppress(OSError):
            while True:
                file.write(b"x" * piece)
    return filler
