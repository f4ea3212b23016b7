"""A model as a writer: endpoint, prompt, answer format, parameters."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from django.db import models

from crowdrag.llm import gateway
from crowdrag.llm.models import Endpoint
from crowdrag.studies.enums import ParticipantKind
from crowdrag.studies.models import Participant, Study

from ..models import Style, WritingPrompt
from . import prompts
from .targets import Slot

# Tokens for each requested word, including citations and markup; enough for answers of twice the length.
TOKENS_PER_WORD: Final = 4
LEAST_TOKENS: Final = 64


class AnswerForm(models.TextChoices):
    """The format of a model's answer."""

    TEXT = "text", "text with citation markers, as people write"
    STATEMENTS = "statements", "statements with their citations, as JSON"


@dataclass(frozen=True)
class Writer:
    """A model version with one prompt and one set of parameters, which is one participant.

    `words` replaces the target length of the style; `parameters` are those of the server (temperature, seed, ...).
    """

    endpoint: Endpoint
    prompt: WritingPrompt
    form: str
    words: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def specification(self) -> dict[str, Any]:
        """The specification stored with the participant: enough to repeat the requests."""
        return {
            "model": self.endpoint.model,
            "endpoint": self.endpoint.name,
            "prompt": self.prompt.text,
            "prompt_version": str(self.prompt),
            "form": str(self.form),
            "words": self.words,
            "parameters": dict(self.parameters),
        }

    @property
    def external_id(self) -> str:
        """The participant's ID: the model's name and a digest of everything that determines its responses."""
        decides = {key: value for key, value in self.specification.items() if key != "prompt_version"}
        digest = hashlib.sha256(json.dumps(decides, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
        return f"{self.endpoint.model}/{digest[:8]}"

    def target(self, style: Style) -> int:
        """Return the target length in words."""
        return self.words or style.target_words

    def text(self, slot: Slot) -> str:
        """Return the prompt for a slot as sent."""
        return prompts.fill(self.prompt.text, slot=slot, form=self.form, words=self.target(slot.style))

    def request(self, slot: Slot) -> gateway.Request:
        """Return the request for a slot."""
        words = self.target(slot.style)
        parameters = {"max_tokens": max(LEAST_TOKENS, TOKENS_PER_WORD * words)} | dict(self.parameters)
        schema = answer_schema(len(slot.passages), words) if self.form == AnswerForm.STATEMENTS else None
        return gateway.Request([{"role": "user", "content": self.text(slot)}], parameters=parameters, schema=schema)

    def participant(self, *, study: Study, now: datetime) -> Participant:
        """Return the writer's participant in a study; create it if needed."""
        participant, _created = Participant.objects.get_or_create(
            study=study,
            kind=ParticipantKind.MODEL,
            external_id=self.external_id,
            defaults={"created_at": now, "specification": self.specification},
        )
        return participant


def answer_schema(passages: int, words: int) -> dict[str, Any]:
    """Return the JSON schema of an answer: statements with cited passages, limited by the target length."""
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
