"""FAISS (Douze et al. 2024) over stored vectors: all of them, some lists of them, or a graph of neighbours.

`flat` compares a question with every vector, exactly. `ivf` groups the vectors into lists and looks into some of them.
`hnsw` follows a graph. Both find most of the best documents, in a small part of the time. The package `faiss-cpu` is
the extra `retrieval`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from .search import SearchResults, results_of
from .vector_store import StoredVectors, Vectors

Kind = Literal["flat", "ivf", "hnsw"]
Report = Callable[[int, int, str], None]

_FILE = "index.faiss"
#: Vectors that are added at once.
BLOCK = 1 << 16
#: Vectors for each list that the lists are made from.
TRAINING = 64


class FaissMissingError(ImportError):
    """FAISS is not installed."""


@dataclass(frozen=True)
class FlatSettings:
    """An exact search has no settings."""


@dataclass(frozen=True)
class IvfSettings:
    """How vectors are grouped, and how many groups are looked into.

    Attributes
    ----------
    lists : int
        Number of groups; 0: four times the square root of the number of documents.
    probes : int
        Groups that are looked into for each question.
    """

    lists: int = 0
    probes: int = 32

    def __post_init__(self) -> None:
        if not 0 <= self.lists <= 1 << 20:
            raise ValueError(f"lists must be from 0 to {1 << 20}, not {self.lists}")
        if self.probes < 1:
            raise ValueError(f"probes must be 1 or more, not {self.probes}")


@dataclass(frozen=True)
class HnswSettings:
    """How the graph is made and followed.

    Attributes
    ----------
    links : int
        Neighbours of each vector.
    build, search : int
        Candidates that are kept while a vector is added, and while a question is searched.
    """

    links: int = 32
    build: int = 200
    search: int = 128

    def __post_init__(self) -> None:
        if not 2 <= self.links <= 512:
            raise ValueError(f"links must be from 2 to 512, not {self.links}")
        if min(self.build, self.search) < 1:
            raise ValueError("build and search must be 1 or more")


Settings = FlatSettings | IvfSettings | HnswSettings


def library() -> Any:
    """Import FAISS when it is needed.

    Raises
    ------
    FaissMissingError
        If it is not installed.
    """
    try:
        import faiss
    except ImportError as error:
        raise FaissMissingError(
            "FAISS is not installed. Install CrowdRAG with its extra retrieval, or the package faiss-cpu."
        ) from error
    return faiss


def version() -> str:
    """Return the version of FAISS."""
    return str(library().__version__)


def assemble(vectors: StoredVectors, settings: Settings, folder: Path, report: Report) -> dict[str, int]:
    """Make the index of all vectors.

    Parameters
    ----------
    vectors : StoredVectors
        At least one.
    settings : FlatSettings, IvfSettings or HnswSettings
    folder : Path
        For the index's file.
    report : callable(done, total, message)

    Returns
    -------
    dict
        Number of `dimensions`, and for `ivf` of `lists`.
    """
    faiss = library()
    dimensions, product = vectors.at(slice(0, 1)).shape[1], faiss.METRIC_INNER_PRODUCT
    facts = {"dimensions": int(dimensions)}
    if isinstance(settings, IvfSettings):
        lists = min(settings.lists or int(4 * len(vectors) ** 0.5), len(vectors))
        facts["lists"] = lists
        index = faiss.IndexIVFFlat(faiss.IndexFlatIP(dimensions), dimensions, lists, product)
        report(0, len(vectors), "Making lists")
        index.cp.min_points_per_centroid = 1
        index.train(_sample(vectors, lists * TRAINING))
    elif isinstance(settings, HnswSettings):
        index = faiss.IndexHNSWFlat(dimensions, settings.links, product)
        index.hnsw.efConstruction = settings.build
    else:
        index = faiss.IndexFlatIP(dimensions)
    for start, block in vectors.blocks(BLOCK):
        report(start, len(vectors), "Adding vectors")
        index.add(block)
    faiss.write_index(index, str(folder / _FILE))
    return facts


def _sample(vectors: StoredVectors, n: int) -> Vectors:
    """Return about n vectors, evenly spread over the corpus: the same each time."""
    places = np.unique(np.linspace(0, len(vectors) - 1, min(n, len(vectors))).astype(np.int64))
    return vectors.at(places)


class FaissIndex:
    """An index of `assemble`, opened memory-mapped.

    Parameters
    ----------
    folder : Path
    settings : FlatSettings, IvfSettings or HnswSettings
    """

    def __init__(self, folder: Path, settings: Settings) -> None:
        faiss = library()
        is_ivf = isinstance(settings, IvfSettings)
        flag = faiss.IO_FLAG_MMAP | faiss.IO_FLAG_READ_ONLY if is_ivf else faiss.IO_FLAG_MMAP_IFC
        self._index = faiss.read_index(str(folder / _FILE), flag)
        if isinstance(settings, IvfSettings):
            self._index.nprobe = settings.probes
        elif isinstance(settings, HnswSettings):
            self._index.hnsw.efSearch = settings.search
        self._settings = settings

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def search(self, questions: Vectors, n: int) -> SearchResults:
        """Find the n documents with the largest products for each question, as far as this kind of index does.

        Parameters
        ----------
        questions : ndarray of float32, shape (n_questions, n_dimensions)
        n : int

        Returns
        -------
        SearchResults
            Ties by position among the documents found.
        """
        if n < 1:
            raise ValueError("a search finds at least one document: n is 1 or more")
        if isinstance(self._settings, HnswSettings):  # a graph finds no more than it keeps
            self._index.hnsw.efSearch = max(self._settings.search, n)
        scores, places = self._index.search(np.ascontiguousarray(questions), min(n, len(self)))
        rankings = []
        for row_scores, row_places in zip(scores.astype(np.float64), places, strict=True):
            is_found = row_places >= 0
            order = np.lexsort((row_places[is_found], -row_scores[is_found]))
            rankings.append((row_places[is_found][order], row_scores[is_found][order]))
        return results_of(rankings, n)
