"""Standard RAG: the retriever's first documents, in its order, all in one prompt."""

from __future__ import annotations

from collections.abc import Sequence

from ...shapes import Document, Generator, Query
from .asking import Asking, reading
from .method import Answered
from .untrained import Untrained


class Standard(Untrained):
    """The first `Settings.feed` documents. Without any, the prompt without documents: what naive generation asks."""

    name = "standard"

    def asking(self, query: Query, documents: Sequence[Document], generator: Generator) -> Asking[Answered]:
        """Ask with the first documents. See `method.Method`."""
        return reading(query, documents[: self.settings.feed], self.settings)
