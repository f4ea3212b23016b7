"""Standard RAG: the retriever's first documents, in its order, all in one prompt."""

from __future__ import annotations

from collections.abc import Sequence

from ...shapes import Document, Generator, Query
from .asking import Asking, reading
from .baseline import Baseline, Form
from .protocol import Answered
from .untrained import Untrained


class Standard(Untrained):
    """The first `Settings.feed` documents. Without any, the prompt without documents: what naive generation asks."""

    name = "standard"

    def asking(self, query: Query, documents: Sequence[Document], generator: Generator) -> Asking[Answered]:
        """Ask with the first documents. See `protocol.Method`."""
        return reading(query, documents[: self.settings.feed], self.settings)


BASELINE = Baseline(
    name="standard",
    title="Standard RAG",
    does="hands over the retriever's first documents",
    make=Standard,
    forms=(Form("standard", "Standard RAG"),),
)
