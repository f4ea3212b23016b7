"""The default seven dimensions of utility (crowdrag25, Table 2), as pairwise and as pointwise questions.

They are stored in the study's language.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from crowdrag.studies.models import Study
from crowdrag.studies.page_language import in_study_language
from writing.corpus import versions

from ..models import Dimension


@dataclass(frozen=True)
class Default:
    """One dimension of Table 2, with the labels of both ends of its pointwise scale (3.3.1)."""

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
        _("Topical correctness"),
        _("Which response answers the question better?"),
        _("A response is topically correct if it is about the question and answers it."),
        _("How well does the response answer the question?"),
        _("off topic"),
        _("on topic"),
    ),
    Default(
        "coherence_logical",
        _("Logical coherence"),
        _("Which response is easier to follow?"),
        _("A response is logically coherent if its points build on each other in an order that a reader can follow."),
        _("How easy is the response to follow?"),
        _("hard to follow"),
        _("easy to follow"),
    ),
    Default(
        "coherence_stylistic",
        _("Stylistic coherence"),
        _("Which response has a more consistent writing style?"),
        _("A response is stylistically coherent if tone, tense, form of address and layout stay the same throughout."),
        _("How consistent is the writing style of the response?"),
        _("inconsistent"),
        _("consistent"),
    ),
    Default(
        "coverage_broad",
        _("Breadth of coverage"),
        _("Which response looks at more aspects of the topic?"),
        _("A response has broad coverage if it covers many aspects of the topic."),
        _("How many aspects of the topic does the response look at?"),
        _("narrow"),
        _("broad"),
    ),
    Default(
        "coverage_deep",
        _("Depth of coverage"),
        _("Which response explains things in more detail?"),
        _("A response has deep coverage if it explains its points in detail."),
        _("In how much detail does the response explain things?"),
        _("basic"),
        _("detailed"),
    ),
    Default(
        "consistency_internal",
        _("Internal consistency"),
        _("Which response is clearer about how different views fit together?"),
        _("A response is internally consistent if it does not contradict itself, and says how opposing views relate."),
        _("How clear is the response about how different views fit together?"),
        _("unclear"),
        _("clear"),
    ),
    Default(
        "quality_overall",
        _("Overall quality"),
        _("Which response is better overall?"),
        _("Your overall impression of the response."),
        _("How good is the response overall?"),
        _("bad"),
        _("good"),
    ),
)
NAMES = tuple(dimension.name for dimension in DIMENSIONS)


def label_of(name: str) -> str:
    """Return the default label of a dimension in the current language; for an unknown name, the name in words."""
    labels = {dimension.name: dimension.label for dimension in DIMENSIONS}
    return gettext(labels[name]) if name in labels else name.replace("_", " ").capitalize()


# Votes are stored as presented: A is the left response.
CHOICE = [
    {"value": -1, "label": _("Response A")},
    {"value": 0, "label": _("Neither")},
    {"value": 1, "label": _("Response B")},
]
FORCED = [CHOICE[0], CHOICE[2]]
WITHOUT_NEITHER = "quality_overall"


def ensure_pairwise(*, study: Study, now: datetime, always_neither: bool = False) -> list[Dimension]:
    """Return the seven pairwise dimensions of a study; create those that are missing.

    On overall quality, people must choose a side. The published judgments of models can say "neither" there, and need
    `always_neither`.
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
    """Return the seven pointwise dimensions of a study, with four options each; create those that are missing."""
    return [
        _ensure(
            study, dimension, now, question=dimension.pointwise, options=_four(study, dimension.low, dimension.high)
        )
        for dimension in DIMENSIONS
    ]


def _ensure(
    study: Study, default: Default, now: datetime, *, question: str, options: Sequence[dict[str, Any]]
) -> Dimension:
    with in_study_language(study):
        content = {
            "question": gettext(question),
            "label": gettext(default.label),
            "description": gettext(default.description),
            "options": [{**option, "label": gettext(option["label"])} for option in options],
            "asks_justification": False,
        }
    dimension, _made = versions.ensure(Dimension, study=study, name=default.name, now=now, **content)
    return dimension


def _four(study: Study, low: str, high: str) -> list[dict[str, Any]]:
    with in_study_language(study):
        ends = {"low": gettext(low), "high": gettext(high)}
        words = {
            -3: gettext("very %(low)s") % ends,
            -1: gettext("somewhat %(low)s") % ends,
            1: gettext("somewhat %(high)s") % ends,
            3: gettext("very %(high)s") % ends,
        }
    return [{"value": value, "label": label} for value, label in words.items()]
