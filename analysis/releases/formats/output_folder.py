"""The folder that a release is written into: every file counted and digested while it is written."""

import gzip
import hashlib
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

SUMS = "SHA256SUMS"
LEVEL = 6


@dataclass(frozen=True)
class File:
    """A file of a release, by its path in it. `content_sha256` is of what a compressed file holds unpacked."""

    path: str
    media_type: str
    meaning: str
    bytes: int
    sha256: str
    rows: int = 0
    content_sha256: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return it as the manifest holds it."""
        return asdict(self)


class DigestingFile(io.RawIOBase):
    """Writes on, counting and digesting."""

    def __init__(self, target: io.BufferedIOBase) -> None:
        self._target = target
        self._digest = hashlib.sha256()
        self.size = 0

    def writable(self) -> bool:
        """Say that this is for writing."""
        return True

    def write(self, data: Any) -> int:
        """Take in bytes, all of them."""
        self._digest.update(data)
        self.size += memoryview(data).nbytes
        self._target.write(data)
        return memoryview(data).nbytes

    @property
    def sha256(self) -> str:
        """The digest of all that was written."""
        return self._digest.hexdigest()


@dataclass
class OpenFile:
    """A file that is being written. `rows` and `content_sha256` are what its writer says of it."""

    write: Callable[[Any], Any]
    stream: DigestingFile
    rows: int = 0
    content_sha256: str = ""


class Folder:
    """A folder that is being filled. The same contents give the same bytes: no file says when it was written."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: list[File] = []

    @contextmanager
    def file(self, path: str, media_type: str, meaning: str) -> Iterator[OpenFile]:
        """Add a file; it is on the disk when the block has ended."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as file:
            digesting = DigestingFile(file)
            opened = OpenFile(digesting.write, digesting)
            yield opened
            file.flush()
            os.fsync(file.fileno())
        self.files.append(
            File(path, media_type, meaning, digesting.size, digesting.sha256, opened.rows, opened.content_sha256)
        )

    @contextmanager
    def gzipped(self, path: str, media_type: str, meaning: str) -> Iterator[OpenFile]:
        """Add a gzipped file: what is written is compressed."""
        with (
            self.file(path, media_type, meaning) as opened,
            # No name and no time in its header.
            gzip.GzipFile(filename="", mode="wb", compresslevel=LEVEL, fileobj=opened.stream, mtime=0) as zipped,
        ):
            opened.write = zipped.write
            yield opened

    def text(self, path: str, text: str, media_type: str, meaning: str) -> None:
        """Add a file that holds this text."""
        with self.file(path, media_type, meaning) as opened:
            opened.write(text.encode())

    def sums(self) -> None:
        """Add the sums of all files that are there, as `sha256sum --check` reads them; the last thing to do."""
        lines = sorted(f"{file.sha256}  {file.path}\n" for file in self.files)
        self.text(SUMS, "".join(lines), "text/plain; charset=utf-8", "SHA-256 checksums of all other files")
