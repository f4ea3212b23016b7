"""The default seven dimensions of utility (crowdrag25, Table 2), as pairwise and as pointwise questions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from crowdrag.studies.models import Study
from writing.corpus import versions

from ..models import Dimension


@dataclass(frozen=True)
class Default:
    """One dimension of Table 2, with the words for the two ends of its pointwise scale (3.3.1)."""

    name: str
    label: str
    question: str
    description: str
    pointwise: str
    low: str
    high: str


DIMENSIONS = (
    Default(
        "correctness_topical",
        "Topical Correctness",
        "Which response better answers the query?",
        "A response is topically correct if what it says is about the query and answers it.",
        "How well does the response answer the query?",
        "off topic",
        "on topic",
    ),
    Default(
        "coherence_logical",
        "Logical Coherence",
        "Which response is easier to follow?",
        "A response is logically coherent if its points build on each other in an order that a reader can follow.",
        "How easy is the response to follow?",
        "hard to follow",
        "easy to follow",
    ),
    Default(
        "coherence_stylistic",
        "Stylistic Coherence",
        "Which response has a more consistent writing style?",
        "A response is stylistically coherent if tone, tense, form of address and layout stay the same throughout.",
        "How consistent is the writing style of the response?",
        "inconsistent",
        "consistent",
    ),
    Default(
        "coverage_broad",
        "Broad Coverage",
        "Which response looks at more aspects of the topic?",
        "A response covers a topic broadly if it takes up many of the aspects that the topic has.",
        "At how many aspects of the topic does the response look?",
        "narrow",
        "broad",
    ),
    Default(
        "coverage_deep",
        "Deep Coverage",
        "Which response explains things more in detail?",
        "A response covers a topic deeply if it explains the aspects that it takes up in detail.",
        "In how much detail does the response explain things?",
        "basic",
        "detailed",
    ),
    Default(
        "consistency_internal",
        "Internal Consistency",
        "Which response is clearer about how different views fit together?",
        "A response is internally consistent if it does not contradict itself, and says how opposing views relate.",
        "How clear is the response about how different views fit together?",
        "unclear",
        "clear",
    ),
    Default(
        "quality_overall",
        "Overall Quality",
        "Which response is better overall?",
        "Your overall impression of the response.",
        "How good is the response overall?",
        "bad",
        "good",
    ),
)
NAMES = tuple(dimension.name for dimension in DIMENSIONS)

# A vote is stored as it was presented: A is the left response.
CHOICE = [
    {"value": -1, "label": "Response A"},
    {"value": 0, "label": "Neither"},
    {"value": 1, "label": "Response B"},
]
FORCED = [CHOICE[0], CHOICE[2]]
WITHOUT_NEITHER = "quality_overall"


def ensure_pairwise(*, study: Study, now: datetime, always_neither: bool = False) -> list[Dimension]:
    """Return the seven pairwise dimensions of a study, made where it lacks them.

    People must decide on overall quality; the published judgments of models do not, and need `always_neither`.
    """
    return [
        _ensure(
            study,
            dimension,
            now,
            question=dimension.question,
            options=FORCED if dimension.name == WITHOUT_NEITHER and not always_neither else CHOICE,
        )
        for dimension in DIMENSIONS
    ]


def ensure_pointwise(*, study: Study, now: datetime) -> list[Dimension]:
    """Return the seven pointwise dimensions of a study, four options each, made where it lacks them."""
    return [
        _ensure(study, dimension, now, question=dimension.pointwise, options=_four(dimension.low, dimension.high))
        for dimension in DIMENSIONS
    ]


def _ensure(
    study: Study, default: Default, now: datetime, *, question: str, options: Sequence[dict[str, Any]]
) -> Dimension:
    content = {
        "question": question,
        "label": default.label,
        "description": default.description,
        "options": list(options),
        "asks_justification": False,
    }
    dimension, _made = versions.ensure(Dimension, study=study, name=default.name, now=now, **content)
    return dimension


def _four(low: str, high: str) -> list[dict[str, Any]]:
    words = {-3: f"very {low}", -1: f"somewhat {low}", 1: f"somewhat {high}", 3: f"very {high}"}
    return [{"value": value, "label": label} for value, label in words.items()]
