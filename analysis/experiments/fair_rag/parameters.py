"""What a fair RAG experiment is made with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, get_args

from django.utils.translation import gettext as _

from analysis.rag.fair_rag.utility import INSTRUCTION, PromptSettings
from analysis.rag.qa_metrics import METRICS
from analysis.ranking.exposure import Bounds

from ..experiment import BadParameterError, ParameterReader

#: The metric of questions whose data names none.
DEFAULT_METRIC = "f1"
#: Above this the logits of the best item leave no chance to others and overflow: 2^alpha.
MOST_ALPHA = 64.0
#: How the claim is put that must follow from a document.
CLAIMS = ("answer", "question_and_answer")


@dataclass(frozen=True)
class FairRagParameters(ParameterReader):
    """The experiment's own parameters; the defaults are the paper's (fair_rag, 4) where it names them.

    Attributes
    ----------
    retrievers : tuple of str
        As `retrieving.retriever` reads them; the deterministic rankings and the scores that are sampled from.
    alphas : tuple of float
        Fairness parameters; 0 is uniformly random.
    samples, k : int
        Rankings a query and alpha (N), and where they are cut.
    lists_per_query : int
        How many distinct lists a query are generated at most; 0: all. Exposure is of all sampled rankings in any case.
    metric : str
        Of `answers.METRICS`; "" for the data's own, else F1.
    entailment : str
        As `entailing.entailment` reads it; "" for none: no attribution is measured.
    claim : str
        Whether a document must entail the answer alone, as in the paper, or the question with its answer.
    bounds : str
        See `exposure.Bounds`.
    instruction : str
        What stands before each question.
    max_tokens, most_words : int
        Of an answer; of a document, 0 for all.
    resamples : int
        Of queries, for intervals.
    """

    retrievers: tuple[str, ...] = ("bm25",)
    alphas: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0)
    samples: int = 100
    k: int = 5
    lists_per_query: int = 0
    metric: str = ""
    entailment: str = "generator"
    claim: str = "answer"
    bounds: str = "published"
    instruction: str = INSTRUCTION
    max_tokens: int = 24
    most_words: int = 0
    resamples: int = 1000

    @staticmethod
    def read(name: str, usual: Any, value: Any) -> Any:
        """Return one value as its field holds it."""
        return _read(name, usual, value)

    @property
    def asking(self) -> PromptSettings:
        """How the generator is asked."""
        return PromptSettings(self.instruction, self.max_tokens, self.most_words)

    @property
    def budget(self) -> int | None:
        """How many lists a query are generated at most; None for all."""
        return self.lists_per_query or None

    @property
    def exposure_bounds(self) -> Bounds:
        """The bounds that measures of exposure are brought between."""
        return next(bounds for bounds in get_args(Bounds) if bounds == self.bounds)

    @property
    def ways(self) -> int:
        """How many ways of ranking are sampled: each retriever with each alpha, and the oracle."""
        return len(self.retrievers) * len(self.alphas) + 1

    def check(self) -> None:
        """Check bounds, names, and that a budget does for all ways of ranking."""
        _several("retrievers", self.retrievers)
        _several("alphas", self.alphas)
        for alpha in self.alphas:
            _within("alphas", alpha, 0.0, MOST_ALPHA)
        for name, least, most in NUMBERS:
            _within(name, getattr(self, name), least, most)
        if self.lists_per_query and self.lists_per_query < 2 * self.ways:
            message = _(
                "lists_per_query is %(given)s; %(ways)s ways of ranking need 2 lists each, %(least)s, or 0 for all."
            )
            raise BadParameterError(
                message % {"given": self.lists_per_query, "ways": self.ways, "least": 2 * self.ways}
            )
        _one_of("metric", self.metric, ("", *METRICS))
        _one_of("claim", self.claim, CLAIMS)
        _one_of("bounds", self.bounds, get_args(Bounds))


#: Whole numbers with their least and greatest value.
NUMBERS = (
    ("samples", 2, 10_000),
    ("k", 1, 100),
    ("lists_per_query", 0, 100_000),
    ("max_tokens", 1, 4096),
    ("most_words", 0, 10_000),
    ("resamples", 10, 100_000),
)


def _read(name: str, usual: Any, value: Any) -> Any:
    """A value of its default's type; numbers of a list as floats."""
    if isinstance(usual, tuple):
        if isinstance(value, str):
            value = [part for part in value.replace(",", " ").split() if part]
        if not isinstance(value, Sequence):
            raise BadParameterError(_("%(name)s is %(value)r; it is a list.") % {"name": name, "value": value})
        return tuple(_read(name, usual[0], item) for item in value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if isinstance(usual, float) and is_number:
        return float(value)
    if isinstance(usual, int) and is_number and float(value).is_integer():
        return int(value)
    if isinstance(usual, str) and isinstance(value, str):
        return value.strip()
    kinds = {float: _("a number"), int: _("a whole number"), str: _("a text")}
    message = _("%(name)s is %(value)r; it is %(kind)s.")
    raise BadParameterError(message % {"name": name, "value": value, "kind": kinds[type(usual)]})


def _several(name: str, values: Sequence[Any]) -> None:
    if not values or len(set(values)) < len(values) or "" in values:
        message = _("%(name)s is %(values)s; it names at least one, and none twice.")
        raise BadParameterError(message % {"name": name, "values": list(values)})


def _within(name: str, value: float, least: float, most: float) -> None:
    if not (isfinite(value) and least <= value <= most):
        message = _("%(name)s is %(value)s; it lies between %(least)s and %(most)s.")
        raise BadParameterError(message % {"name": name, "value": value, "least": least, "most": most})


def _one_of(name: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        message = _("%(name)s is %(value)r; it is one of %(known)s.")
        raise BadParameterError(message % {"name": name, "value": value, "known": ", ".join(map(repr, known))})
