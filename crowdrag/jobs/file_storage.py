"""Write files so that they appear only when complete, in constant memory; several files as one ZIP.

The ZIP is created while it is sent: none of its files is completely in memory or on disk. The standard library writes
to a stream without seeking: sizes and checksums follow each file, and the directory comes last, as the ZIP format
allows. The same files give the same bytes.
"""

import hashlib
import os
import shutil
import uuid
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol, runtime_checkable

from django.core.files import File
from django.core.files.storage import FileSystemStorage, Storage

from analysis.durable_files import sync

CHUNK = 1024 * 1024


@runtime_checkable
class RemoteStorage(Protocol):
    """A remote storage such as `crowdrag.storage.s3.S3Storage`: it reads ranges, and can serve browsers directly."""

    redirects: bool

    def part(self, name: str, first: int, last: int) -> Iterator[bytes]:
        """Return a range of a file."""

    def signed(self, name: str, *, filename: str, media_type: str) -> str:
        """Return a URL that gives access to a file for a while."""


@dataclass(frozen=True)
class StoredFile:
    """Where a file was stored, with its size and digest."""

    name: str
    size: int
    sha256: str


def file_digest(path: Path) -> tuple[int, str]:
    """Return a file's size and SHA-256."""
    digest = hashlib.sha256()
    size = 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return size, digest.hexdigest()


def move_in(storage: Storage, *, path: Path, name: str) -> None:
    """Move a finished local file into a storage; it appears under `name` at once and complete."""
    target = _local_path(storage, name)
    if target is None:
        # Object stores show an object only when it is complete.
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
        sync(target.parent)
    finally:
        part.unlink(missing_ok=True)


def stream_in(storage: Storage, *, chunks: Iterable[bytes], name: str) -> StoredFile:
    """Write a stream of chunks into a storage; return its size and SHA-256."""
    counting = _Counting(chunks)
    target = _local_path(storage, name)
    if target is None:
        saved = storage.save(name, File(counting, name=name))  # type: ignore[arg-type] # it can be read
        return StoredFile(saved, counting.size, counting.sha256)
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
        sync(target.parent)
    finally:
        part.unlink(missing_ok=True)
    return StoredFile(name, counting.size, counting.sha256)


def read_part(storage: Storage, *, name: str, first: int, last: int) -> Iterator[bytes]:
    """Return a range of a file in chunks, first and last byte included; for an empty file with `last` -1, nothing.

    Raises
    ------
    FileNotFoundError
        if the storage does not have it; at once, not with the first chunk.
    """
    if last < first:
        return iter(())
    if isinstance(storage, RemoteStorage):
        return storage.part(name, first, last)
    file = storage.open(name, "rb")
    file.seek(first)
    return _chunks(file, last - first + 1)


def direct_url(storage: Storage, *, name: str, filename: str, media_type: str) -> str | None:
    """Return a URL by which browsers get a file from the storage itself; None if it must be sent by us."""
    if not isinstance(storage, RemoteStorage) or not storage.redirects:
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
    """Counts and digests the stream; readable like a file for storages that need one."""

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
        """Return False: the stream cannot be rewound."""
        return False

    def read(self, size: int = -1) -> bytes:
        """Read up to `size` bytes; the rest if negative."""
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


# Already compressed: compressing again would take long and gain nothing.
COMPRESSED = frozenset(
    {"7z", "br", "bz2", "gif", "gz", "jpeg", "jpg", "parquet", "pdf", "png", "webp", "xz", "zip", "zst"}
)
# A higher level gains little for more work, and anybody may request a release.
LEVEL = 1
# File permissions in the ZIP: readable by everybody.
READABLE = 0o100644 << 16
# From this size on, sizes take eight bytes; incompressible data grow a little.
ZIP64_FROM = 2**31 - 2**27


class BrokenPartError(Exception):
    """A file ends before its size: the download ends there too, so that nobody takes it for complete."""


@dataclass(frozen=True)
class ZipPart:
    """A file: its name in the ZIP, and its place in the storage."""

    path: str
    place: str
    size: int


class _WriteBuffer:
    """Bytes that were written and not sent yet. It has no `tell`, so that the library does not seek in it."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self.size = 0

    def write(self, data: bytes) -> int:
        """Buffer the bytes."""
        self._chunks.append(bytes(data))
        self.size += len(data)
        return len(data)

    def flush(self) -> None:
        """Do nothing: bytes are buffered until they are taken."""

    def close(self) -> None:
        """Do nothing."""

    def take(self) -> bytes:
        """Return the buffered bytes, and empty the buffer."""
        taken, self._chunks, self.size = b"".join(self._chunks), [], 0
        return taken


def stream_zip(storage: Storage, parts: Sequence[ZipPart]) -> Iterator[bytes]:
    """Yield a ZIP of these files, in chunks.

    Raises
    ------
    FileNotFoundError, BrokenPartError
        if the storage does not have a file, or not all of it.
    """
    held = _WriteBuffer()
    with zipfile.ZipFile(held, "w", compresslevel=LEVEL) as archive:
        for part in parts:
            read = 0
            archive.compression = zipfile.ZIP_STORED if _is_small(part) else zipfile.ZIP_DEFLATED
            with archive.open(part.path, "w", force_zip64=part.size > ZIP64_FROM) as entry:
                for chunk in read_part(storage, name=part.place, first=0, last=part.size - 1):
                    read += len(chunk)
                    entry.write(chunk)
                    if held.size >= CHUNK:
                        yield held.take()
            if read != part.size:
                raise BrokenPartError(f"{part.path} has {read} bytes of {part.size}.")
            archive.getinfo(part.path).external_attr = READABLE
    yield held.take()


def _is_small(part: ZipPart) -> bool:
    return part.path.rpartition(".")[2].lower() in COMPRESSED
