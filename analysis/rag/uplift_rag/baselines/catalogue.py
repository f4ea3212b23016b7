"""The baselines in the order of the paper's Table 1. To add one, write a module and add it here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...protocols import Document, Generator, Query
from . import aar, adaptive, cross_encoder, dpa, replug, skr
from .protocol import AnswerSteps, Baseline, Form, MethodAnswer, Untrained, reading


class Naive(Untrained):
    """No retrieval. Its prompt is that of the uplift labels without documents, so it costs nothing extra."""

    name = "naive"

    def asking(self, query: Query, documents: Sequence[Document], generator: Generator) -> AnswerSteps[MethodAnswer]:
        """Answer the question alone. See `protocol.Method`."""
        return reading(query, (), self.settings)


NAIVE = Baseline(
    name="naive",
    title="Naive generation",
    does="prompts without documents",
    make=Naive,
    forms=(Form("naive", "Naive generation"),),
    asks=0,
)


class Standard(Untrained):
    """The first `BaselineSettings.feed` documents. Without documents, it uses the prompt of naive generation."""

    name = "standard"

    def asking(self, query: Query, documents: Sequence[Document], generator: Generator) -> AnswerSteps[MethodAnswer]:
        """Answer with the first documents. See `protocol.Method`."""
        return reading(query, documents[: self.settings.feed], self.settings)


STANDARD = Baseline(
    name="standard",
    title="Standard RAG",
    does="selects the retriever's first documents",
    make=Standard,
    forms=(Form("standard", "Standard RAG"),),
)


BASELINES: dict[str, Baseline] = {
    baseline.name: baseline
    for baseline in (
        NAIVE,
        STANDARD,
        cross_encoder.BASELINE,
        aar.BASELINE,
        replug.BASELINE,
        skr.BASELINE,
        adaptive.BASELINE,
        dpa.BASELINE,
    )
}

#: All forms by their key in rows of tables.
FORMS: dict[str, Form] = {form.key: form for baseline in BASELINES.values() for form in baseline.forms}


def least(name: str, keys: Iterable[str]) -> Form:
    """Return the form that holds for all answers of a baseline: of several, the one with the fewest parts.

    Parameters
    ----------
    name : str
        Name of the baseline.
    keys : iterable of str
        Forms of its answers; "" if an answer does not state one. Without answers: the complete method, which was not
        possible.
    """
    forms = BASELINES[name].forms
    places = {form.key: index for index, form in enumerate(forms)}
    return forms[max((places.get(key, len(forms) - 1) for key in keys), default=0)]
