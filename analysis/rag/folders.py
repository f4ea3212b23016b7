"""Files and folders that appear at once, complete and on the disk; arrays that are written bit by bit."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np


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
            _sync(path)
        folder.rename(target)
        _sync(target.parent)
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
        _sync(target.parent)
    finally:
        part.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def array_file(path: Path, dtype: Any, shape: tuple[int, ...]) -> Any:
    """Open a file of NumPy's format for an array of this type and shape, whose values are then written with `tofile`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with array_file(Path(folder) / "a.npy", np.int32, (3,)) as file:
    ...         np.array([1, 2], dtype=np.int32).tofile(file)
    ...         np.array([3], dtype=np.int32).tofile(file)
    ...     np.load(Path(folder) / "a.npy").tolist()
    [1, 2, 3]
    """
    file = path.open("wb")
    header = {"descr": np.lib.format.dtype_to_descr(np.dtype(dtype)), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    return file
