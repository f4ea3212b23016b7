"""The text of documents that retrievers read, and corpus search in blocks, so that memory does not grow with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..protocols import Collection, Document, Floats, Query


class NoDocumentsError(ValueError):
    """The query has no candidate documents, or the corpus has no documents."""


class BadSearchError(ValueError):
    """What another system should search, or has found, is not there or cannot be used."""


def search_text(query: Query) -> str:
    """Return the text to search for: the part of the question that the data names, else all of it."""
    return query.sought or query.question


def documents_of(query: Query) -> tuple[Document, ...]:
    """Return the query's documents.

    Raises
    ------
    NoDocumentsError
        If it has none.
    """
    if not query.documents:
        raise NoDocumentsError(f"question {query.id} has no documents: leave it out, or retrieve some from a corpus")
    return query.documents


def passage(document: Document) -> str:
    """Join title and text with a space, as LaMP's rankers read them."""
    return f"{document.title} {document.text}".strip()


def by_text(query: Query, score: Callable[[Sequence[str]], Any]) -> Floats:
    """Score a query's documents by their texts, each distinct text once, so that equal texts have equal scores.

    Parameters
    ----------
    query : Query
    score : callable(texts) -> array, shape (n_texts,)

    Returns
    -------
    ndarray of float64, shape (n_documents,)

    Raises
    ------
    NoDocumentsError
        If the query has none.
    """
    texts = [passage(document) for document in documents_of(query)]
    distinct = list(dict.fromkeys(texts))
    score_of = dict(zip(distinct, score(distinct).tolist(), strict=True))
    return np.array([score_of[text] for text in texts], dtype=np.float64)


#: Maximum number of scores in memory at once, questions times documents: 128 MiB.
HELD = 1 << 24
#: Maximum number of documents in a block.
BLOCK = 1024
# Scores in a group of `best_of`.
_GROUP = 512


class Documents(Protocol):
    """Documents by position: `collections.corpus.Corpus`, or `DocumentList`."""

    def __len__(self) -> int: ...

    def blocks(
        self, size: int = BLOCK, first: int = 0, last: int | None = None
    ) -> Iterator[tuple[int, list[Document]]]:
        """Yield documents in order, in blocks: the position of the block's first document, and the documents.

        `first` and `last` are the positions of the first document, and of the one after the last; default: all.
        """
        ...

    def documents(self, places: Sequence[int]) -> list[Document]:
        """Return the documents at these positions."""
        ...


@dataclass(frozen=True)
class DocumentList:
    """Documents in memory."""

    items: Sequence[Document]

    def __len__(self) -> int:
        return len(self.items)

    def blocks(
        self, size: int = BLOCK, first: int = 0, last: int | None = None
    ) -> Iterator[tuple[int, list[Document]]]:
        """See `Documents`."""
        end = len(self.items) if last is None else last
        for start in range(first, end, size):
            yield start, list(self.items[start : min(start + size, end)])

    def documents(self, places: Sequence[int]) -> list[Document]:
        """See `Documents`."""
        return [self.items[index] for index in places]


@dataclass(frozen=True, eq=False)
class SearchResults:
    """Results of a search: the best documents for each question by descending score, ties by position.

    Attributes
    ----------
    places : ndarray of int64, shape (n_questions, n)
        -1 if fewer were found.
    scores : ndarray of float64, shape (n_questions, n)
        NaN if fewer were found.
    """

    places: NDArray[np.int64]
    scores: Floats


class Searcher(Protocol):
    """A retriever that can search a corpus."""

    @property
    def name(self) -> str:
        """Name, with the version of its model if it has one."""
        ...

    def search(self, questions: Sequence[str], documents: Documents, n: int) -> SearchResults:
        """Find the best n documents for each question."""
        ...


def results_of(found: Sequence[tuple[NDArray[np.int64], Floats]], n: int) -> SearchResults:
    """Combine the positions and scores that were found for each question; at most n of each."""
    results = SearchResults(np.full((len(found), n), -1, dtype=np.int64), np.full((len(found), n), np.nan))
    for row, (places, scores) in enumerate(found):
        results.places[row, : len(places)] = places
        results.scores[row, : len(scores)] = scores
    return results


