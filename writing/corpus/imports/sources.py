"""Sources of an import: a folder, files, or an archive whose members are streamed.

Compressed files are decompressed while they are read, so that only a small piece is in memory.
"""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, BinaryIO

import zstandard

from .problems import Problems

MIB = 1024**2
# The largest piece that an archive reader may request at once. A header that claims more is rejected unread.
MAX_PIECE = 4 * MIB
# The memory limit of LZMA decompression: `xz -9` needs 65 MB, but a file could request 4 GB.
MAX_LZMA = 128 * MIB
GZIP_MAGIC, BZIP2_MAGIC, XZ_MAGIC = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00"


class TooLarge(Exception):  # noqa: N818 -- describes the file
    """Reading the file would exceed a memory limit."""


class Pieces:
    """A file wrapper for archive readers that limits the bytes of each read and in total.

    Python's `tarfile` and `zipfile` read a header in one piece, whatever length the file claims.
    """

    def __init__(self, file: Any) -> None:
        self._file = file
        self._left: int | None = None

    def allow(self, count: int | None) -> None:
        """Limit the total bytes of further reads; None removes this limit, but not that of each read."""
        self._left = count

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes; all remaining bytes if `size` is negative.

        Raises
        ------
        TooLarge
            If this exceeds a limit.
        """
        if size > MAX_PIECE:
            raise TooLarge(f"a header of {size:,} bytes; at most {MAX_PIECE:,} are read")
        try:
            data: bytes = self._file.read(MAX_PIECE + 1 if size < 0 else size)
        except OSError as error:
            if error.errno is None:  # bz2 reports a damaged file like this
                raise tarfile.ReadError(str(error)) from error
            raise
        if len(data) > MAX_PIECE:
            raise TooLarge(f"a part of more than {MAX_PIECE:,} bytes")
        if self._left is not None:
            self._left -= len(data)
            if self._left < 0:
                raise TooLarge("headers that are longer than any archive of this kind needs")
        return data

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a position and return it."""
        return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        """Return the position."""
        return int(self._file.tell())

    def seekable(self) -> bool:
        """Return True."""
        return True


class Xz(io.RawIOBase):
    """An xz file decompressed with limited memory; `lzma.LZMAFile` has no limit."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._rewind()

    def _rewind(self) -> None:
        self._file.seek(0)
        self._position = 0
        self._decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MAX_LZMA)

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer and return the number of bytes; 0 at the end."""
        view = memoryview(buffer).cast("B")
        data = self._next(len(view))
        view[: len(data)] = data
        self._position += len(data)
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a position by reading up to it; to go back, start from the beginning."""
        if whence == io.SEEK_END:
            raise io.UnsupportedOperation("the end is not known")
        target = offset + (self._position if whence == io.SEEK_CUR else 0)
        if target < self._position:
            self._rewind()
        while self._position < target and self.read(min(MIB, target - self._position)):
            pass
        return self._position

    def tell(self) -> int:
        """Return the position."""
        return self._position

    def _next(self, size: int) -> bytes:
        data = b""
        while not data and size:
            if self._decompressor.eof:
                rest = self._decompressor.unused_data or self._file.read(io.DEFAULT_BUFFER_SIZE)
                if not rest.strip(b"\0"):
                    return b""
                self._decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MAX_LZMA)
                data = self._decompressor.decompress(rest, size)
                continue
            packed = self._file.read(io.DEFAULT_BUFFER_SIZE) if self._decompressor.needs_input else b""
            if self._decompressor.needs_input and not packed:
                raise EOFError("the file ends before its end")
            data = self._decompressor.decompress(packed, size)
        return data


def unpack(file: BinaryIO) -> Any:
    """Return the decompressed file; the compression is detected by the first bytes, not by the name."""
    file.seek(0)
    start = file.read(len(XZ_MAGIC))
    file.seek(0)
    if start.startswith(GZIP_MAGIC):
        return gzip.GzipFile(fileobj=file)
    if start.startswith(BZIP2_MAGIC):
        return bz2.BZ2File(file)
    return Xz(file) if start.startswith(XZ_MAGIC) else file


SUFFIXES = (".gz", ".zst", ".jsonl", ".json")
MAX_MEMBERS = 10_000
MAX_ARCHIVE = 4 * 1024**3
# A generous limit for the headers of that many files.
MAX_HEADERS = 32 * 1024**2
# With other methods, Python's reader decompresses everything at once.
ZIP_EXPECTED = "a zip archive whose files are stored or deflated"
ZIP_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
# The exceptions of Python's readers for truncated, damaged or unsupported files.
UNREADABLE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    gzip.BadGzipFile,
    zlib.error,
    lzma.LZMAError,
    zstandard.ZstdError,
    EOFError,
    NotImplementedError,
    RecursionError,
    TooLarge,
)


@dataclass(frozen=True)
class Member:
    """One readable file: its name for messages, its stored size, and a function that opens it."""

    name: str
    size: int
    opener: Callable[[], BinaryIO]

    def open(self) -> BinaryIO:
        """Open the file at its start."""
        return self.opener()

    @property
    def stem(self) -> str:
        """The name without folders and suffixes, by which the file is found."""
        name = PurePosixPath(self.name).name
        changed = True
        while changed:
            changed = False
            for suffix in SUFFIXES:
                if name.endswith(suffix) and name != suffix:
                    name, changed = name.removesuffix(suffix), True
        return name


class Source:
    """The files of one import by name without folder and suffix. Files that are not requested are ignored."""

    def __init__(self, members: Iterable[Member]):
        self._members: dict[str, list[Member]] = {}
        for member in members:
            if not is_hidden(member.name):
                self._members.setdefault(member.stem, []).append(member)

    @property
    def names(self) -> list[str]:
        """The names of all files, without folders and suffixes."""
        return sorted(self._members)

    def find(self, stem: str) -> list[Member]:
        """Return the files with this name."""
        return self._members.get(stem, [])


def of_path(path: Path) -> Member:
    """Return a local file."""
    return Member(path.name, path.stat().st_size, lambda: path.open("rb"))


def of_folder(folder: Path) -> Iterator[Member]:
    """Yield the files of a folder and its subfolders."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield Member(path.relative_to(folder).as_posix(), path.stat().st_size, _path_opener(path))


