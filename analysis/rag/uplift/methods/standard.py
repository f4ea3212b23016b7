"""Standard RAG: the retriever's first documents, in its order, all in one prompt."""

from __future__ import annotations

from collections.abc import Sequence

from ...shapes import Document, Generator, Query
from ..prompts import prompt
from .method import Answered, Settings, answered
from .untrained import Untrained


class Standard(Untrained):
    """The first `Settings.feed` documents. Without any, the prompt without documents: what naive generation asks."""

    name = "standard"

    def answer(self, query: Query, documents: Sequence[Document], generator: Generator) -> Answered:
        """Ask with the first documents. See `method.Method`."""
        return read(query, documents[: self.settings.feed], generator, self.settings)


def read(query: Query, documents: Sequence[Document], generator: Generator, settings: Settings) -> Answered:
    """The generator's answer with these documents in this order, in one prompt: how all but REPLUG end.

    Parameters
    ----------
    query : Query
    documents : sequence of Document
        None: the prompt without documents.
    generator : Generator
    settings : Settings

    Returns
    -------
    Answered
    """
    (output,) = generator.generate([prompt(query.question, documents, max_tokens=settings.max_tokens)])
    return answered(output, documents)
