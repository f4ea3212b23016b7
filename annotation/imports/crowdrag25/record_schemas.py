"""The files of the published corpus and the schemas of their records."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from annotation.campaign_types.default_dimensions import NAMES
from writing.corpus.imports.fields import (
    MAX_INTEGER,
    AddressedIdentifier,
    Field,
    Identifier,
    ListOf,
    Number,
    Object,
    OneOf,
    Optional,
    Text,
    Whole,
    milliseconds,
)
from writing.corpus.imports.problems import quote_value

WRITER_MODEL: Final = "gpt-4o-2024-08-06"  # model that wrote the responses and judged (crowdrag25, 3.1.6 and 3.2.5)
UNKNOWN_WRITER: Final = "unknown"  # writer of human responses without writing tasks
EXPERTS_ANALYSED: Final = frozenset({"annot1", "annot2", "annot4"})

# File names in the corpus, without folder and extension.
TOPICS = "study1_retrieval"
TASKS = "study1_tasks"
SNAPSHOTS = "study1_responses_human"
MODEL_RESPONSES = "study1_responses_llm"
VOTES = "study2_responses"
POINTWISE = "study2_pointwise"
FACTS = "study2_demographic"
EXPERTS = "expert-response"
COMBINED_VOTES = "llm_ratings_combined"
INDIVIDUAL_VOTES = "llm_ratings_individual"
MODEL_VOTES = "llm_ratings"
LABELS = "ratings"
PARSED = "responses"
FILES = (
    TOPICS, TASKS, SNAPSHOTS, MODEL_RESPONSES, VOTES, POINTWISE, FACTS, EXPERTS,
    COMBINED_VOTES, INDIVIDUAL_VOTES, MODEL_VOTES, LABELS, PARSED,
)  # fmt: skip

CHOICES = {"A": -1, "N": 0, "B": 1}
SCALE = {-3: -3, -1: -1, 1: 1, 3: 3}


@dataclass(frozen=True)
class Unreadable:
    """A label that cannot be read."""

    message: str


@dataclass(frozen=True)
class Label(Field):
    """A label of an answer; letters in either case. None if missing, because answers may be incomplete."""

    values: Mapping[Any, int]
    required = False

    @property
    def expected(self) -> str:  # type: ignore[override]
        """The allowed values, for error messages."""
        return "one of " + ", ".join(map(str, self.values))

    def clean(self, value: Any) -> int | Unreadable | None:
        """Return the value of a label."""
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return None
        key = value.strip().upper() if isinstance(value, str) else value
        if isinstance(key, bool) or not isinstance(key, str | int | float) or key not in self.values:
            return Unreadable(f"got {quote_value(value)}")
        return self.values[key]


_choice, _rating = Label(CHOICES), Label(SCALE)

# The raw files call topical correctness "validity".
RAW_NAMES = ("validity", *NAMES[1:])
# The experts' clicks use other names of the dimensions.
CLICK_NAMES = (
    "validity",
    "logical_coherence",
    "stylistic_coherence",
    "broad_coverage",
    "deep_coverage",
    "internal_consistency",
    "overall_quality",
)

_likert = Optional(Whole(1, 5))
_ternary = Optional(Whole(-1, 1))
ENTRY_QUESTIONS = ("query_answerable", "query_controversial", "worker_knowledge", "worker_expertise")
EXIT_QUESTIONS = ("worker_satisfaction", "references_quality", "references_extra", "references_omission")

TASK = {
    "response": AddressedIdentifier(),
    "worker": Identifier(),
    "topic": Identifier(),
    "style": AddressedIdentifier(100),
    "query_answerable": _ternary,
    "query_controversial": _ternary,
    "worker_knowledge": _likert,
    "worker_expertise": _likert,
    "worker_satisfaction": _ternary,
    "references_quality": _likert,
    "references_extra": _likert,
    "references_omission": _ternary,
}
SNAPSHOT = {
    "response": Identifier(),
    "topic": Identifier(),
    "style": Identifier(100),
    "timestamp": milliseconds(),
    "text": Text(blank=True),
}
# Extension of the published layout: author of the response or judgment, if it is not the published model.
_AUTHOR = {"model": Optional(Identifier()), "system": Optional(Identifier())}
MODEL_RESPONSE = {
    "response": AddressedIdentifier(),
    "topic": Identifier(),
    "style": AddressedIdentifier(100),
    "text": Text(blank=True),
    **_AUTHOR,
}
_PAIR = {"query_id": Identifier(), "response_a": Identifier(), "response_b": Identifier()}
VOTE = {
    "submission_id": Identifier(),
    "worker": Identifier(),
    "item_index": Whole(0, 32_767),
    **_PAIR,
    **dict.fromkeys(RAW_NAMES, _choice),
}
POINTWISE_RATING = {
    "submission_id": Identifier(),
    "submitted_at": Optional(milliseconds()),
    "worker": Identifier(),
    "query_id": Identifier(),
    "response": Identifier(),
    **dict.fromkeys(NAMES, _rating),
}
FACT = {
    "worker": Optional(Identifier()),
    "submission": Identifier(),
    "time_taken": Optional(Number(0)),
    "approvals": Optional(Whole(0, MAX_INTEGER)),
}
EXPERT_VOTE = {
    "submission_id": Identifier(),
    "prolific_pid": Identifier(),
    "slide": Whole(0, 32_767),
    **_PAIR,
    **dict.fromkeys(RAW_NAMES, _choice),
}
_JUDGE = {"model": Optional(Identifier())}
# A model's seven questions: numbered if asked together, named if asked one by one.
QUESTIONS = {name: (f"Q{n}", name) for n, name in enumerate(NAMES, 1)}
_ratings: dict[str, Field] = {}
for _keys in QUESTIONS.values():
    for _key in _keys:
        _ratings |= {f"{_key}_rating": _choice, f"{_key}_justification": Optional(Text(blank=True))}
MODEL_VOTE_RAW = {**_PAIR, **_JUDGE, "ratings": Object(_ratings)}
MODEL_VOTE = {
    **_PAIR,
    **_JUDGE,
    "inference": OneOf(("combined", "individual")),
    **dict.fromkeys(NAMES, _choice),
}
_PASSAGES = {"references_ids": ListOf(Identifier(300)), "references_texts": ListOf(Text())}
PARSED_RESPONSE = {
    "response": AddressedIdentifier(),
    "topic": Identifier(),
    "style": AddressedIdentifier(100),
    "kind": OneOf(("human", "llm")),
    "query": Text(),
    **_PASSAGES,
    "raw_text": Optional(Text(blank=True)),
    "text": Optional(Text(blank=True)),
    **_AUTHOR,
}
