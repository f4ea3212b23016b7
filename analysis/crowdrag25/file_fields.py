"""Paths of the files of the published layout, and the data dictionary for the manifest."""

from collections.abc import Iterable
from typing import Any

from annotation.campaign_types.default_dimensions import NAMES
from annotation.imports.crowdrag25 import record_schemas

ARTIFACTS = {record_schemas.MODEL_VOTES, record_schemas.LABELS, record_schemas.PARSED}
Meanings = dict[str, tuple[str, str]]

_RESPONSE = ("text", "The response's ID.")
_TOPIC = ("text", "The topic's ID.")
_STYLE = ("text", "The name of the style.")
_WORKER = ("text", "The participant's pseudonym.")
_PASSAGES: Meanings = {
    "references_ids": (
        "list of text",
        "The IDs of the topic's passages by rank. Citation markers count from 0.",
    ),
    "references_texts": ("list of text", "The texts of these passages."),
}
_PAIR: Meanings = {
    "query_id": _TOPIC,
    "response_a": ("text", "The ID of the left response."),
    "response_b": ("text", "The ID of the right response."),
}
# Additions to the published layout, written only if they apply.
_JUDGE: Meanings = {"model": ("text or absent", f"The model that judged. Absent: {record_schemas.WRITER_MODEL}.")}
_AUTHOR: Meanings = {
    "model": (
        "text or absent",
        f"The model that wrote it. Absent: a person, a RAG system, or {record_schemas.WRITER_MODEL}.",
    ),
    "system": ("text or absent", "The RAG system that wrote it. Absent: none."),
}
_VOTES: Meanings = {
    name: ("A, N, B or null", f"Which response is better on {dimension}: left, neither, right.")
    for name, dimension in zip(record_schemas.RAW_NAMES, NAMES, strict=True)
}


def _ratings() -> Meanings:
    meanings: Meanings = {
        "submission_id": ("text or null", "The questionnaire with the pair."),
        **_PAIR,
        "worker": ("list of text", "The voters' pseudonyms, in the order of the votes."),
    }
    for name in NAMES:
        meanings |= {
            f"{name}_vote": ("list of A, N, B or null", f"Their votes on {name}. Null: no included vote."),
            f"{name}_spam_probability": ("list of number or null", f"The spam probability of each voter on {name}."),
            f"{name}_p_a": ("number or null", "The probability that the left response is better."),
            f"{name}_p_n": (
                "number or null",
                "The probability that neither is better. Absent if this option was not offered.",
            ),
            f"{name}_p_b": ("number or null", "The probability that the right response is better."),
            f"{name}_gold": ("a, n, b or null", "The most probable label."),
        }
    return meanings


