"""Output folder of a release; files are counted and hashed while they are written."""

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
MANIFEST = "release.json"
#: The folder of the CrowdRAG-25 layout in a release.
CROWDRAG25 = "crowdrag25"
LEVEL = 6


@dataclass(frozen=True)
class File:
    """A file of a release, by its path. `content_sha256` is the digest of a compressed file's content."""

    path: str
    media_type: str
    meaning: str
    bytes: int
    sha256: str
    rows: int = 0
    content_sha256: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the file's entry in the manifest."""
        return asdict(self)


class DigestingFile(io.RawIOBase):
    """Pass-through writer that counts and hashes."""

    def __init__(self, target: io.BufferedIOBase) -> None:
        self._target = target
        self._digest = hashlib.sha256()
        self.size = 0

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any) -> int:
        """Write all bytes."""
        self._digest.update(data)
        self.size += memoryview(data).nbytes
        self._target.write(data)
        return memoryview(data).nbytes

    @property
    def sha256(self) -> str:
        """Digest of everything written."""
        return self._digest.hexdigest()


@dataclass
class OpenFile:
    """A file being written. Its writer sets `rows` and `content_sha256`."""

    write: Callable[[Any], Any]
    stream: DigestingFile
    rows: int = 0
    content_sha256: str = ""


class Folder:
    """A folder being filled. The same contents give identical bytes: files contain no timestamps."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: list[File] = []

    @contextmanager
    def file(self, path: str, media_type: str, meaning: str) -> Iterator[OpenFile]:
        """Add a file; it is on the disk at the end of the block."""
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
        """Add a gzipped file; everything written is compressed."""
        with (
            self.file(path, media_type, meaning) as opened,
            # Leave name and time out of the header.
            gzip.GzipFile(filename="", mode="wb", compresslevel=LEVEL, fileobj=opened.stream, mtime=0) as zipped,
        ):
            opened.write = zipped.write
            yield opened

    def text(self, path: str, text: str, media_type: str, meaning: str) -> None:
        """Add a file with this text."""
        with self.file(path, media_type, meaning) as opened:
            opened.write(text.encode())

    def sums(self) -> None:
        """Add the checksums of all files in the format of `sha256sum --check`; call this last."""
        lines = sorted(f"{file.sha256}  {file.path}\n" for file in self.files)
        self.text(SUMS, "".join(lines), "text/plain; charset=utf-8", "SHA-256 checksums of all other files")
