"""A model as a judge: endpoint, prompt, parameters, and its request for an item."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from crowdrag.llm import gateway
from crowdrag.llm.models import Endpoint
from crowdrag.studies.enums import ParticipantKind
from crowdrag.studies.models import Participant, Study

from ..campaign_types.shown_items import ShownItem
from ..enums import Inference
from ..judging import questionnaire_content
from ..judging.questionnaire_content import Question
from ..models import Campaign, JudgingPrompt
from . import prompts

# Temperature 0, as in the paper (crowdrag25, 3.2.5).
PARAMETERS: Final[Mapping[str, Any]] = {"temperature": 0}
LONGEST_JUSTIFICATION: Final = 600
# Allowance beyond the longest answer that fits the schema, for whitespace.
SPARE_TOKENS: Final = 32
TOKENS_OF_A_JUSTIFICATION: Final = 200
LONGEST_NAME: Final = 190


@dataclass(frozen=True)
class CampaignQuestions:
    """A campaign's instructions and questions, as shown to models."""

    instructions: str
    questions: tuple[Question, ...]

    def parts(self, inference: str) -> list[tuple[Question, ...]]:
        """Return the questions of each call: all together, or one per call."""
        return [self.questions] if inference == Inference.COMBINED else [(one,) for one in self.questions]


def questions_of_campaign(campaign: Campaign) -> CampaignQuestions:
    """Return a campaign's instructions and questions, from the same source as people's pages."""
    instructions = prompts.for_models(campaign.instructions.text) if campaign.instructions is not None else ""
    return CampaignQuestions(instructions, questionnaire_content.questions(campaign))


@dataclass(frozen=True)
class Judge:
    """A version of a model with a prompt and parameters: one participant.

    Whether questions are asked together or one by one is not part of it, so that both can be compared for the same
    judge.
    """

    endpoint: Endpoint
    prompt: JudgingPrompt
    justify: bool = False
    parameters: Mapping[str, Any] = field(default_factory=lambda: dict(PARAMETERS))

    @property
    def specification(self) -> dict[str, Any]:
        """What is stored with the participant: enough to repeat the requests."""
        return {
            "task": "judge",
            "model": self.endpoint.model,
            "endpoint": self.endpoint.name,
            "prompt": self.prompt.text,
            "prompt_version": str(self.prompt),
            "justify": self.justify,
            "parameters": dict(self.parameters),
        }

    @property
    def external_id(self) -> str:
        """The participant's id: the model's name and a digest of everything that affects its answers."""
        decides = {key: value for key, value in self.specification.items() if key != "prompt_version"}
        digest = hashlib.sha256(json.dumps(decides, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
        return f"{self.endpoint.model[:LONGEST_NAME]}/{digest[:8]}"

    def text(
        self,
        *,
        shown: ShownItem,
        campaign_questions: CampaignQuestions,
        questions: Sequence[Question],
        is_fenced: bool = True,
    ) -> str:
        """Return the prompt for an item, exactly as it is sent."""
        return prompts.fill(
            self.prompt.text,
            shown=shown,
            instructions=campaign_questions.instructions,
            questions=questions,
            justify=self.justify,
            is_fenced=is_fenced,
        )

    def request(
        self,
        *,
        shown: ShownItem,
        campaign_questions: CampaignQuestions,
        questions: Sequence[Question],
        repeat: int = 0,
        is_fenced: bool = True,
    ) -> gateway.Request:
        """Return the call that asks these questions about an item; `repeat` counts repetitions of the same request."""
        text = self.text(shown=shown, campaign_questions=campaign_questions, questions=questions, is_fenced=is_fenced)
        return gateway.Request(
            [{"role": "user", "content": text}],
            parameters={"max_tokens": max_tokens(tuple(questions), justify=self.justify)} | dict(self.parameters),
            schema=answer_schema(tuple(questions), justify=self.justify),
            sample=repeat,
        )

    def participant(self, *, study: Study, now: datetime) -> Participant:
        """Return the judge's participant in a study; create it if it is missing."""
        participant, _created = Participant.objects.get_or_create(
            study=study,
            kind=ParticipantKind.MODEL,
            external_id=self.external_id,
            defaults={"created_at": now, "specification": self.specification},
        )
        return participant

    def wrote(self, participant: Participant) -> bool:
        """Return whether a participant that wrote a response is the same model, regardless of the prompt."""
        if participant.kind != ParticipantKind.MODEL:
            return False
        named = participant.specification.get("model") or participant.external_id
        return bool(named == self.endpoint.model)


# Cached, because the same few questions are asked about thousands of items.
@lru_cache(maxsize=64)
def answer_schema(questions: tuple[Question, ...], *, justify: bool) -> Mapping[str, Any]:
    """Return the schema of an answer: one of its options for each question, with a justification where one is asked."""
    properties: dict[str, Any] = {}
    for number, question in enumerate(questions, start=1):
        option = {"type": "string", "enum": list(prompts.options_of(question))}
        properties[prompts.key_of(number)] = (
            {
                "type": "object",
                "properties": {
                    "answer": option,
                    "justification": {"type": "string", "minLength": 1, "maxLength": LONGEST_JUSTIFICATION},
                },
                "required": ["answer", "justification"],
                "additionalProperties": False,
            }
            if question.asks_justification or justify
            else option
        )
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


@lru_cache(maxsize=64)
def max_tokens(questions: tuple[Question, ...], *, justify: bool) -> int:
    """Return the maximum number of tokens of an answer: tokens never outnumber the bytes of a text."""
    tokens = SPARE_TOKENS
    for number, question in enumerate(questions, start=1):
        words = max((len(words.encode()) for words in prompts.options_of(question)), default=0)
        tokens += len(prompts.key_of(number)) + words + 12
        if question.asks_justification or justify:
            tokens += TOKENS_OF_A_JUSTIFICATION + 40
    return tokens