def is_archive(file: BinaryIO, name: str) -> bool:
    """Return whether a file is an archive: zip by content, tar by name (a gzipped tar looks like any gzip file)."""
    if name.lower().endswith((".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")):
        return True
    is_zip = zipfile.is_zipfile(file)
    file.seek(0)
    return is_zip


@contextmanager
def of_archive(file: BinaryIO, name: str, problems: Problems) -> Iterator[list[Member]]:
    """Yield the members of a zip or tar archive, which can be read until the block ends."""
    try:
        if zipfile.is_zipfile(file):
            file.seek(0)
            with open_zip(file) as zipped:
                yield _zip_members(zipped, name, problems)
        else:
            pieces = Pieces(unpack(file))
            pieces.allow(MAX_HEADERS)
            with tarfile.TarFile(fileobj=pieces) as tarred:  # type: ignore[arg-type] # has all methods that tarfile calls
                members = _tar_members(tarred, name, problems)
                pieces.allow(None)
                yield members
    except UNREADABLE as error:
        problems.add(file=name, expected="a zip or tar archive that is whole", message=f"cannot be read: {error}")
        problems.refuse_any()


def open_zip(file: IO[bytes]) -> zipfile.ZipFile:
    """Open a zip archive; reject it if its file list is implausibly large."""
    return zipfile.ZipFile(Pieces(file))


def _zip_members(zipped: zipfile.ZipFile, name: str, problems: Problems) -> list[Member]:
    infos = [info for info in zipped.infolist() if not info.is_dir()]
    if len(infos) > MAX_MEMBERS or sum(info.file_size for info in infos) > MAX_ARCHIVE:
        problems.add(file=name, expected="at most 10,000 files with 4 GB", message="the archive holds more")
        return []
    encrypted = [info.filename for info in infos if info.flag_bits & 1]
    if encrypted:
        problems.add(file=name, expected="an archive without a password", message=f"{encrypted[0]} is encrypted")
        return []
    if any(info.compress_type not in ZIP_METHODS for info in infos):
        problems.add(file=name, expected=ZIP_EXPECTED, message="it is compressed with another method")
        return []
    return [Member(info.filename, info.file_size, _zip_opener(zipped, info)) for info in infos]


def _tar_members(tarred: tarfile.TarFile, name: str, problems: Problems) -> list[Member]:
    members: list[Member] = []
    total = 0
    for info in tarred:  # sizes are known before members are skipped, so a bomb is rejected in time
        # These headers may be large, and the archive would keep all of them in memory.
        info.pax_headers = {}
        tarred.pax_headers = {}
        total += info.size
        if len(members) >= MAX_MEMBERS or total > MAX_ARCHIVE:
            problems.add(file=name, expected="at most 10,000 files with 4 GB", message="the archive holds more")
            return []
        if info.isfile():  # no links, no devices
            members.append(Member(info.name, info.size, _tar_opener(tarred, info)))
    return members


def _path_opener(path: Path) -> Callable[[], BinaryIO]:
    return lambda: path.open("rb")


def _zip_opener(zipped: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[], BinaryIO]:
    return lambda: zipped.open(info)  # type: ignore[return-value]


def _tar_opener(tarred: tarfile.TarFile, info: tarfile.TarInfo) -> Callable[[], BinaryIO]:
    def opened() -> BinaryIO:
        stream = tarred.extractfile(info)
        assert stream is not None  # a regular file
        return stream  # type: ignore[return-value]

    return opened


def is_hidden(name: str) -> bool:
    """Return whether a file was left by the operating system (._file, .DS_Store, __MACOSX)."""
    parts = PurePosixPath(name).parts
    return not parts or parts[-1].startswith(".") or "__MACOSX" in parts
