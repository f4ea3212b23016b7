"""A BM25 index of a corpus of any size, in the files that `bm25s` saves, built in parts and opened memory-mapped.

`bm25s` itself indexes all words of all documents in memory. Here each part of the corpus is counted by itself
(`count`), and `assemble` weighs the words of all parts, a range of words at a time, so that memory grows only with the
vocabulary. The files are those of `bm25s.BM25.save`: `bm25s.BM25.load(folder, mmap=True)` opens them too. Scores equal
those of `bm25.scan` (docs/methods/retrieval.md).
"""

from __future__ import annotations

import json
import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from analysis.stats.threads import map_in_threads

from ..protocols import Floats
from .bm25 import Bm25Settings, library, stemmed, stop_words, version, weight, words_of
from .search import Documents, NoDocumentsError, SearchResults, best_of, passage, results_of

# Files of a part: its words, one a line in order of code points; where each one's entries begin; and for each entry
# the document and how often it contains the word. `lengths` counts the words of each document.
_WORDS, _STARTS, _DOCUMENTS, _COUNTS, _LENGTHS = "words.txt", "starts.npy", "documents.npy", "counts.npy", "lengths.npy"
# Files of bm25s.
_DATA, _INDICES, _INDPTR = "data.csc.index.npy", "indices.csc.index.npy", "indptr.csc.index.npy"
_VOCABULARY, _PARAMETERS = "vocab.index.json", "params.index.json"
#: Entries (a word in a document) that are weighed at once: 8 bytes each, and some for the work.
ENTRIES = 1 << 23
#: Documents that are read at once.
BLOCK = 4096
_split = re.compile(r"(?u)\b\w\w+\b").findall  # the words of `bm25s`

Report = Callable[[int, int, str], None]


def count(documents: Documents, first: int, last: int, settings: Bm25Settings, folder: Path, report: Report) -> None:
    """Count the words of a part of a corpus.

    Parameters
    ----------
    documents : Documents
    first, last : int
        Positions of the part's first document, and of the one after its last.
    settings : Bm25Settings
    folder : Path
        An empty folder for the part's files.
    report : callable(done, total, message)
    """
    ids: defaultdict[str, int] = defaultdict()
    ids.default_factory = ids.__len__
    tokens, lengths = array("i"), array("i")
    for start, block in documents.blocks(BLOCK, first, last):
        report(start - first, last - first, "Counting words")
        for document in block:
            before = len(tokens)
            tokens.extend(map(ids.__getitem__, _split(passage(document).lower())))
            lengths.append(len(tokens) - before)
    words, word_of = _indexed(list(ids), settings)
    of_token = word_of[np.frombuffer(tokens, dtype=np.int32)] if tokens else np.empty(0, dtype=np.int64)
    rows = np.repeat(np.arange(last - first, dtype=np.int64), np.frombuffer(lengths, dtype=np.int32))
    is_indexed = of_token >= 0
    of_token, rows = of_token[is_indexed], rows[is_indexed]
    entries, counts = np.unique(of_token * (last - first) + rows, return_counts=True)
    of_entry, rows_of_entries = np.divmod(entries, last - first)
    np.save(folder / _LENGTHS, np.bincount(rows, minlength=last - first).astype(np.int32))
    np.save(folder / _STARTS, np.searchsorted(of_entry, np.arange(len(words) + 1)))
    np.save(folder / _DOCUMENTS, (first + rows_of_entries).astype(np.int32))
    np.save(folder / _COUNTS, counts.astype(np.uint16 if counts.max(initial=0) < 1 << 16 else np.int32))
    (folder / _WORDS).write_text("\n".join(words), encoding="utf-8")


