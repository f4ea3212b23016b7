"""BM25 over a corpus that need not fit into memory: two passes, of which only the questions' own words are kept.

The first pass counts in how many documents each word of the questions stands, and how long documents are; the second
scores. The same formulas and words as `bm25s`, which needs all words of all documents at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..shapes import Document, Floats
from . import words
from .reading import passage
from .search import Best, Documents, Found, block, some_documents
from .words import Formula, Settings


@dataclass(frozen=True, eq=False)
class _Counts:
    """How often the questions' words stand in some documents (n_documents, n_words), and how long these are."""

    of_words: sparse.csr_matrix
    lengths: NDArray[np.int64]


def scan(questions: Sequence[str], documents: Documents, n: int, settings: Settings) -> Found:
    """Find the best documents for each question by BM25.

    Parameters
    ----------
    questions : sequence of str
    documents : Documents
        Read twice, in blocks.
    n : int
    settings : Settings

    Returns
    -------
    Found
        Only documents that score above 0: that share a word with the question which counts. A word that stands twice
        in a question counts twice.

    Raises
    ------
    NoDocumentsError
        If the corpus has none.
    """
    asked = [Counter(words.of(question, settings)) for question in questions]
    known = {word: i for i, word in enumerate(dict.fromkeys(word for each in asked for word in each))}
    size = block(len(questions))
    having, total = np.zeros(len(known), dtype=np.int64), 0
    for _, some in some_documents(documents).blocks(size):
        counts = _counted(some, known, settings)
        having += counts.of_words.getnnz(axis=0)
        total += int(counts.lengths.sum())
    best = Best(len(questions), n, above=0.0)
    weights = weight(having, len(documents), settings.formula)
    wanted = _matrix(asked, known)
    for start, some in documents.blocks(size) if total else ():
        counts = _counted(some, known, settings)
        rated = _rated(counts, weights, total / len(documents), settings)
        best.add(start, (wanted @ rated.T).toarray())
    return best.found()


def weight(having: NDArray[np.int64], n: int, formula: Formula) -> Floats:
    """How much words weigh that so many of n documents have; 0 for those that none has.

    Parameters
    ----------
    having : ndarray of int, shape (n_words,)
    n : int
    formula : "lucene", "robertson" or "atire"
        As in Kamphuis et al. (2020).

    Returns
    -------
    ndarray of float64, shape (n_words,)
    """
    some = np.maximum(having, 1)
    odds = (n - having + 0.5) / (having + 0.5)
    found = {"lucene": np.log1p(odds), "robertson": np.log(np.maximum(odds, 1.0)), "atire": np.log(n / some)}[formula]
    return np.where(having > 0, found, 0.0)


def _rated(counts: _Counts, weights: Floats, mean: float, settings: Settings) -> sparse.csr_matrix:
    """What each word adds to each document's score."""
    rated = counts.of_words.astype(np.float64)
    per = np.repeat(settings.k1 * (1 - settings.b + settings.b * counts.lengths / mean), np.diff(rated.indptr))
    top = settings.k1 + 1 if settings.formula == "atire" else 1.0
    rated.data = weights[rated.indices] * rated.data * top / (rated.data + per)
    return rated


def _counted(documents: Sequence[Document], known: dict[str, int], settings: Settings) -> _Counts:
    found = words.tokens([passage(document) for document in documents], settings)
    lengths = np.array([len(ids) for ids in found.ids], dtype=np.int64)
    ours = np.full(max(found.vocab.values(), default=-1) + 1, -1, dtype=np.int64)
    for word, place in found.vocab.items():
        ours[place] = known.get(word, -1)
    ids = ours[np.fromiter((each for ids in found.ids for each in ids), dtype=np.int64, count=int(lengths.sum()))]
    rows = np.repeat(np.arange(len(documents)), lengths)
    kept = ids >= 0
    shape = (len(documents), len(known))
    counts = sparse.csr_matrix((np.ones(int(kept.sum())), (rows[kept], ids[kept])), shape=shape)
    counts.sum_duplicates()
    return _Counts(counts, lengths)


def _matrix(asked: Sequence[Counter[str]], known: dict[str, int]) -> sparse.csr_matrix:
    rows = [row for row, each in enumerate(asked) for _ in each]
    columns = [known[word] for each in asked for word in each]
    values = [float(times) for each in asked for times in each.values()]
    return sparse.csr_matrix((values, (rows, columns)), shape=(len(asked), len(known)))
