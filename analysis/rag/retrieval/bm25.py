"""BM25 (Robertson et al. 1995) with `bm25s` (Lù 2024): in memory, or over a corpus larger than memory.

The first pass counts document frequencies of the questions' words and the lengths of documents; the second computes the
scores. Formulas and tokens are those of `bm25s`, which would need all words of all documents at once.

A word's weight depends on how many documents contain it. These are counted either among the query's own candidates, as
LaMP does with a user's profile (`BM25()`), or in a whole collection (`BM25.over`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args

import numpy as np
import scipy
from numpy.typing import NDArray

from ..protocols import Document, Floats, Query
from .search import (
    Documents,
    NoDocumentsError,
    SearchResults,
    TopDocuments,
    block,
    documents_of,
    passage,
    search_text,
    some_documents,
)

#: Variants of the formula, which differ in the weight of a word. With `robertson` and `atire`, a word that most
#: documents contain may have weight 0.
Formula = Literal["lucene", "robertson", "atire"]


@dataclass(frozen=True)
class Bm25Settings:
    """How texts are tokenized and words are weighted.

    Attributes
    ----------
    k1, b : float
        Saturation of term frequency, and strength of length normalisation. Defaults 1.5 and 0.75, as in rank_bm25,
        which LaMP uses.
    formula : str
        `lucene` is never negative.
    stop_words : bool
        Whether English stop words are removed.
    stem : bool
        Whether English words are compared by their Snowball stems.
    """

    k1: float = 1.5
    b: float = 0.75
    formula: Formula = "lucene"
    stop_words: bool = True
    stem: bool = True

    def __post_init__(self) -> None:
        if not self.k1 >= 0:
            raise ValueError(f"k1 must be 0 or more, not {self.k1}")
        if not 0 <= self.b <= 1:
            raise ValueError(f"b must be from 0 to 1, not {self.b}")
        if self.formula not in get_args(Formula):
            raise ValueError(f"formula must be one of {', '.join(get_args(Formula))}, not {self.formula!r}")

    def __str__(self) -> str:
        words = ", ".join(
            part for part, on in (("English stop words", self.stop_words), ("English stems", self.stem)) if on
        )
        return f"BM25 {self.formula}, k1 {self.k1:g}, b {self.b:g}, {words or 'words as they are'}"


def tokenize(texts: Sequence[str], settings: Bm25Settings) -> Any:
    """Tokenize texts. Return `bm25s`' object with `ids`, a list for each text, and `vocab`, from words to ids.

    Words are sequences of two or more letters, digits and underscores, in lower case.
    """
    return _tokenized(texts, settings, ids=True)


def words_of(text: str, settings: Bm25Settings) -> list[str]:
    """Return the words of a text in order."""
    words: list[str] = _tokenized([text], settings, ids=False)[0]
    return words


def stop_words(settings: Bm25Settings) -> frozenset[str]:
    """Return the words that are left out."""
    library()
    from bm25s.stopwords import STOPWORDS_EN

    return frozenset(STOPWORDS_EN if settings.stop_words else ())


def stemmed(words: Sequence[str], settings: Bm25Settings) -> Sequence[str]:
    """Return the form of each word by which words are compared."""
    stems: Sequence[str] = _stemmer().stemWords(list(words)) if settings.stem else words
    return stems


def version() -> str:
    """Return the version of `bm25s`."""
    from importlib.metadata import version

    return version("bm25s")


def library() -> Any:
    """Import `bm25s` when needed, which takes a second, and quiet its log, which it sets to DEBUG."""
    import logging

    import bm25s

    logging.getLogger("bm25s").setLevel(logging.WARNING)
    return bm25s


def _tokenized(texts: Sequence[str], settings: Bm25Settings, *, ids: bool) -> Any:
    return library().tokenize(
        list(texts),
        stopwords="en" if settings.stop_words else None,
        stemmer=_stemmer() if settings.stem else None,
        return_ids=ids,
        show_progress=False,
    )


@cache
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


@dataclass(frozen=True, eq=False)
class _Counts:
    """Counts of the questions' words in documents, shape (n_documents, n_words), and the lengths of the documents."""

    of_words: scipy.sparse.csr_matrix
    lengths: NDArray[np.int64]


