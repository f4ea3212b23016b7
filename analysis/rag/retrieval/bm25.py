"""BM25 (Robertson et al. 1995) by `bm25s` (Lù 2024), with stop words taken away and words stemmed.

A word's weight comes from how many documents have it. In which documents it is counted is a choice: among the query's
own candidates, as LaMP does with a user's profile (`BM25()`), or in a whole collection (`BM25.over`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..shapes import Floats, Query
from . import words
from .reading import NoDocumentsError, passage, some, wanted
from .scanning import scan
from .search import Documents, Found
from .words import Settings


class Index:
    """Texts, indexed by `bm25s`."""

    def __init__(self, texts: Sequence[str], settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self.n = len(texts)
        if not self.n:
            raise NoDocumentsError("there is no document to index")
        tokens = words.tokens(texts, self.settings)
        self._bm25: Any = None
        if tokens.vocab:  # without any word bm25s divides by the mean length, 0
            self._bm25 = words.library().BM25(k1=self.settings.k1, b=self.settings.b, method=self.settings.formula)
            self._bm25.index(tokens, show_progress=False)

    def scores(self, question: str) -> Floats:
        """Score all texts for a question; float64 (summed in float32), shape (n_texts,), 0 without a shared word."""
        if self._bm25 is None:
            return np.zeros(self.n)
        known = self._bm25.get_tokens_ids(words.of(question, self.settings))
        return np.asarray(self._bm25.get_scores_from_ids(known), dtype=np.float64)


class BM25:
    """BM25 as a retriever of candidates.

    Parameters
    ----------
    settings : Settings, optional
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self._index: Index | None = None
        self._places: dict[str, int] = {}

    @classmethod
    def over(cls, queries: Iterable[Query], settings: Settings | None = None) -> BM25:
        """Weigh words by all documents of these queries, each text once.

        Parameters
        ----------
        queries : iterable of Query
        settings : Settings, optional

        Raises
        ------
        NoDocumentsError
            If they have none.
        """
        made = cls(settings)
        for query in queries:
            for document in query.documents:
                made._places.setdefault(passage(document), len(made._places))
        if not made._places:
            raise NoDocumentsError("none of the queries has a document: words cannot be weighed")
        made._index = Index(list(made._places), made.settings)
        return made

    @property
    def name(self) -> str:
        """What it is, with its settings and the library's version."""
        where = "its candidates" if self._index is None else f"{self._index.n} documents"
        return f"{self.settings}, words weighed over {where} (bm25s {words.version()})"

    def scores(self, query: Query) -> Floats:
        """Score the query's documents.

        Parameters
        ----------
        query : Query
            Of one of the queries that words were weighed over, if they were.

        Returns
        -------
        ndarray of float64, shape (n_documents,)
            0 where a document shares no word with the question. Equal texts have equal scores.

        Raises
        ------
        NoDocumentsError
            If the query has none.
        KeyError
            If words were weighed over other documents than these.
        """
        texts = [passage(document) for document in some(query)]
        if self._index is None:
            return Index(texts, self.settings).scores(wanted(query))
        places = [self._place(text) for text in texts]
        return self._index.scores(wanted(query))[places]

    def search(self, questions: Sequence[str], documents: Documents, n: int) -> Found:
        """Find the best documents of a corpus for each question; see `scanning.scan`."""
        return scan(questions, documents, n, self.settings)

    def _place(self, text: str) -> int:
        if text not in self._places:
            raise KeyError(f"words were weighed over other documents, without {text[:60]!r}: make it over these")
        return self._places[text]
