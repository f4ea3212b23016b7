"""Vectors of texts in files, by a digest of the text: each text is encoded once for a model, whatever corpus it is in.

A store is the folder of one model and its style. Vectors are in shards: folders with the sorted digests of some texts
and their vectors, which are opened memory-mapped. A shard never changes, and its name is a digest of its texts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...durable_files import published
from .search import Documents, NoDocumentsError, SearchResults, TopDocuments, block, passage

Vectors = NDArray[np.float32]
Digests = NDArray[np.bytes_]
Report = Callable[[int, int, str], None]

#: Bytes of a digest. A clash of two texts among 10^9 has a chance of 10^-21.
BYTES = 16
#: Texts that are encoded, and then stored, at once.
TEXTS = 4096
_DIGESTS, _VECTORS = "digests.npy", "vectors.npy"


def digests_of(texts: Sequence[str]) -> Digests:
    """Return a digest of each text, shape (n_texts,)."""
    joined = b"".join(hashlib.blake2b(text.encode(), digest_size=BYTES).digest() for text in texts)
    return np.frombuffer(joined, dtype=f"S{BYTES}")


@dataclass(frozen=True, eq=False)
class _Shard:
    name: str
    digests: Digests
    vectors: Vectors


class VectorStore:
    """The vectors of one model.

    Parameters
    ----------
    folder : Path
        It need not exist. Several processes may add to it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._shards: dict[str, _Shard] = {}
        self.refresh()

    def refresh(self) -> None:
        """Open the shards that were added meanwhile."""
        for folder in sorted(self._folder.glob("[!.]*")):
            if folder.name not in self._shards:
                digests, vectors = (np.load(folder / name, mmap_mode="r") for name in (_DIGESTS, _VECTORS))
                self._shards[folder.name] = _Shard(folder.name, digests, vectors)

    def find(self, digests: Digests) -> tuple[NDArray[np.int32], NDArray[np.int32], list[str]]:
        """Find where the vectors of texts are.

        Parameters
        ----------
        digests : ndarray of bytes, shape (n,)

        Returns
        -------
        shards : ndarray of int32, shape (n,)
            Positions in `names`; -1 if the text is not encoded.
        rows : ndarray of int32, shape (n,)
        names : list of str
        """
        shards = np.full(len(digests), -1, dtype=np.int32)
        rows = np.zeros(len(digests), dtype=np.int32)
        names = list(self._shards)
        for number, name in enumerate(names):
            missing = np.flatnonzero(shards < 0)
            if not len(missing):
                break
            known = self._shards[name].digests
            at = np.minimum(np.searchsorted(known, digests[missing]), len(known) - 1)
            is_here = known[at] == digests[missing]
            shards[missing[is_here]], rows[missing[is_here]] = number, at[is_here]
        return shards, rows, names

    def add(self, digests: Digests, vectors: Vectors) -> None:
        """Store the vectors of texts, shape (n, n_dimensions); digests must differ."""
        order = np.argsort(digests)
        name = hashlib.sha256(digests[order].tobytes()).hexdigest()[:32]
        if not len(digests) or name in self._shards:
            return
        with published(self._folder / name) as folder:
            np.save(folder / _DIGESTS, digests[order])
            np.save(folder / _VECTORS, np.ascontiguousarray(vectors[order], dtype=np.float32))
        self.refresh()

    def vectors(self, shards: NDArray[np.int32], rows: NDArray[np.int32], names: Sequence[str]) -> Vectors:
        """Read vectors from where `find` says that they are; float32, shape (n, n_dimensions).

        Raises
        ------
        KeyError
            If a shard is not there any more.
        """
        used, first = np.unique(shards, return_inverse=True)
        parts = [self._shards[names[number]].vectors for number in used.tolist()]
        result = np.empty((len(rows), parts[0].shape[1] if parts else 0), dtype=np.float32)
        for number, part in enumerate(parts):
            is_here = first == number
            result[is_here] = part[rows[is_here]]
        return result


def encode(
    store: VectorStore,
    documents: Documents,
    first: int,
    last: int,
    passages: Callable[[Sequence[str]], Vectors],
    folder: Path,
    report: Report,
) -> None:
    """Encode the texts of a part of a corpus that the store does not have, and note the digests of all.

    Parameters
    ----------
    store : VectorStore
    documents : Documents
    first, last : int
        Positions of the part's first document, and of the one after its last.
    passages : callable(texts) -> ndarray of float32, shape (n_texts, n_dimensions)
    folder : Path
        An empty folder for the part's file.
    report : callable(done, total, message)
    """
    noted = []
    for start, documents_block in documents.blocks(TEXTS, first, last):
        report(start - first, last - first, "Encoding passages")
        texts = [passage(document) for document in documents_block]
        digests = digests_of(texts)
        noted.append(digests)
        distinct, places = np.unique(digests, return_index=True)
        missing = store.find(distinct)[0] < 0
        if missing.any():
            store.add(distinct[missing], passages([texts[index] for index in places[missing].tolist()]))
    np.save(folder / _DIGESTS, np.concatenate(noted) if noted else np.empty(0, dtype=f"S{BYTES}"))


def locate(store: VectorStore, parts: Sequence[Path], folder: Path) -> int:
    """Write where the vectors of all documents are, for `StoredVectors`; return the number of documents.

    Raises
    ------
    NoDocumentsError
        If there is no document.
    KeyError
        If a vector is not in the store.
    """
    digests = np.concatenate([np.load(part / _DIGESTS) for part in parts])
    if not len(digests):
        raise NoDocumentsError("the corpus has no documents")
    shards, rows, names = store.find(digests)
    if (shards < 0).any():
        raise KeyError(f"{int((shards < 0).sum())} vectors are not in the store: it was deleted meanwhile")
    np.save(folder / "shards.npy", shards)
    np.save(folder / "rows.npy", rows)
    (folder / "names.txt").write_text("\n".join(names))
    return len(digests)


class StoredVectors:
    """The vectors of a corpus in the order of its documents, read from a store.

    Parameters
    ----------
    folder : Path
        As for `locate`.
    store : VectorStore
    """

    def __init__(self, folder: Path, store: VectorStore) -> None:
        self._shards, self._rows = (np.load(folder / name, mmap_mode="r") for name in ("shards.npy", "rows.npy"))
        self._names = (folder / "names.txt").read_text().split("\n")
        self._store = store

    def __len__(self) -> int:
        return len(self._rows)

    def at(self, places: Any) -> Vectors:
        """Read the vectors at some positions (an array or a slice)."""
        return self._store.vectors(self._shards[places], self._rows[places], self._names)

    def blocks(self, size: int) -> Iterator[tuple[int, Vectors]]:
        """Yield all vectors in order, in blocks: the position of the block's first document, and the vectors."""
        for start in range(0, len(self), size):
            yield start, self.at(slice(start, start + size))

    def search(self, questions: Vectors, n: int) -> SearchResults:
        """Find the n documents with the largest products for each question, by computing all products.

        Parameters
        ----------
        questions : ndarray of float32, shape (n_questions, n_dimensions)
        n : int
        """
        best = TopDocuments(len(questions), n)
        for start, vectors in self.blocks(block(len(questions))):
            best.add(start, questions @ vectors.T)
        return best.results()
