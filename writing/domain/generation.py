"""A language model writes a response: the same instructions and passages that people get, through the gateway."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from django.db import transaction

from analysis.text import statements
from crowdrag.llm.domain import fences, gateway
from crowdrag.llm.models import Endpoint
from crowdrag.studies.enums import ParticipantKind
from crowdrag.studies.models import Participant, Study

from ..enums import Origin
from ..models import Response, Style, Topic
from . import responses

# External ids of generated responses follow from what was asked, so that a resumed run writes nothing twice.
NAMESPACE = UUID("5f9ab41c-6d0c-5d0b-8a55-6a0d1f6b9a11")

# Some warmth, and a penalty on repeating itself, which very small models need.
PARAMETERS = {"temperature": 0.4, "frequency_penalty": 0.6, "max_tokens": 900, "seed": 0}

PROMPT = """You write a response to a query from retrieved passages.

Query: {query}

{instructions}

Write about {words} words in statements of one or two sentences. After each statement name the numbers of the passages
that support it. Use only what the passages say, in your own words, and never refer to the passages as such."""

TASK = "Write the response to this query now: {query}"


class NoAnswerError(RuntimeError):
    """The model gave no usable answer; what it said is kept with the call."""


@dataclass(frozen=True)
class Slot:
    """What is to be written: one topic in one style, with the topic's passages in rank order."""

    topic: Topic
    style: Style
    passages: tuple[str, ...]


def slot(*, topic: Topic, style: Style) -> Slot:
    """Return a slot with the passages of its topic."""
    texts = topic.retrieved.order_by("rank").values_list("passage__text", flat=True)
    return Slot(topic=topic, style=style, passages=tuple(texts))


def empty_slots(*, study: Study, styles: Sequence[Style]) -> list[tuple[Topic, Style]]:
    """Return topic and style of each slot for which no person wrote, topics in order."""
    people = Response.objects.filter(study=study, origin=Origin.HUMAN)
    written = set(people.values_list("topic__external_id", "style__name"))
    topics = Topic.objects.filter(study=study).current().order_by("external_id", "id")
    return [(topic, style) for topic in topics for style in styles if (topic.external_id, style.name) not in written]


def request(*, slot: Slot, sample: int = 0) -> gateway.Request:
    """Return the question for a slot: passages are data, fenced; the answer's form is a JSON schema."""
    fence = fences.fenced(slot.topic.query, *slot.passages, purpose="write")
    passages = fence.wrap("\n".join(f"[{rank}] {text}" for rank, text in enumerate(slot.passages)), "Passages")
    instructions = PROMPT.format(
        query=slot.topic.query, instructions=slot.style.instructions, words=slot.style.target_words
    )
    # The query once more at the end: a small model has forgotten it after twenty passages.
    task = TASK.format(query=slot.topic.query)
    content = f"{instructions}\n\n{fence.note}\n\n{passages}\n\n{fence.reminder}\n\n{task}"
    return gateway.Request(
        messages=[{"role": "user", "content": content}],
        parameters=PARAMETERS,
        schema=answer_schema(len(slot.passages), slot.style.target_words),
        sample=sample,
    )


def answer_schema(passages: int, words: int) -> dict[str, Any]:
    """Return the schema of an answer: statements with the passages that they cite, as many as the length asks for."""
    many = max(3, round(words / 30))
    statement = {
        "type": "object",
        "properties": {
            "text": {"type": "string", "minLength": 20, "maxLength": 280},
            "citations": {
                "type": "array",
                "items": {"type": "integer", "enum": list(range(passages))},
                "minItems": 1,
                "maxItems": 3,
            },
        },
        "required": ["text", "citations"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"statements": {"type": "array", "items": statement, "minItems": many // 2, "maxItems": many}},
        "required": ["statements"],
        "additionalProperties": False,
    }


def write(*, slot: Slot, endpoint: Endpoint, study: Study) -> Callable[[datetime], Response]:
    """Ask the model for a response; return what stores it.

    Raises
    ------
    NoAnswerError
        If the model refused, said nothing, or did not keep to the form after five attempts.
    """
    [answer] = gateway.complete_many(endpoint=endpoint, requests=[request(slot=slot)], study=study, purpose="write")
    if not answer.ok or not answer.data:
        said = answer.error or answer.refusal or "nothing"
        raise NoAnswerError(
            f"{endpoint.model} gave no response to {slot.topic.external_id} ({slot.style.name}): {said}"
        )
    text = compose(answer.data, slot)
    return lambda now: store(slot=slot, text=text, endpoint=endpoint, study=study, now=now)


def compose(data: dict[str, Any], slot: Slot) -> str:
    """Turn a model's statements into a text with markers; a bullet style gets its dashes."""
    dash = "- " if slot.style.name == "bullet" else ""
    parts = [(dash + " ".join(part["text"].split()).lstrip("-• "), part["citations"]) for part in data["statements"]]
    return statements.compose(parts, passages=len(slot.passages)).text


@transaction.atomic
def store(*, slot: Slot, text: str, endpoint: Endpoint, study: Study, now: datetime) -> Response:
    """Store a generated response; the same slot, model and prompt are stored once."""
    writer = participant(endpoint=endpoint, study=study, now=now)
    name = f"{study.slug}/{writer.external_id}/{slot.topic.external_id}/{slot.style.name}"
    external_id = str(uuid5(NAMESPACE, name))
    if known := Response.objects.filter(study=study, external_id=external_id).first():
        return known
    return responses.submit(
        study=study,
        external_id=external_id,
        topic=slot.topic,
        style=slot.style,
        participant=writer,
        text=text,
        now=now,
    )


def participant(*, endpoint: Endpoint, study: Study, now: datetime) -> Participant:
    """Return the participant that a model is: version, prompt and parameters; another prompt is another participant."""
    asked = hashlib.sha256(f"{PROMPT}{TASK}{sorted(PARAMETERS.items())}".encode()).hexdigest()
    found, _created = Participant.objects.get_or_create(
        study=study,
        kind=ParticipantKind.MODEL,
        external_id=f"{endpoint.model}/{asked[:8]}",
        defaults={
            "created_at": now,
            "specification": {
                "model": endpoint.model,
                "endpoint": endpoint.name,
                "prompt": PROMPT,
                "task": TASK,
                **PARAMETERS,
            },
        },
    )
    return found