def _indexed(words: list[str], settings: Bm25Settings) -> tuple[list[str], NDArray[np.int64]]:
    """Return the indexed forms of words in order, and for each word the position of its form; -1 for stop words."""
    left_out = stop_words(settings)
    kept = [word for word in words if word not in left_out]
    forms = stemmed(kept, settings)
    distinct = sorted(set(forms))
    index_of_form = {form: i for i, form in enumerate(distinct)}
    index_of = {word: index_of_form[form] for word, form in zip(kept, forms, strict=True)}
    return distinct, np.array([index_of.get(word, -1) for word in words], dtype=np.int64)


def assemble(parts: Sequence[Path], settings: Bm25Settings, folder: Path, report: Report) -> dict[str, int]:
    """Make the index of all parts.

    Parameters
    ----------
    parts : sequence of Path
        Folders of `count`, in the order of their documents.
    settings : Bm25Settings
    folder : Path
        An empty folder for the files of `bm25s`.
    report : callable(done, total, message)

    Returns
    -------
    dict
        Number of `words`, and of `entries` (a word in a document).

    Raises
    ------
    NoDocumentsError
        If there is no document.
    """
    report(0, 1, "Collecting the vocabulary")
    lengths = np.concatenate([np.load(part / _LENGTHS) for part in parts] or [np.empty(0, dtype=np.int32)])
    if not len(lengths):
        raise NoDocumentsError("the corpus has no documents")
    vocabulary: set[str] = set()
    for part in parts:
        vocabulary.update(_words(part))
    id_of = {word: i for i, word in enumerate(sorted(vocabulary))}
    del vocabulary
    having = np.zeros(len(id_of), dtype=np.int64)
    ids = []
    for part in parts:
        of_part = np.fromiter(map(id_of.__getitem__, _words(part)), dtype=np.int32)
        having[of_part] += np.diff(np.load(part / _STARTS))
        ids.append(of_part)
    _write_vocabulary(folder / _VOCABULARY, id_of)
    n_words = len(id_of)
    del id_of
    _weigh(parts, ids, having, lengths, settings, folder, report)
    _write_parameters(folder / _PARAMETERS, settings, len(lengths))
    return {"words": n_words, "entries": int(having.sum())}


def _words(part: Path) -> list[str]:
    text = (part / _WORDS).read_text(encoding="utf-8")
    return text.split("\n") if text else []


def _weigh(
    parts: Sequence[Path],
    ids: Sequence[NDArray[np.int32]],
    having: NDArray[np.int64],
    lengths: NDArray[np.int32],
    settings: Bm25Settings,
    folder: Path,
    report: Report,
) -> None:
    """Write the scores of all entries, ordered by word and then by document."""
    weights = weight(having, len(lengths), settings.formula)
    total = int(lengths.sum(dtype=np.int64))
    share = lengths / (total / len(lengths)) if total else np.zeros(len(lengths))
    per = settings.k1 * (1 - settings.b + settings.b * share)
    top = settings.k1 + 1 if settings.formula == "atire" else 1.0
    starts = np.concatenate([[0], np.cumsum(having)])
    np.save(folder / _INDPTR, starts)
    with (
        _array_file(folder / _DATA, np.float32, (int(starts[-1]),)) as data_file,
        _array_file(folder / _INDICES, np.int32, (int(starts[-1]),)) as indices_file,
    ):
        first = 0
        while first < len(having):
            last = max(first + 1, int(np.searchsorted(starts, starts[first] + ENTRIES, side="right")) - 1)
            report(int(starts[first]), int(starts[-1]), "Weighing words")
            data = np.empty(int(starts[last] - starts[first]), dtype=np.float32)
            indices = np.empty(len(data), dtype=np.int32)
            free = starts[first:last] - starts[first]
            for part, of_part in zip(parts, ids, strict=True):
                low, high = np.searchsorted(of_part, [first, last])
                bounds = np.load(part / _STARTS, mmap_mode="r")[low : high + 1]
                n, begin, end = np.diff(bounds), int(bounds[0]), int(bounds[-1])
                words = of_part[low:high]
                at = np.repeat(free[words - first] - (bounds[:-1] - begin), n) + np.arange(end - begin)
                documents = np.load(part / _DOCUMENTS, mmap_mode="r")[begin:end]
                counts = np.load(part / _COUNTS, mmap_mode="r")[begin:end].astype(np.float64)
                data[at] = np.repeat(weights[words], n) * (counts * top) / (counts + per[documents])
                indices[at] = documents
                free[words - first] += n
            data.tofile(data_file)
            indices.tofile(indices_file)
            first = last


