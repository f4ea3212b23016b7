"""The files of the published corpus and the shapes of their records."""

from typing import Final

from annotation.domain.defaults import NAMES
from writing.domain.imports.fields import (
    MAX_INTEGER,
    Identifier,
    Number,
    Object,
    OneOf,
    Optional,
    Text,
    Whole,
    milliseconds,
)

WRITER_MODEL: Final = "gpt-4o-2024-08-06"  # who wrote the models' responses and judged (crowdrag25, 3.1.6 and 3.2.5)
EXPERTS_ANALYSED: Final = frozenset({"annot1", "annot2", "annot4"})

# What each file is called in the corpus, without folder and suffix.
TOPICS = "study1_retrieval"
TASKS = "study1_tasks"
SNAPSHOTS = "study1_responses_human"
MODEL_RESPONSES = "study1_responses_llm"
VOTES = "study2_responses"
POINTWISE = "study2_pointwise"
FACTS = "study2_demographic"
EXPERTS = "expert-response"
MODEL_VOTES_RAW = "llm_ratings_combined"
MODEL_VOTES = "llm_ratings"
LABELS = "ratings"
PARSED = "responses"
FILES = (
    TOPICS, TASKS, SNAPSHOTS, MODEL_RESPONSES, VOTES, POINTWISE, FACTS, EXPERTS,
    MODEL_VOTES_RAW, MODEL_VOTES, LABELS, PARSED,
)  # fmt: skip

CHOICES = {"A": -1, "N": 0, "B": 1}
LOWER_CHOICES = {name.lower(): value for name, value in CHOICES.items()}
SCALE = {-3: -3, -1: -1, 1: 1, 3: 3}

# The raw files call topical correctness validity.
RAW_NAMES = ("validity", *NAMES[1:])
# And the experts' clicks name the dimensions in yet another way.
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
    "response": Identifier(),
    "worker": Identifier(),
    "topic": Identifier(),
    "style": Identifier(100),
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
MODEL_RESPONSE = {"response": Identifier(), "topic": Identifier(), "style": Identifier(100), "text": Text(blank=True)}
_PAIR = {"query_id": Identifier(), "response_a": Identifier(), "response_b": Identifier()}
VOTE = {
    "submission_id": Identifier(),
    "worker": Identifier(),
    "item_index": Whole(0, 32_767),
    **_PAIR,
    **{name: OneOf(CHOICES) for name in RAW_NAMES},
}
POINTWISE_RATING = {
    "submission_id": Identifier(),
    "submitted_at": Optional(milliseconds()),
    "worker": Identifier(),
    "query_id": Identifier(),
    "response": Identifier(),
    **{name: OneOf(SCALE) for name in NAMES},
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
    **{name: OneOf(CHOICES) for name in RAW_NAMES},
}
_ratings: dict[str, OneOf | Optional] = {}
for _n in range(1, 8):
    _ratings |= {f"Q{_n}_rating": OneOf(CHOICES), f"Q{_n}_justification": Optional(Text(blank=True))}
MODEL_VOTE_RAW = {**_PAIR, "ratings": Object(_ratings)}
MODEL_VOTE = {
    **_PAIR,
    "inference": OneOf(("combined", "individual")),
    **{name: OneOf(LOWER_CHOICES) for name in NAMES},
}