class TopDocuments:
    """The best n documents so far for each question.

    Parameters
    ----------
    questions, n : int
    above : float
        Lower bound of scores: documents must score above it. BM25 and SPLADE use 0, which means no shared word.
    """

    def __init__(self, questions: int, n: int, *, above: float = -np.inf) -> None:
        if n < 1:
            raise ValueError("a search finds at least one document: n is 1 or more")
        self._above = above
        self._places = np.full((questions, n), -1, dtype=np.int64)
        self._scores = np.full((questions, n), -np.inf)

    def add(self, start: int, scores: NDArray[np.floating]) -> None:
        """Add the next block, whose first document has the position `start`; scores of shape (n_questions, n_block).

        Blocks must come in order: among equal scores, the earlier document stays.
        """
        # Better than the last of the best, or there is still room.
        better = scores > np.maximum(self._scores[:, -1:], self._above)
        for row in np.flatnonzero(better.any(axis=1)).tolist():
            columns = np.flatnonzero(better[row])
            all_scores = np.concatenate([self._scores[row], scores[row, columns]])
            all_places = np.concatenate([self._places[row], start + columns])
            order = np.argsort(-all_scores, kind="stable")[: self._scores.shape[1]]
            self._scores[row], self._places[row] = all_scores[order], all_places[order]

    def results(self) -> SearchResults:
        """Return the best documents."""
        return SearchResults(self._places, np.where(self._places < 0, np.nan, self._scores))


def best_of(scores: Floats, n: int, *, above: float = -np.inf) -> tuple[NDArray[np.int64], Floats]:
    """Return the positions and scores of the best n documents of one question, by falling score, ties by position.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_documents,)
    n : int
    above : float
        Lower bound of scores, as for `TopDocuments`.

    Returns
    -------
    positions : ndarray of int64, shape (at most n,)
    scores : ndarray of float64, same shape
    """
    # The n-th largest of the maxima of groups is a bound that all of the best n reach: much cheaper than selecting
    # among all scores.
    whole = len(scores) - len(scores) % _GROUP
    largest = scores[:whole].reshape(-1, _GROUP).max(axis=1)
    bound = np.partition(largest, -n)[-n] if n <= len(largest) else -np.inf
    places = np.flatnonzero((scores >= bound) & (scores > above) if bound <= above else scores >= bound)
    order = np.argsort(-scores[places], kind="stable")[:n]
    return places[order], scores[places[order]]


def block(questions: int) -> int:
    """Return the number of documents per block for this many questions, so that all scores fit in memory."""
    return max(1, min(BLOCK, HELD // max(questions, 1)))


def some_documents(documents: Documents) -> Documents:
    """Return the documents if there are any.

    Raises
    ------
    NoDocumentsError
        If there are no documents.
    """
    if not len(documents):
        raise NoDocumentsError("the corpus has no documents")
    return documents


def retrieve(collection: Collection, documents: Documents, searcher: Searcher, n: int) -> Collection:
    """Replace each question's candidate documents by the best documents of a corpus.

    Parameters
    ----------
    collection : Collection
    documents : Documents
        A `Corpus` or a `DocumentList`.
    searcher : Searcher
        `BM25`, `Splade` or `Dense`.
    n : int
        Number of documents; fewer if the corpus has fewer, or if fewer share a word with the question.

    Returns
    -------
    Collection
        Documents by descending score, which is stored in `score`. Questions with the same search text are searched
        once.

    Raises
    ------
    NoDocumentsError
        If the corpus has none.
    """
    sought = list(dict.fromkeys(search_text(query) for query in collection.queries))
    results = searcher.search(sought, some_documents(documents), n)
    row = {text: i for i, text in enumerate(sought)}
    queries = []
    for query in collection.queries:
        row_index = row[search_text(query)]
        places = [index for index in results.places[row_index].tolist() if index >= 0]
        scored = zip(documents.documents(places), results.scores[row_index].tolist(), strict=False)
        queries.append(replace(query, documents=tuple(replace(document, score=score) for document, score in scored)))
    return replace(collection, queries=tuple(queries))
