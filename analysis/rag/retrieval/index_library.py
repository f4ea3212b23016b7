"""Indexes of corpora in a folder: each is built once, in steps that can be interrupted, and then only opened.

    library = IndexLibrary(Path("indexes"))
    order = library.order(engines.read("bm25"), Path("wiki18.jsonl"))
    library.build(order, Path("wiki18.jsonl"), now=datetime.now(UTC))
    with library.open(order, Path("wiki18.jsonl")) as (corpus, searcher):
        candidates = search.retrieve(questions, corpus, searcher, n=100)

An index is found by a digest of the corpus file's contents and of all that it depends on. Its folder appears when it is
complete, and at once. Several processes may work on the parts of one index.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ...durable_files import published
from ..collections.corpus import Corpus
from ..collections.fields import is_gzipped
from . import engines
from .engine import BadRetrieverError, Choice, Engine, IndexAssembly, IndexPart, IndexRecipe, Report
from .search import Searcher

#: Raised when files of indexes change, so that older ones are not opened.
FORMAT = 1
_ABOUT = "about.json"
# Bytes of a corpus for each byte of its gzipped file: only the number of parts depends on it.
_UNPACKED = 4
_CHUNK = 1 << 20


class MissingIndexError(LookupError):
    """There is no such index, or a part of it is not in this folder."""


@dataclass(frozen=True)
class IndexOrder:
    """An index that can be built or opened.

    Attributes
    ----------
    choice : str
        Name of the engine with argument and settings.
    version : str
        `IndexRecipe.version`.
    corpus : str
        Name of the corpus file.
    sha256 : str
        Of the corpus file.
    size : int
        Of the corpus file, in bytes.
    parts : int
        Number of parts that the work is divided into.
    """

    choice: str
    version: str
    corpus: str
    sha256: str
    size: int
    parts: int

    @property
    def key(self) -> str:
        """Digest that identifies the index: of the corpus, and of all that the index depends on."""
        written = json.dumps([FORMAT, self.choice, self.version, self.sha256])
        return hashlib.sha256(written.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class IndexEntry:
    """A complete index.

    Attributes
    ----------
    key, choice, version, corpus, sha256
        As in its order.
    documents : int
    size : int
        Of its files, in bytes.
    shared : str
        Name of its folder among those that indexes share; "" for none.
    built_at : str
        Time in ISO format.
    run : str
        Key of the run that built it; "" for none.
    facts : dict
        What the engine says about it.
    """

    key: str
    choice: str
    version: str
    corpus: str
    sha256: str
    documents: int
    size: int
    shared: str
    built_at: str
    run: str
    facts: dict[str, Any]


def _nothing(_done: int, _total: int, _message: str) -> None:
    pass


class IndexLibrary:
    """A folder of indexes.

    Parameters
    ----------
    folder : Path
        It need not exist. All processes that build or open the same indexes must see it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def order(self, choice: Choice, corpus: Path) -> IndexOrder:
        """Describe the index of a corpus; reads the file once, for its digest.

        Raises
        ------
        BadRetrieverError
            If the engine has no indexes. Errors of loading its model are passed on.
        OSError
            If the file cannot be read.
        """
        recipe = _recipe(choice.engine)
        if not choice.is_for_corpora:
            raise BadRetrieverError(f"{str(choice)!r} cannot search a corpus.")
        digest, size = hashlib.sha256(), 0
        with corpus.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
                size += len(chunk)
        unpacked = size * (_UNPACKED if is_gzipped(corpus) else 1)
        parts = max(1, -(-unpacked // recipe.part_bytes))
        return IndexOrder(str(choice), recipe.version(choice), corpus.name, digest.hexdigest(), size, parts)

    def find(self, order: IndexOrder) -> IndexEntry | None:
        """Return the complete index of an order; None if there is none."""
        return self._entry(self._folder / "indexes" / order.key)

    def entries(self) -> list[IndexEntry]:
        """Return all complete indexes, the newest first."""
        entries = [self._entry(folder) for folder in sorted((self._folder / "indexes").glob("[!.]*"))]
        return sorted(filter(None, entries), key=lambda entry: entry.built_at, reverse=True)

    def store_corpus(self, order: IndexOrder, corpus: Path) -> int:
        """Read and check the corpus, and store where its documents are. The first step; return their number.

        Raises
        ------
        BadCollectionError
            If the corpus is invalid.
        """
        target = self._corpus_folder(order.sha256)
        if not target.exists():
            with published(target) as folder:
                Corpus.store(corpus, folder)
        with Corpus.reopen(corpus, target) as stored:
            return len(stored)

    def build_part(self, order: IndexOrder, corpus: Path, part: int, report: Report = _nothing) -> None:
        """Work on a part, counted from 0, unless that was done before. Parts may be built at the same time.

        Raises
        ------
        MissingIndexError
            If the corpus is not stored in this folder.
        """
        target = self._parts_folder(order) / f"{part:06}"
        if target.exists() or self.find(order) is not None:
            return
        choice = engines.read(order.choice)
        with self._opened(order, corpus) as documents, published(target) as folder:
            first, last = (n * len(documents) // order.parts for n in (part, part + 1))
            shared = self._shared_folder(choice)
            _recipe(choice.engine).part(IndexPart(choice, documents, first, last, order.key, folder, shared, report))

    def assemble(
        self, order: IndexOrder, corpus: Path, *, now: datetime, run: str = "", report: Report = _nothing
    ) -> IndexEntry:
        """Make the index from its parts and remove them. The last step.

        Raises
        ------
        MissingIndexError
            If a part is not in this folder.
        """
        target = self._folder / "indexes" / order.key
        if self.find(order) is None:
            choice = engines.read(order.choice)
            recipe = _recipe(choice.engine)
            parts = tuple(self._parts_folder(order) / f"{part:06}" for part in range(order.parts))
            if missing := [path.name for path in parts if not path.exists()]:
                raise MissingIndexError(
                    f"{len(missing)} of {order.parts} parts of the index are not in {self._folder}. All machines that "
                    "build indexes need the same folder (CROWDRAG_INDEX_DIR)."
                )
            with self._opened(order, corpus) as documents, published(target) as folder:
                shared = self._shared_folder(choice)
                facts = recipe.assemble(IndexAssembly(choice, documents, parts, order.key, folder, shared, report))
                size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
                entry = IndexEntry(
                    order.key, order.choice, order.version, order.corpus, order.sha256, len(documents), size,
                    recipe.shared(choice), now.isoformat(timespec="seconds"), run, facts,
                )  # fmt: skip
                (folder / _ABOUT).write_text(json.dumps(asdict(entry), indent=1, ensure_ascii=False), encoding="utf-8")
        shutil.rmtree(self._parts_folder(order), ignore_errors=True)
        finished = self.find(order)
        if finished is None:
            raise MissingIndexError(f"The index {order.key} was deleted.")
        return finished

    def build(self, order: IndexOrder, corpus: Path, *, now: datetime, report: Report = _nothing) -> IndexEntry:
        """Build an index in this process, or go on with it; one that exists is returned.

        Raises
        ------
        BadCollectionError
            If the corpus is invalid.
        """
        if (entry := self.find(order)) is not None:
            return entry
        self.store_corpus(order, corpus)
        for part in range(order.parts):
            self.build_part(order, corpus, part, report)
        return self.assemble(order, corpus, now=now, report=report)

    @contextmanager
    def open(self, order: IndexOrder, corpus: Path) -> Iterator[tuple[Corpus, Searcher]]:
        """Open a corpus and its index, both memory-mapped; the corpus is not read again.

        Raises
        ------
        MissingIndexError
            If it is not complete.
        """
        if self.find(order) is None:
            raise MissingIndexError(f"There is no index of {order.corpus} by {order.choice}.")
        choice = engines.read(order.choice)
        folder = self._folder / "indexes" / order.key
        with self._opened(order, corpus) as documents:
            yield documents, _recipe(choice.engine).open(choice, folder, self._shared_folder(choice))

    def delete(self, key: str) -> IndexEntry:
        """Remove an index, and what no other index of this folder needs: vectors, the places of documents.

        Raises
        ------
        MissingIndexError
            If there is no complete index with this key. Parts of an incomplete one are removed all the same.
        """
        entry = next((entry for entry in self.entries() if entry.key == key), None)
        if entry is None:
            self.discard(key)
            raise MissingIndexError(f"There is no index {key}.")
        choice = engines.read(entry.choice)
        if (delete := _recipe(choice.engine).delete) is not None:
            delete(choice, key)
        target = self._folder / "indexes" / key
        gone = target.with_name(f".{key}.{uuid.uuid4().hex}.deleted")
        target.rename(gone)  # it disappears at once, too
        shutil.rmtree(gone)
        others = self.entries()
        if entry.sha256 not in {other.sha256 for other in others}:
            shutil.rmtree(self._corpus_folder(entry.sha256), ignore_errors=True)
        # An index that is being built may count on vectors that are there already.
        is_building = any((self._folder / "parts").glob("*/*"))
        if entry.shared and not is_building and entry.shared not in {other.shared for other in others}:
            shutil.rmtree(self._folder / "shared" / entry.shared, ignore_errors=True)
        return entry

    def discard(self, key: str) -> None:
        """Remove the parts of an index that will not be completed."""
        if key and key.isalnum():
            shutil.rmtree(self._folder / "parts" / key, ignore_errors=True)

    def _entry(self, folder: Path) -> IndexEntry | None:
        try:
            return IndexEntry(**json.loads((folder / _ABOUT).read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None

    def _opened(self, order: IndexOrder, corpus: Path) -> Corpus:
        folder = self._corpus_folder(order.sha256)
        if not folder.exists():
            raise MissingIndexError(
                f"{order.corpus} is not in {self._folder}. All machines that build indexes need the same folder "
                "(CROWDRAG_INDEX_DIR)."
            )
        return Corpus.reopen(corpus, folder)

    def _corpus_folder(self, sha256: str) -> Path:
        return self._folder / "corpora" / sha256[:32]

    def _parts_folder(self, order: IndexOrder) -> Path:
        return self._folder / "parts" / order.key

    def _shared_folder(self, choice: Choice) -> Path:
        return self._folder / "shared" / (_recipe(choice.engine).shared(choice) or "none")


def _recipe(engine: Engine) -> IndexRecipe:
    if engine.index is None:
        listed = ", ".join(other.pattern for other in engines.ENGINES.values() if other.index is not None)
        raise BadRetrieverError(f"{engine.name} has no index. Retrievers with an index: {listed}.")
    return engine.index