def scan(questions: Sequence[str], documents: Documents, n: int, settings: Bm25Settings) -> SearchResults:
    """Find the best documents for each question by BM25.

    Parameters
    ----------
    questions : sequence of str
    documents : Documents
        Read twice, in blocks.
    n : int
    settings : Bm25Settings

    Returns
    -------
    SearchResults
        Only documents that score above 0, that is, share a word of positive weight with the question. A word that
        occurs twice in a question counts twice.

    Raises
    ------
    NoDocumentsError
        If the corpus has none.
    """
    word_counts = [Counter(words_of(question, settings)) for question in questions]
    columns = {
        word: i
        for i, word in enumerate(dict.fromkeys(word for question_counts in word_counts for word in question_counts))
    }
    size = block(len(questions))
    having, total = np.zeros(len(columns), dtype=np.int64), 0
    for _, documents_block in some_documents(documents).blocks(size):
        counts = _counted(documents_block, columns, settings)
        having += counts.of_words.getnnz(axis=0)
        total += int(counts.lengths.sum())
    best = TopDocuments(len(questions), n, above=0.0)
    weights = weight(having, len(documents), settings.formula)
    queries = _matrix(word_counts, columns)
    for start, documents_block in documents.blocks(size) if total else ():
        counts = _counted(documents_block, columns, settings)
        rated = _rated(counts, weights, total / len(documents), settings)
        best.add(start, (queries @ rated.T).toarray())
    return best.results()


def weight(having: NDArray[np.int64], n: int, formula: Formula) -> Floats:
    """Compute the weights of words from their document frequencies among n documents; 0 for words in none.

    Parameters
    ----------
    having : ndarray of int, shape (n_words,)
        Number of documents that contain each word.
    n : int
        Number of documents.
    formula : "lucene", "robertson" or "atire"
        As in Kamphuis et al. (2020).

    Returns
    -------
    ndarray of float64, shape (n_words,)
    """
    documents_having = np.maximum(having, 1)
    odds = (n - having + 0.5) / (having + 0.5)
    weights = {
        "lucene": np.log1p(odds),
        "robertson": np.log(np.maximum(odds, 1.0)),
        "atire": np.log(n / documents_having),
    }[formula]
    return np.where(having > 0, weights, 0.0)


def _rated(counts: _Counts, weights: Floats, mean: float, settings: Bm25Settings) -> scipy.sparse.csr_matrix:
    """Return the contribution of each word to each document's score."""
    rated = counts.of_words.astype(np.float64)
    per = np.repeat(settings.k1 * (1 - settings.b + settings.b * counts.lengths / mean), np.diff(rated.indptr))
    top = settings.k1 + 1 if settings.formula == "atire" else 1.0
    rated.data = weights[rated.indices] * rated.data * top / (rated.data + per)
    return rated


def _counted(documents: Sequence[Document], columns_of: dict[str, int], settings: Bm25Settings) -> _Counts:
    tokenized = tokenize([passage(document) for document in documents], settings)
    lengths = np.array([len(ids) for ids in tokenized.ids], dtype=np.int64)
    column_of = np.full(max(tokenized.vocab.values(), default=-1) + 1, -1, dtype=np.int64)
    for word, index in tokenized.vocab.items():
        column_of[index] = columns_of.get(word, -1)
    ids = column_of[
        np.fromiter((token for ids in tokenized.ids for token in ids), dtype=np.int64, count=int(lengths.sum()))
    ]
    rows = np.repeat(np.arange(len(documents)), lengths)
    is_known = ids >= 0
    shape = (len(documents), len(columns_of))
    counts = scipy.sparse.csr_matrix((np.ones(int(is_known.sum())), (rows[is_known], ids[is_known])), shape=shape)
    counts.sum_duplicates()
    return _Counts(counts, lengths)


