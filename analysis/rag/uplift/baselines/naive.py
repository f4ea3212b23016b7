"""Naive generation: the generator answers from what it knows, whatever was retrieved."""

from __future__ import annotations

from collections.abc import Sequence

from ...shapes import Document, Generator, Query
from .asking import Asking, reading
from .baseline import Baseline, Form
from .protocol import Answered
from .untrained import Untrained


class Naive(Untrained):
    """No retrieval. Its prompt is the one without documents of uplift labels: it costs nothing again."""

    name = "naive"

    def asking(self, query: Query, documents: Sequence[Document], generator: Generator) -> Asking[Answered]:
        """Ask the question alone. See `protocol.Method`."""
        return reading(query, (), self.settings)


BASELINE = Baseline(
    name="naive",
    title="Naive generation",
    does="asks without documents",
    make=Naive,
    forms=(Form("naive", "Naive generation"),),
    asks=0,
)
