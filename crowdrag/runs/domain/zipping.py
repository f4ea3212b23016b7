"""Several files of a storage as one ZIP, made while it is sent: none of them is in memory or on a disk whole.

The standard library writes to a stream that cannot go back: sizes and sums follow each file, and the list of all comes
last, as ZIP has it. The same files give the same bytes.
"""

import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.core.files.storage import Storage

from . import storing

# Compressed already: again would take long and gain nothing.
COMPRESSED = frozenset(
    {"7z", "br", "bz2", "gif", "gz", "jpeg", "jpg", "parquet", "pdf", "png", "webp", "xz", "zip", "zst"}
)
# Little more is gained by more work; and anybody may ask for a release.
LEVEL = 1
# What a file may be when it is unpacked: a file that all may read.
READABLE = 0o100644 << 16
# From here on a file's sizes take eight bytes; what cannot be made smaller grows a little.
FAR = 2**31 - 2**27


class BrokenPartError(Exception):
    """A file ends before its size: what is sent ends there too, so that nobody takes it for whole."""


@dataclass(frozen=True)
class Part:
    """A file: what it is called in the ZIP, and where in the storage it lies."""

    path: str
    place: str
    size: int


class _Held:
    """What was written and not sent yet. It has no `tell`: so the library does not go back in it."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self.size = 0

    def write(self, data: bytes) -> int:
        """Hold what is written."""
        self._chunks.append(bytes(data))
        self.size += len(data)
        return len(data)

    def flush(self) -> None:
        """Do nothing: it is held until it is taken."""

    def close(self) -> None:
        """Do nothing, either."""

    def take(self) -> bytes:
        """Return what is held, and hold nothing."""
        taken, self._chunks, self.size = b"".join(self._chunks), [], 0
        return taken


def stream(storage: Storage, parts: Sequence[Part]) -> Iterator[bytes]:
    """Yield a ZIP of these files, in chunks.

    Raises
    ------
    FileNotFoundError, BrokenPartError
        if the storage does not hold a file, or not all of it.
    """
    held = _Held()
    with zipfile.ZipFile(held, "w", compresslevel=LEVEL) as archive:
        for part in parts:
            read = 0
            archive.compression = zipfile.ZIP_STORED if _is_small(part) else zipfile.ZIP_DEFLATED
            with archive.open(part.path, "w", force_zip64=part.size > FAR) as entry:
                for chunk in storing.read_part(storage, name=part.place, first=0, last=part.size - 1):
                    read += len(chunk)
                    entry.write(chunk)
                    if held.size >= storing.CHUNK:
                        yield held.take()
            if read != part.size:
                raise BrokenPartError(f"{part.path} has {read} bytes of {part.size}.")
            archive.getinfo(part.path).external_attr = READABLE
    yield held.take()


def _is_small(part: Part) -> bool:
    return part.path.rpartition(".")[2].lower() in COMPRESSED
