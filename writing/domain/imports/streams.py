"""Files that somebody hands in, unpacked while they are read: never more than a small piece of them is in memory."""

import bz2
import gzip
import io
import lzma
import tarfile
from typing import Any, BinaryIO

MIB = 1024**2
# The largest piece that a reader of archives may ask for at once. A header that claims more is refused unread.
MAX_PIECE = 4 * MIB
# What a decompressor of LZMA may take: `xz -9` needs 65 MB; a file may ask for 4 GB.
MAX_LZMA = 128 * MIB
GZIP_MAGIC, BZIP2_MAGIC, XZ_MAGIC = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00"


class TooLarge(Exception):  # noqa: N818 -- it says what the file is
    """A file asks for more memory than reading it may take."""


class Pieces:
    """A file for readers of archives: counts what they read, and refuses what is too much at once or altogether.

    Python's `tarfile` and `zipfile` read a header in one piece, however long the file says that it is.
    """

    def __init__(self, file: Any) -> None:
        self._file = file
        self._left: int | None = None

    def allow(self, count: int | None) -> None:
        """Allow so many bytes to be read from now on; None: any number, piece by piece."""
        self._left = count

    def read(self, size: int = -1) -> bytes:
        """Return up to so many bytes, all that are left if it is negative.

        Raises
        ------
        TooLarge
            if that is more than is allowed.
        """
        if size > MAX_PIECE:
            raise TooLarge(f"a header of {size:,} bytes; at most {MAX_PIECE:,} are read")
        try:
            data: bytes = self._file.read(MAX_PIECE + 1 if size < 0 else size)
        except OSError as error:
            if error.errno is None:  # what bz2 says of a damaged file
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
        """Go to a place."""
        return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        """Return the place."""
        return int(self._file.tell())

    def seekable(self) -> bool:
        """Say that one can go to a place."""
        return True


class Xz(io.RawIOBase):
    """An xz file unpacked, with bounded memory: `lzma.LZMAFile` takes what the file asks for."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._rewind()

    def _rewind(self) -> None:
        self._file.seek(0)
        self._position = 0
        self._decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MAX_LZMA)

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def seekable(self) -> bool:
        """Say that one can go to a place."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer as far as there is something."""
        view = memoryview(buffer).cast("B")
        data = self._next(len(view))
        view[: len(data)] = data
        self._position += len(data)
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place, reading up to it; backwards from the start again."""
        if whence == io.SEEK_END:
            raise io.UnsupportedOperation("the end is not known")
        target = offset + (self._position if whence == io.SEEK_CUR else 0)
        if target < self._position:
            self._rewind()
        while self._position < target and self.read(min(MIB, target - self._position)):
            pass
        return self._position

    def tell(self) -> int:
        """Return the place."""
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


def unpacked(file: BinaryIO) -> Any:
    """Return a file's content from its start: what it is called does not matter, its first bytes do."""
    file.seek(0)
    start = file.read(len(XZ_MAGIC))
    file.seek(0)
    if start.startswith(GZIP_MAGIC):
        return gzip.GzipFile(fileobj=file)
    if start.startswith(BZIP2_MAGIC):
        return bz2.BZ2File(file)
    return Xz(file) if start.startswith(XZ_MAGIC) else file
