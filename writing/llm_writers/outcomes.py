"""Classify a model's answer, and store it and its response once.

All answers are kept: those that are not responses are marked.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID, uuid5

from analysis.text import statements
from analysis.text import words as text_words
from crowdrag.jobs.models import Run
from crowdrag.llm.gateway import Answer
from crowdrag.studies.models import Participant

from ..corpus import responses
from ..enums import LONGEST_TEXT, AnswerOutcome
from ..models import ModelAnswer, Response
from .targets import Slot
from .writer import AnswerForm

# An answer is overlong from this multiple of the target length in words.
OVERLONG: Final = 2.0
FILTERED: Final = "content_filter"

# A refusal in words (some servers do not mark refusals): a short answer without citations that begins like this. The
# patterns are narrow on purpose: a response mistaken for a refusal is lost to the analysis, but readers notice a
# refusal mistaken for a response.
SHORT: Final = 80
_REFUSALS: Final = re.compile(
    r"""(?:(?:i['’]m|i\ am)\ (?:very\ |so\ )?sorry\b|sorry,|(?:my\ )?apologies\b|unfortunately,\ i\b
        |i\ (?:cannot|can['’]?t|can\ not|won['’]t|will\ not|must\ decline)\b
        |(?:i['’]m|i\ am)\ (?:unable|not\ able)\ to\b
        |as\ an?\ (?:ai|artificial\ intelligence|(?:large\ )?language\ model)\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_LEAD = " \t\n\"'“”‘’*_#>"
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True)
class Outcome:
    """The outcome of an answer, and its text: the response, or what the model said instead."""

    outcome: AnswerOutcome
    text: str
    words: int

    def is_response(self, *, accept_overlong: bool) -> bool:
        """Return whether the answer becomes a response."""
        return self.outcome == AnswerOutcome.WRITTEN or (self.outcome == AnswerOutcome.OVERLONG and accept_overlong)


def classify(answer: Answer, *, slot: Slot, form: str, words: int, overlong: float = OVERLONG) -> Outcome:
    """Classify an answer."""
    answer_text = clean(answer.text or "")
    if answer.refusal is not None:
        return _outcome(AnswerOutcome.REFUSED, clean(answer.refusal) or answer_text)
    if answer.finish_reason == FILTERED:
        return _outcome(AnswerOutcome.REFUSED, answer_text)
    if answer.fault:
        return _outcome(AnswerOutcome.FAILED, answer_text or clean(answer.error))
    text = compose(answer.data, slot) if form == AnswerForm.STATEMENTS else answer_text
    parsed = statements.parse(text, passages=len(slot.passages))
    if not parsed.words or not any(statement.body for statement in parsed.statements):
        return _outcome(AnswerOutcome.EMPTY, text)
    if form == AnswerForm.TEXT and is_refusal(text, parsed):
        return _outcome(AnswerOutcome.REFUSED, text)
    if len(text) > LONGEST_TEXT:
        return _outcome(AnswerOutcome.FAILED, text)
    if text_words.is_degenerate(text):
        return Outcome(AnswerOutcome.BROKEN, text, parsed.words)
    if answer.is_cut or parsed.words > overlong * words:
        return Outcome(AnswerOutcome.OVERLONG, text, parsed.words)
    return Outcome(AnswerOutcome.WRITTEN, text, parsed.words)


def is_refusal(text: str, parsed: statements.ParsedResponse) -> bool:
    """Return whether a text is a refusal in words: short, without citations, with a typical beginning."""
    return parsed.words < SHORT and not parsed.cited_passages and bool(_REFUSALS.match(text.lstrip(_LEAD)))


def compose(data: Any, slot: Slot) -> str:
    """Compose a text with citation markers from a model's statements; the bullet style gets dashes."""
    dash = "- " if slot.style.name == "bullet" else ""
    parts = [(dash + " ".join(part["text"].split()).lstrip("-• "), part["citations"]) for part in data["statements"]]
    return clean(statements.compose(parts, passages=len(slot.passages)).text)


def clean(text: str) -> str:
    """Return a text that can be stored: without NUL and lone surrogates, with line feeds as line ends, stripped."""
    return _UNSTORABLE.sub("\ufffd", text).replace("\r\n", "\n").replace("\r", "\n").strip()


def _outcome(outcome: AnswerOutcome, text: str) -> Outcome:
    return Outcome(outcome, text, statements.count_words(text))


# External IDs of responses are derived from writer and slot, so that repeated work stores nothing twice.
NAMESPACE = UUID("5f9ab41c-6d0c-5d0b-8a55-6a0d1f6b9a11")


def store_answer(
    *, run: Run, slot: Slot, participant: Participant, outcome: Outcome, accept_overlong: bool, now: datetime
) -> ModelAnswer:
    """Store an answer and, if it is a response, the response. Must be called in a transaction."""
    response = None
    if outcome.is_response(accept_overlong=accept_overlong):
        response = _response(run=run, slot=slot, participant=participant, text=outcome.text, now=now)
    answer, _made = ModelAnswer.objects.get_or_create(
        run=run,
        topic=slot.topic,
        style=slot.style,
        defaults={
            "participant": participant,
            "outcome": outcome.outcome,
            "text": outcome.text,
            "words": outcome.words,
            "response": response,
            "answered_at": now,
        },
    )
    return answer


def _response(*, run: Run, slot: Slot, participant: Participant, text: str, now: datetime) -> Response:
    """Store a response, only once for each writer and slot, even across runs."""
    name = f"{run.study.slug}/{participant.external_id}/{slot.topic.external_id}/{slot.style.name}"
    external_id = str(uuid5(NAMESPACE, name))
    if known := Response.objects.filter(study=run.study, external_id=external_id).first():
        return known
    return responses.submit(
        study=run.study,
        external_id=external_id,
        topic=slot.topic,
        style=slot.style,
        participant=participant,
        text=text,
        now=now,
    )
