"""What retrievers read of documents."""

from __future__ import annotations

from ..shapes import Document


class NoDocumentsError(ValueError):
    """A query without candidate documents, or a corpus without documents: nothing can be ranked."""


def passage(document: Document) -> str:
    """Title and text with a blank between, as LaMP's rankers read them."""
    return f"{document.title} {document.text}".strip()
