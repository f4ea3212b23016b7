"""Files come under their name only when they are whole, and are never held in memory."""

import hashlib
import os
import shutil
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol, runtime_checkable

from django.core.files import File
from django.core.files.storage import FileSystemStorage, Storage

CHUNK = 1024 * 1024


@runtime_checkable
class Remote(Protocol):
    """A storage that is elsewhere, as `crowdrag.storage.s3.S3Storage`: parts can be read, and browsers sent there."""

    redirects: bool

    def part(self, name: str, first: int, last: int) -> Iterator[bytes]:
        """Return a part of a file."""

    def signed(self, name: str, *, filename: str, media_type: str) -> str:
        """Return an address that opens a file for a while."""


@dataclass(frozen=True)
class Stored:
    """Where a file went, and what it is."""

    name: str
    size: int
    sha256: str


def digest(path: Path) -> tuple[int, str]:
    """Return a file's size and SHA-256."""
    found = hashlib.sha256()
    size = 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            found.update(chunk)
            size += len(chunk)
    return size, found.hexdigest()


def move_in(storage: Storage, *, path: Path, name: str) -> None:
    """Move a finished local file into a storage, under `name` at once and whole."""
    target = _local_path(storage, name)
    if target is None:
        # Object stores show an object when it is whole.
        with path.open("rb") as file:
            if storage.exists(name):
                storage.delete(name)
            storage.save(name, File(file))
        path.unlink()
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{uuid.uuid4().hex}.part")
    try:
        shutil.move(path, part)
        if (mode := getattr(storage, "file_permissions_mode", None)) is not None:
            part.chmod(mode)
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(target)
        _sync_folder(target.parent)
    finally:
        part.unlink(missing_ok=True)


def stream_in(storage: Storage, *, chunks: Iterable[bytes], name: str) -> Stored:
    """Write a stream of chunks into a storage; return its size and SHA-256."""
    counting = _Counting(chunks)
    target = _local_path(storage, name)
    if target is None:
        saved = storage.save(name, File(counting, name=name))  # type: ignore[arg-type] # it can be read, which is what is asked of it
        return Stored(saved, counting.size, counting.sha256)
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{uuid.uuid4().hex}.part")
    try:
        with part.open("xb") as file:
            for chunk in counting:
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        if (mode := getattr(storage, "file_permissions_mode", None)) is not None:
            part.chmod(mode)
        part.replace(target)
        _sync_folder(target.parent)
    finally:
        part.unlink(missing_ok=True)
    return Stored(name, counting.size, counting.sha256)


def read_part(storage: Storage, *, name: str, first: int, last: int) -> Iterator[bytes]:
    """Return a part of a file, first and last byte included, in chunks; of an empty file with `last` -1, nothing.

    Raises
    ------
    FileNotFoundError
        if the storage does not hold it; at once, not with the first chunk.
    """
    if last < first:
        return iter(())
    if isinstance(storage, Remote):
        return storage.part(name, first, last)
    file = storage.open(name, "rb")
    file.seek(first)
    return _chunks(file, last - first + 1)


def address(storage: Storage, *, name: str, filename: str, media_type: str) -> str | None:
    """Return an address by which browsers get a file from the storage itself; None where it must come through us."""
    if not isinstance(storage, Remote) or not storage.redirects:
        return None
    return storage.signed(name, filename=filename, media_type=media_type)


def _chunks(file: "File[Any]", length: int) -> Iterator[bytes]:
    with file:
        while length > 0 and (chunk := file.read(min(CHUNK, length))):
            length -= len(chunk)
            yield chunk


def read_chunks(file: BinaryIO) -> Iterator[bytes]:
    """Read a file in chunks."""
    while chunk := file.read(CHUNK):
        yield chunk


class _Counting:
    """Counts and digests what flows through; reads like a file for storages that want one."""

    closed = False

    def __init__(self, chunks: Iterable[bytes]):
        self._chunks = iter(chunks)
        self._digest = hashlib.sha256()
        self._rest = b""
        self.size = 0

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            self._digest.update(chunk)
            self.size += len(chunk)
            yield chunk

    def seekable(self) -> bool:
        """Say that what flowed through is gone."""
        return False

    def read(self, size: int = -1) -> bytes:
        """Read up to `size` bytes; all that is left if negative."""
        parts, length = [self._rest], len(self._rest)
        for chunk in self:
            parts.append(chunk)
            length += len(chunk)
            if 0 <= size <= length:
                break
        whole = b"".join(parts)
        cut = len(whole) if size < 0 else size
        self._rest = whole[cut:]
        return whole[:cut]

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()


def _local_path(storage: Storage, name: str) -> Path | None:
    return Path(storage.path(name)) if isinstance(storage, FileSystemStorage) else None


def _sync_folder(folder: Path) -> None:
    # Without it a name may be lost with the power although the file is on the disk.
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
