"""Naive generation: the generator answers from what it knows, whatever was retrieved."""

from __future__ import annotations

from collections.abc import Sequence

from ...shapes import Document, Generator, Query
from ..prompts import prompt
from .method import Answered, answered
from .untrained import Untrained


class Naive(Untrained):
    """No retrieval. Its prompt is the one without documents of uplift labels: it costs nothing again."""

    name = "naive"

    def answer(self, query: Query, documents: Sequence[Document], generator: Generator) -> Answered:
        """Ask the question alone. See `method.Method`."""
        (output,) = generator.generate([prompt(query.question, max_tokens=self.settings.max_tokens)])
        return answered(output, ())
