"""Known scores: those in the data, or the true utility."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..protocols import Floats, Query
from .search import documents_of


class NoScoresError(ValueError):
    """The data has no score for a document, or none for a question."""


def are_given(query: Query) -> bool:
    """Return whether the data has a finite score for each of a query's documents."""
    return all(document.score is not None and np.isfinite(document.score) for document in query.documents)


class KnownScores:
    """Document scores in the data, from the retriever that its authors used."""

    name = "scores of the data"

    def scores(self, query: Query) -> Floats:
        """Return the documents' scores; float64, shape (n_documents,).

        Raises
        ------
        NoDocumentsError
            If the query has no documents.
        NoScoresError
            If a document has no finite score.
        """
        scores = [document.score for document in documents_of(query)]
        for document, score in zip(query.documents, scores, strict=True):
            if score is None or not np.isfinite(score):
                raise NoScoresError(
                    f"question {query.id}: document {document.id} has no score in the data. Use another retriever."
                )
        return np.array(scores, dtype=np.float64)


class Oracle:
    """A retriever that knows how useful each document is.

    Parameters
    ----------
    labels : mapping of str to sequence of float
        By query id, the utility of the documents in their order: 1 and 0, or how much each adds.
    """

    name = "oracle"

    def __init__(self, labels: Mapping[str, Sequence[float]]) -> None:
        self._labels = labels

    def scores(self, query: Query) -> Floats:
        """Return the documents' labels; float64, shape (n_documents,).

        Raises
        ------
        NoDocumentsError
            If the query has no documents.
        NoScoresError
            If the query has no labels, or not one finite number per document.
        """
        documents_of(query)
        if query.id not in self._labels:
            raise NoScoresError(f"question {query.id} has no utility labels: label it first, or leave it out")
        scores = np.array(self._labels[query.id], dtype=np.float64)
        if scores.shape != (len(query.documents),) or not np.isfinite(scores).all():
            raise NoScoresError(
                f"question {query.id} has {len(query.documents)} documents and needs a number for each, not {scores}"
            )
        return scores