def _matrix(word_counts: Sequence[Counter[str]], column_of: dict[str, int]) -> scipy.sparse.csr_matrix:
    rows = [row for row, counts_of_question in enumerate(word_counts) for _ in counts_of_question]
    columns = [column_of[word] for counts_of_question in word_counts for word in counts_of_question]
    values = [float(times) for counts_of_question in word_counts for times in counts_of_question.values()]
    return scipy.sparse.csr_matrix((values, (rows, columns)), shape=(len(word_counts), len(column_of)))


class Index:
    """Texts, indexed by `bm25s`."""

    def __init__(self, texts: Sequence[str], settings: Bm25Settings | None = None) -> None:
        self.settings = settings or Bm25Settings()
        self.n = len(texts)
        if not self.n:
            raise NoDocumentsError("there is no document to index")
        tokens = tokenize(texts, self.settings)
        self._bm25: Any = None
        if tokens.vocab:  # without any word bm25s divides by the mean length, 0
            self._bm25 = library().BM25(k1=self.settings.k1, b=self.settings.b, method=self.settings.formula)
            self._bm25.index(tokens, show_progress=False)

    def scores(self, question: str) -> Floats:
        """Score all texts for a question; float64 (summed in float32), shape (n_texts,), 0 without a shared word."""
        if self._bm25 is None:
            return np.zeros(self.n)
        tokens = self._bm25.get_tokens_ids(words_of(question, self.settings))
        return np.asarray(self._bm25.get_scores_from_ids(tokens), dtype=np.float64)


class BM25:
    """BM25 as a retriever of candidates.

    Parameters
    ----------
    settings : Bm25Settings, optional
    """

    def __init__(self, settings: Bm25Settings | None = None) -> None:
        self.settings = settings or Bm25Settings()
        self._index: Index | None = None
        self._places: dict[str, int] = {}

    @classmethod
    def over(cls, queries: Iterable[Query], settings: Bm25Settings | None = None) -> BM25:
        """Create a retriever whose word weights come from all documents of these queries, each text once.

        Parameters
        ----------
        queries : iterable of Query
        settings : Bm25Settings, optional

        Raises
        ------
        NoDocumentsError
            If the queries have no documents.
        """
        retriever = cls(settings)
        for query in queries:
            for document in query.documents:
                retriever._places.setdefault(passage(document), len(retriever._places))
        if not retriever._places:
            raise NoDocumentsError("none of the queries has a document: words cannot be weighed")
        retriever._index = Index(list(retriever._places), retriever.settings)
        return retriever

    @property
    def name(self) -> str:
        """Name with settings and the library's version."""
        scope = "its candidates" if self._index is None else f"{self._index.n} documents"
        return f"{self.settings}, words weighed over {scope} (bm25s {version()})"

    def scores(self, query: Query) -> Floats:
        """Score the query's documents.

        Parameters
        ----------
        query : Query
            If the retriever was created by `over`, one of its queries.

        Returns
        -------
        ndarray of float64, shape (n_documents,)
            0 if a document shares no word with the question. Equal texts have equal scores.

        Raises
        ------
        NoDocumentsError
            If the query has none.
        KeyError
            If the word weights come from other documents.
        """
        texts = [passage(document) for document in documents_of(query)]
        if self._index is None:
            return Index(texts, self.settings).scores(search_text(query))
        places = [self._place(text) for text in texts]
        return self._index.scores(search_text(query))[places]

    def search(self, questions: Sequence[str], documents: Documents, n: int) -> SearchResults:
        """Find the best documents of a corpus for each question; see `scan`."""
        return scan(questions, documents, n, self.settings)

    def _place(self, text: str) -> int:
        if text not in self._places:
            raise KeyError(f"words were weighed over other documents, without {text[:60]!r}: make it over these")
        return self._places[text]
