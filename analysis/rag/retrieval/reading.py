"""What retrievers read of documents."""

from __future__ import annotations

from ..shapes import Document, Query


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