def _write_vocabulary(path: Path, words: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write("{")
        for i, word in enumerate(words):
            file.write(f"{',' if i else ''}{json.dumps(word, ensure_ascii=False)}:{i}")
        file.write("}")


def _write_parameters(path: Path, settings: Bm25Settings, n: int) -> None:
    bm25 = library().BM25(k1=settings.k1, b=settings.b, method=settings.formula)
    names = ("k1", "b", "delta", "method", "idf_method", "dtype", "int_dtype", "backend")
    parameters = {name: getattr(bm25, name) for name in names} | {"num_docs": n, "version": version()}
    path.write_text(json.dumps(parameters, indent=4), encoding="utf-8")


class WordIndex:
    """An index of `assemble` as a searcher of its corpus.

    Parameters
    ----------
    folder : Path
    settings : Bm25Settings
        Those that it was built with.
    """

    def __init__(self, folder: Path, settings: Bm25Settings) -> None:
        bm25 = library().BM25.load(folder, mmap=True)
        self.settings = settings
        self._id_of: dict[str, int] = bm25.vocab_dict
        self._n: int = bm25.scores["num_docs"]
        self._data, self._indices, self._starts = (bm25.scores[name] for name in ("data", "indices", "indptr"))

    @property
    def name(self) -> str:
        """Name with settings and the library's version."""
        return f"{self.settings}, words weighed over {self._n} documents (bm25s {version()})"

    def search(self, questions: Sequence[str], documents: Documents, n: int) -> SearchResults:
        """Find the best documents for each question, as `bm25.scan` does; the documents themselves are not read.

        Raises
        ------
        ValueError
            If these are not as many documents as were indexed, or n is below 1.
        """
        if len(documents) != self._n:
            raise ValueError(f"the index is of {self._n} documents, not of {len(documents)}")
        if n < 1:
            raise ValueError("a search finds at least one document: n is 1 or more")
        return results_of(map_in_threads(partial(self._best, n=n), questions), n)

    def _best(self, question: str, n: int) -> tuple[NDArray[np.int64], Floats]:
        words = (self._id_of.get(word) for word in words_of(question, self.settings))
        known, times = np.unique([word for word in words if word is not None], return_counts=True)
        if not len(known):
            return np.empty(0, dtype=np.int64), np.empty(0)
        slices = [slice(int(self._starts[word]), int(self._starts[word + 1])) for word in known.tolist()]
        data = np.concatenate([self._data[part] for part in slices]).astype(np.float64)
        indices = np.concatenate([self._indices[part] for part in slices])
        starts = np.cumsum([0, *(part.stop - part.start for part in slices)], dtype=np.int32)
        scores = scipy.sparse.csc_array((data, indices, starts), shape=(self._n, len(known))) @ times.astype(np.float64)
        return best_of(scores, n, above=0.0)


def _array_file(path: Path, dtype: Any, shape: tuple[int, ...]) -> Any:
    """Open a file of NumPy's format for an array of this type and shape, whose values are then written with `tofile`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with _array_file(Path(folder) / "a.npy", np.int32, (3,)) as file:
    ...         np.array([1, 2], dtype=np.int32).tofile(file)
    ...         np.array([3], dtype=np.int32).tofile(file)
    ...     np.load(Path(folder) / "a.npy").tolist()
    [1, 2, 3]
    """
    file = path.open("wb")
    header = {"descr": np.lib.format.dtype_to_descr(np.dtype(dtype)), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    return file