FILES: dict[str, tuple[str, Meanings]] = {
    record_schemas.TOPICS: ("A topic.", {"topic": _TOPIC, "query": ("text", "The query."), **_PASSAGES}),
    record_schemas.TASKS: (
        "A writing task by a person.",
        {
            "response": _RESPONSE,
            "worker": _WORKER,
            "topic": _TOPIC,
            "style": _STYLE,
            "query_answerable": ("1, 0, -1 or null", "Can the query be answered? yes, maybe, no."),
            "query_controversial": ("1, 0, -1 or null", "Is the topic controversial? yes, maybe, no."),
            "worker_knowledge": ("1 to 5 or null", "The writer's knowledge of the topic."),
            "worker_expertise": ("1 to 5 or null", "The writer's expertise."),
            "worker_satisfaction": ("1, 0, -1 or null", "Is the writer satisfied with the response? yes, maybe, no."),
            "references_quality": ("1 to 5 or null", "How adequate the passages were."),
            "references_extra": ("1 to 5 or null", "How much of their own knowledge the writer used."),
            "references_omission": ("1, 0, -1 or null", "Was information in the passages left out? yes, maybe, no."),
        },
    ),
    record_schemas.SNAPSHOTS: (
        "The state of a text during writing. The last state is the response.",
        {
            "response": _RESPONSE,
            "topic": _TOPIC,
            "style": _STYLE,
            "timestamp": ("whole number", "The time, in milliseconds since 1970-01-01 UTC."),
            "text": ("text", "The text at that time."),
        },
    ),
    record_schemas.MODEL_RESPONSES: (
        "A response by a language model or a RAG system.",
        {"response": _RESPONSE, "topic": _TOPIC, "style": _STYLE, "text": ("text", "The response."), **_AUTHOR},
    ),
    record_schemas.VOTES: (
        "One participant's votes on one pair, as it was presented.",
        {
            "submission_id": ("text", "The questionnaire."),
            "worker": _WORKER,
            "item_index": ("whole number", "The position of the pair in the questionnaire."),
            **_PAIR,
            **_VOTES,
        },
    ),
    record_schemas.POINTWISE: (
        "One participant's ratings of one response. Rows of a submission are in the order of its items.",
        {
            "submission_id": ("text", "The questionnaire."),
            "submitted_at": ("whole number or null", "The time, in milliseconds since 1970-01-01 UTC."),
            "worker": _WORKER,
            "query_id": _TOPIC,
            "response": ("text", "The source's name of the response."),
            **{name: ("-3, -1, 1, 3 or null", f"The rating on {name}, from worst to best.") for name in NAMES},
        },
    ),
    record_schemas.FACTS: (
        "A platform's record of one submission.",
        {
            "worker": ("text or null", "The participant's pseudonym. Null: not known."),
            "submission": ("text", "The submission's ID."),
            "time_taken": ("number or null", "The duration, in seconds."),
            "approvals": ("whole number or null", "Number of the person's earlier approved submissions."),
        },
    ),
    record_schemas.EXPERTS: (
        "ONE object: column -> {row number: value}. A row is one expert's votes on one pair.",
        {
            "submission_id": ("text", "The questionnaire."),
            "prolific_pid": ("text", "The expert's pseudonym."),
            **_PAIR,
            **_VOTES,
            "timestamps": ("object", "The time of the last change of each answer (ISO 8601)."),
            "slide": ("whole number", "The position of the pair in the questionnaire."),
        },
    ),
    record_schemas.COMBINED_VOTES: (
        "A model's judgment of one presented pair, all dimensions at once.",
        {
            **_PAIR,
            **_JUDGE,
            "ratings": (
                "object",
                f"Q1_rating to Q7_rating (A, N or B) and Q1_justification to Q7_justification, for {', '.join(NAMES)}.",
            ),
        },
    ),
    record_schemas.INDIVIDUAL_VOTES: (
        "A model's judgment of one presented pair, one dimension at a time.",
        {
            **_PAIR,
            **_JUDGE,
            "ratings": (
                "object",
                "For each judged dimension: its name with _rating (A, N or B) and with _justification.",
            ),
        },
    ),
    record_schemas.MODEL_VOTES: (
        "A model's judgment of one presented pair.",
        {
            **_PAIR,
            **_JUDGE,
            "inference": ("combined or individual", "The prompt type: all dimensions at once, or one at a time."),
            **{
                name: ("a, n, b or null", f"Which response is better on {name}: left, neither, right.")
                for name in NAMES
            },
        },
    ),
    record_schemas.LABELS: (
        "One presented pair with its votes and labels, from the study's latest analysis.",
        _ratings(),
    ),
    record_schemas.PARSED: (
        "A response as a list of statements.",
        {
            "response": _RESPONSE,
            "topic": _TOPIC,
            "style": _STYLE,
            "kind": ("human or llm", "The kind of author."),
            "query": ("text", "The topic's query."),
            **_PASSAGES,
            "raw_text": ("text", "The response with its markers, as submitted."),
            "cleaned_text": ("text", "The response without markers."),
            "statements": ("list of objects", "The text, and citations: the IDs of the cited passages."),
            **_AUTHOR,
        },
    ),
}


def path(name: str) -> str:
    """Return the path of a file."""
    return f"{'artifacts' if name in ARTIFACTS else 'raw'}/{name}.jsonl.gz"


def of_files(paths: Iterable[str]) -> dict[str, Any]:
    """Return the data dictionary of these files."""
    files = {path(name): about for name, about in FILES.items()}
    return {
        file_path: {
            "meaning": files[file_path][0],
            "fields": [
                {"name": name, "type": kind, "nullable": kind.endswith(("null", "absent")), "meaning": meaning}
                for name, (kind, meaning) in files[file_path][1].items()
            ],
        }
        for file_path in paths
    }
