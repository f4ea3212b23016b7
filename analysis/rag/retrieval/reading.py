"""What retrievers read of documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..shapes import Document, Floats, Query


class NoDocumentsError(ValueError):
    """A query without candidate documents, or a corpus without documents: nothing can be ranked."""


def wanted(query: Query) -> str:
    """What to look for: the part of the question that the data names, else all of it."""
    return query.sought or query.question


def some(query: Query) -> tuple[Document, ...]:
    """The query's documents.

    Raises
    ------
    NoDocumentsError
        If it has none.
    """
    if not query.documents:
        raise NoDocumentsError(f"question {query.id} has no documents: leave it out, or retrieve some from a corpus")
    return query.documents


def passage(document: Document) -> str:
    """Title and text with a blank between, as LaMP's rankers read them."""
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
    texts = [passage(document) for document in some(query)]
    distinct = list(dict.fromkeys(texts))
    found = dict(zip(distinct, score(distinct).tolist(), strict=True))
    return np.array([found[text] for text in texts], dtype=np.float64)
