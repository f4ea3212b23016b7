"""BM25 (Robertson et al. 1995) by `bm25s` (Lù 2024), with stop words taken away and words stemmed.

A word's weight comes from how many documents have it. In which documents it is counted is a choice: among the query's
own candidates, as LaMP does with a user's profile (`BM25()`), or in a whole collection (`BM25.over`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from ..shapes import Floats, Query
from .reading import NoDocumentsError, passage, some, wanted

#: How the formula is written; they differ in a word's weight. With `robertson` and `atire` a word that most documents
#: have may count nothing.
Formula = Literal["lucene", "robertson", "atire", "bm25+", "bm25l"]


@dataclass(frozen=True)
class Settings:
    """How words are found and weighed.

    Attributes
    ----------
    k1, b : float
        How soon a word's repetitions stop counting, and how much long documents are held against; 1.5 and 0.75, as
        rank_bm25 has them, which LaMP uses.
    formula : str
        `lucene` is never negative.
    stop_words : bool
        Whether English stop words are taken away.
    stem : bool
        Whether English words are compared by their Snowball stems.
    """

    k1: float = 1.5
    b: float = 0.75
    formula: Formula = "lucene"
    stop_words: bool = True
    stem: bool = True

    def __str__(self) -> str:
        words = ", ".join(
            part for part, on in (("English stop words", self.stop_words), ("English stems", self.stem)) if on
        )
        return f"BM25 {self.formula}, k1 {self.k1:g}, b {self.b:g}, {words or 'words as they are'}"


class Index:
    """Texts, indexed. Scores are float64 sums of what `bm25s` computes in float32."""

    def __init__(self, texts: Sequence[str], settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self.n = len(texts)
        if not self.n:
            raise NoDocumentsError("there is no document to index")
        import bm25s

        tokens = _tokens(texts, self.settings)
        self._bm25: Any = None
        if any(tokens):  # without any word bm25s divides by the mean length, 0
            self._bm25 = bm25s.BM25(k1=self.settings.k1, b=self.settings.b, method=self.settings.formula)
            self._bm25.index(tokens, show_progress=False)

    def scores(self, question: str) -> Floats:
        """Score all texts for a question; float64, shape (n_texts,), all 0 if no text has a word of it."""
        if self._bm25 is None:
            return np.zeros(self.n)
        known = self._bm25.get_tokens_ids(_tokens([question], self.settings)[0])
        return np.asarray(self._bm25.get_scores_from_ids(known), dtype=np.float64) if known else np.zeros(self.n)


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
        return f"{self.settings}, words weighed over {where} (bm25s {_version()})"

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

    def _place(self, text: str) -> int:
        if text not in self._places:
            raise KeyError(f"words were weighed over other documents, without {text[:60]!r}: make it over these")
        return self._places[text]


def _tokens(texts: Sequence[str], settings: Settings) -> list[list[str]]:
    import bm25s

    found: list[list[str]] = bm25s.tokenize(
        list(texts),
        stopwords="en" if settings.stop_words else None,
        stemmer=_stemmer() if settings.stem else None,
        return_ids=False,
        show_progress=False,
        allow_empty=False,
    )
    return found


@cache
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


@cache
def _version() -> str:
    from importlib.metadata import version

    return version("bm25s")
