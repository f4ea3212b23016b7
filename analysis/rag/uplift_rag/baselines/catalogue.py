"""The baselines in the order of the paper's Table 1: add a module with its baseline, and a line here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...protocols import Document, Generator, Query
from . import aar, adaptive, cross_encoder, dpa, replug, skr
from .protocol import AnswerSteps, Baseline, Form, MethodAnswer, Untrained, reading


class Naive(Untrained):
    """No retrieval. Its prompt is the one without documents of uplift labels: it costs nothing again."""

    name = "naive"

    def asking(self, query: Query, documents: Sequence[Document], generator: Generator) -> AnswerSteps[MethodAnswer]:
        """Ask the question alone. See `protocol.Method`."""
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
    """The first `Settings.feed` documents. Without any, the prompt without documents: what naive generation asks."""

    name = "standard"

    def asking(self, query: Query, documents: Sequence[Document], generator: Generator) -> AnswerSteps[MethodAnswer]:
        """Ask with the first documents. See `protocol.Method`."""
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

#: All forms by what rows of tables call them.
FORMS: dict[str, Form] = {form.key: form for baseline in BASELINES.values() for form in baseline.forms}


def least(name: str, keys: Iterable[str]) -> Form:
    """The form of a baseline that holds of all of its answers: of several the one with the fewest parts.

    Parameters
    ----------
    name : str
        The baseline's.
    keys : iterable of str
        Forms of its answers; "" where an answer does not say. None: the whole method, which was not possible.
    """
    forms = BASELINES[name].forms
    places = {form.key: index for index, form in enumerate(forms)}
    return forms[max((places.get(key, len(forms) - 1) for key in keys), default=0)]
