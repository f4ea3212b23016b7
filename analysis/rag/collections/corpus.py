"""A large file of documents to search, one JSON object per line. Texts stay on disk and do not take up memory.

Each object has FlashRAG's `id` and `contents`, with the title as first line, or `id`, `title` and `text`.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import numpy as np
from numpy.typing import NDArray

from ..protocols import Document
from .fields import BadCollectionError, Fields, opened, parsed

#: Documents per block by default.
BLOCK = 1024
# What `Corpus.store` writes: byte offsets, positions by the digest of the id, the sorted digests, and a gzipped corpus.
_ARRAYS = ("starts.npy", "order.npy", "keys.npy")
_UNPACKED = "corpus.jsonl"


def document(row: Fields) -> Document:
    """Read a document: `id`, then `text` and optional `title`, or `contents`; optional `score` and `is_helpful`.

    DPR's `hasanswer` is read as `is_helpful`.

    Raises
    ------
    BadCollectionError
        If there is no text.
    """
    if row.has("text"):
        title, text = row.optional_text("title"), row.text("text")
    elif row.has("contents"):
        title, text = parts(row.text("contents"))
    else:
        raise row.wrong("contents", "contents (title, line break, text), or text")
    return Document(
        id=row.key("id"),
        text=text,
        title=title,
        score=row.optional_number("score"),
        is_helpful=row.optional_flag("is_helpful" if row.has("is_helpful") else "hasanswer"),
    )


def parts(contents: str) -> tuple[str, str]:
    """Split contents into title and text, as FlashRAG does: the first line is the title. A single line is all text.

    Examples
    --------
    >>> parts('"Aaron"\\nAaron is a prophet.'), parts("Aaron is a prophet.")
    (('Aaron', 'Aaron is a prophet.'), ('', 'Aaron is a prophet.'))
    """
    title, _, text = contents.strip().partition("\n")
    if not text.strip():
        return "", title.strip()
    title = title.strip()
    if len(title) > 1 and title[0] == title[-1] == '"':
        title = title[1:-1].strip()
    return title, text.strip()


class Corpus:
    """Documents of a file, by position or by id. Open it with `Corpus.open`; it is a context manager.

    Texts stay on disk; each document takes 24 bytes of memory. A gzipped file is unpacked into a temporary one.
    """

    def __init__(
        self,
        name: str,
        file: IO[bytes],
        starts: NDArray[np.int64],
        order: NDArray[np.int64],
        keys: NDArray[np.uint64],
    ) -> None:
        self.name = name
        self._file = file
        self._starts = starts
        self._order = order
        self._keys = keys

    @classmethod
    def open(cls, path: Path | str) -> Self:
        """Read a corpus once and check each line.

        Parameters
        ----------
        path : Path or str
            JSON lines, gzipped or not.

        Raises
        ------
        BadCollectionError
            If a line is not a document, an id occurs twice, or there are no documents.
        """
        path = Path(path)
        return cls._checked(path.name, _on_disk(path))

    @classmethod
    def _checked(cls, name: str, file: IO[bytes]) -> Self:
        try:
            starts, keys = _index(name, file)
            order = np.argsort(keys, kind="stable")
            corpus = cls(name, file, starts, order, keys[order])
            corpus._once()
        except BaseException:
            file.close()
            raise
        return corpus

    @classmethod
    def store(cls, path: Path | str, folder: Path) -> int:
        """Read and check a corpus once for all, and store where its documents are, for `reopen`.

        Parameters
        ----------
        path : Path or str
            As for `open`. A gzipped file is unpacked into the folder.
        folder : Path
            An empty folder.

        Returns
        -------
        int
            Number of documents.

        Raises
        ------
        BadCollectionError
            As `open`.
        """
        path = Path(path)
        file = opened(path)
        if hasattr(file, "fileobj"):  # gzipped
            with (folder / _UNPACKED).open("wb") as unpacked:
                _unpack(path, file, unpacked)
            file = (folder / _UNPACKED).open("rb")
        with cls._checked(path.name, file) as corpus:
            for name, values in zip(_ARRAYS, (corpus._starts, corpus._order, corpus._keys), strict=True):
                np.save(folder / name, values)
            return len(corpus)

    @classmethod
    def reopen(cls, path: Path | str, folder: Path) -> Self:
        """Open a corpus that was stored in a folder: at once, without reading the file.

        Parameters
        ----------
        path : Path or str
            The same file as then; the caller compares its digest.
        folder : Path
            As for `store`. Its arrays are memory-mapped.
        """
        path, unpacked = Path(path), folder / _UNPACKED
        starts, order, keys = (np.load(folder / name, mmap_mode="r") for name in _ARRAYS)
        return cls(path.name, (unpacked if unpacked.exists() else path).open("rb"), starts, order, keys)

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, number: int) -> Document:
        """Read the document at a position, counted from 0."""
        self._file.seek(int(self._starts[number]))
        return document(parsed(self.name, f"document {number + 1}", self._file.readline()))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def blocks(
        self, size: int = BLOCK, first: int = 0, last: int | None = None
    ) -> Iterator[tuple[int, list[Document]]]:
        """Yield documents in order, in blocks: the position of the block's first document, and the documents.

        Other documents may be read between blocks.

        Parameters
        ----------
        size : int
            Documents in a block; the last may have fewer.
        first, last : int
            Positions of the first document, and of the one after the last. Default: all documents.
        """
        end = len(self) if last is None else last
        for start in range(first, end, size):
            self._file.seek(int(self._starts[start]))
            block: list[Document] = []
            while start + len(block) < min(start + size, end):
                if (line := self._file.readline()).strip():
                    block.append(document(parsed(self.name, f"document {start + len(block) + 1}", line)))
            yield start, block

    def place(self, key: str) -> int:
        """Return a document's position by its id.

        Raises
        ------
        KeyError
            If there is none.
        """
        for index in self._alike(_digest(key)):
            if self[index].id == key:
                return index
        raise KeyError(f"{self.name} has no document {key!r}")

    def documents(self, places: Sequence[int]) -> list[Document]:
        """Read the documents at these positions."""
        return [self[index] for index in places]

    def _alike(self, digest: int) -> list[int]:
        sought = np.uint64(digest)
        low, high = (int(np.searchsorted(self._keys, sought, side=side)) for side in ("left", "right"))
        return [int(index) for index in self._order[low:high]]

    def _once(self) -> None:
        """Raise BadCollectionError if an id occurs twice; if digests are equal, the ids themselves are compared."""
        repeated = np.flatnonzero(self._keys[1:] == self._keys[:-1])
        for index in repeated.tolist():
            ids = [self[position].id for position in self._alike(int(self._keys[index]))]
            twice = next((name for name in ids if ids.count(name) > 1), None)
            if twice is not None:
                raise BadCollectionError(self.name, "", "id", "a unique id", f"{twice!r} twice")


def _index(name: str, file: IO[bytes]) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Return the byte offsets of all documents and the digests of their ids."""
    starts, digests, offset = array("q"), array("Q"), 0
    for number, line in enumerate(file, 1):
        if line.strip():
            starts.append(offset)
            digests.append(_digest(document(parsed(name, f"line {number}", line)).id))
        offset += len(line)
    if not starts:
        raise BadCollectionError(name, "", "", "at least one document", "none")
    return np.array(starts, dtype=np.int64), np.array(digests, dtype=np.uint64)


def _digest(key: str) -> int:
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "big")


def _on_disk(path: Path) -> IO[bytes]:
    file = opened(path)
    if not hasattr(file, "fileobj"):  # not gzipped
        return file
    unpacked = tempfile.TemporaryFile(prefix="corpus-")  # noqa: SIM115 -- the corpus closes it, which removes it
    try:
        _unpack(path, file, unpacked)
    except BaseException:
        unpacked.close()
        raise
    unpacked.seek(0)
    return unpacked


def _unpack(path: Path, file: IO[bytes], into: IO[bytes]) -> None:
    try:
        with file:
            shutil.copyfileobj(file, into, 1 << 20)
    except (EOFError, OSError) as error:
        raise BadCollectionError(path.name, "", "", "a complete gzip file", str(error)) from error
