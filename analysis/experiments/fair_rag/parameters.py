"""Parameters of a fair RAG experiment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, get_args

from analysis.rag.fair_rag.utility import INSTRUCTION, PromptSettings
from analysis.rag.qa_metrics import METRICS
from analysis.ranking.exposure import Bounds

from ...parameters import BadParameterError, Parameter, parameter, parameters_of
from .. import entailment_models, retrievers
from ..experiment import ParameterReader
from .tables import METRICS as METRIC_LABELS

#: The metric for questions whose data does not name one.
DEFAULT_METRIC = "f1"
#: Above this, the best item's logit 2^alpha leaves other items no chance and may overflow.
MOST_ALPHA = 64.0
ENTAILMENT_LABELS = {
    entailment_models.GENERATOR: "the model that answers",
    entailment_models.NONE: "not measured",
}


@dataclass(frozen=True)
class FairRagParameters(ParameterReader):
    """The experiment's own parameters. The defaults are the paper's (fair_rag, section 4) where it states them.

    `lists_per_query` only limits generation: exposure is always computed from all sampled rankings. In the paper,
    `claim` is the answer.
    """

    retrievers: tuple[str, ...] = parameter(
        ("bm25",),
        "Retrievers",
        "choices",
        help=(
            "bm25 weights words by the question's own documents, bm25:all by all documents. given: scores in the data."
        ),
        choices=tuple((name, name) for name in retrievers.offered()),
    )
    alphas: tuple[float, ...] = parameter(
        (1.0, 2.0, 4.0, 8.0),
        "Alpha",
        "numbers",
        help="Fairness: 0 is random, 8 gives almost always the same ranking.",
        least=0,
        most=MOST_ALPHA,
    )
    samples: int = parameter(
        100,
        "Rankings",
        "integer",
        help="Sampled rankings per question and alpha.",
        least=2,
        most=10_000,
    )
    k: int = parameter(
        5,
        "Documents per ranking",
        "integer",
        help="The model reads this many documents of each ranking.",
        least=1,
        most=100,
    )
    lists_per_query: int = parameter(
        0,
        "Lists per question",
        "integer",
        help=("Maximum number of distinct lists to generate. 0: all. Fewer lists cost less and add a standard error."),
        least=0,
        most=100_000,
    )
    metric: str = parameter(
        "",
        "Answer metric",
        "choice",
        choices=(
            ("", "the metric in the data"),
            *((name, METRIC_LABELS.get(name, name)) for name in METRICS),
        ),
    )
    entailment: str = parameter(
        entailment_models.GENERATOR,
        "Attribution by",
        "choice",
        help=("An entailment model, or the model itself with yes/no prompts, which needs most of the calls."),
        choices=tuple((name, ENTAILMENT_LABELS.get(name, name)) for name in entailment_models.offered()),
    )
    claim: str = parameter(
        "answer",
        "Claim to attribute",
        "choice",
        choices=(("answer", "the answer"), ("question_and_answer", "question and answer")),
        is_advanced=True,
    )
    bounds: str = parameter(
        "published",
        "Bounds",
        "choice",
        help="Bounds for normalising exposure. The authors' code and the paper's equations differ.",
        choices=(
            ("published", "the authors' code"),
            ("definition", "the paper's equations"),
            ("infinite", "infinitely many documents"),
            ("tight", "values that rankings can reach"),
        ),
        is_advanced=True,
    )
    instruction: str = parameter(
        INSTRUCTION,
        "Instruction",
        "text",
        help="Text before each question.",
        most=2000,
        is_advanced=True,
    )
    max_tokens: int = parameter(24, "Tokens per answer", "integer", least=1, most=4096, is_advanced=True)
    most_words: int = parameter(
        0,
        "Words per document",
        "integer",
        help="Longer documents are cut. 0: no limit.",
        least=0,
        most=10_000,
        is_advanced=True,
    )
    resamples: int = parameter(
        1000,
        "Resamples",
        "integer",
        help="Resamples of questions for intervals.",
        least=10,
        most=100_000,
        is_advanced=True,
    )

    @staticmethod
    def read(parameter: Parameter, value: Any) -> Any:
        """Return one value in its field's type."""
        return _read(parameter.name, parameter.default, value)

    @property
    def asking(self) -> PromptSettings:
        """The settings of prompts."""
        return PromptSettings(self.instruction, self.max_tokens, self.most_words)

    @property
    def budget(self) -> int | None:
        """The maximum number of lists generated per query; None for all."""
        return self.lists_per_query or None

    @property
    def exposure_bounds(self) -> Bounds:
        """The bounds used to normalise exposure measures."""
        return next(bounds for bounds in get_args(Bounds) if bounds == self.bounds)

    @property
    def ways(self) -> int:
        """The number of ranking methods to sample: each retriever with each alpha, and the oracle."""
        return len(self.retrievers) * len(self.alphas) + 1

    def check(self) -> None:
        """Check bounds and names, and that the budget is enough for all ranking methods."""
        _several("retrievers", self.retrievers)
        _several("alphas", self.alphas)
        for alpha in self.alphas:
            _within("alphas", alpha, 0.0, MOST_ALPHA)
        for declared in parameters_of(FairRagParameters):
            value = getattr(self, declared.name)
            if declared.kind == "integer" and declared.least is not None and declared.most is not None:
                _within(declared.name, value, declared.least, declared.most)
        if self.lists_per_query and self.lists_per_query < 2 * self.ways:
            message = (
                "“Lists per question” is %(given)s. It must be at least %(least)s (2 for each of the %(ways)s "
                "rankings), or 0 for all."
            )
            raise BadParameterError(
                message % {"given": self.lists_per_query, "ways": self.ways, "least": 2 * self.ways}
            )
        for declared in parameters_of(FairRagParameters):
            if declared.name in {"metric", "claim", "bounds"}:
                _one_of(declared.name, getattr(self, declared.name), [name for name, _label in declared.choices])


def _read(name: str, usual: Any, value: Any) -> Any:
    """A value of the same type as its default; numbers in lists become floats."""
    if isinstance(usual, tuple):
        if isinstance(value, str):
            value = [part for part in value.replace(",", " ").split() if part]
        if not isinstance(value, Sequence):
            raise BadParameterError(f"{name} must be a list, not {value!r}.")
        return tuple(_read(name, usual[0], item) for item in value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if isinstance(usual, float) and is_number:
        return float(value)
    if isinstance(usual, int) and is_number and float(value).is_integer():
        return int(value)
    if isinstance(usual, str) and isinstance(value, str):
        return value.strip()
    kinds = {float: "a number", int: "a whole number", str: "text"}
    message = "%(name)s must be %(kind)s, not %(value)r."
    raise BadParameterError(message % {"name": name, "value": value, "kind": kinds[type(usual)]})


def _several(name: str, values: Sequence[Any]) -> None:
    if not values or len(set(values)) < len(values) or "" in values:
        message = "%(name)s must have at least one value and no duplicates, not %(values)s."
        raise BadParameterError(message % {"name": name, "values": list(values)})


def _within(name: str, value: float, least: float, most: float) -> None:
    if not (isfinite(value) and least <= value <= most):
        message = "%(name)s must be between %(least)s and %(most)s, not %(value)s."
        raise BadParameterError(message % {"name": name, "value": value, "least": least, "most": most})


def _one_of(name: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        message = "%(name)s must be one of %(known)s, not %(value)r."
        raise BadParameterError(message % {"name": name, "value": value, "known": ", ".join(map(repr, known))})
