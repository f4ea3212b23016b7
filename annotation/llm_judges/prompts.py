"""Prompts of model judges: versioned texts with placeholders for each item."""

import re
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final

from django.db import transaction

from crowdrag.llm import prompt_delimiters
from crowdrag.studies.models import Study
from writing.corpus import versions
from writing.corpus.imports import bulk
from writing.llm_writers import prompts as writing_prompts
from writing.llm_writers.prompts import BadPromptError

from ..campaign_types.shown_items import ShownItem
from ..judging.questionnaire_content import Question
from ..models import JudgingPrompt

__all__ = ["BadPromptError", "check", "default_text", "ensure", "fill", "for_models", "latest_text"]

NAME: Final = "judging"
# The allowed placeholders of a prompt.
PLACES: Final = ("instructions", "query", "questions", "form", "responses")
NEEDED: Final = ("query", "questions", "form", "responses")

DEFAULT: Final = """\
You judge responses to a query.

{instructions}

Query: {query}

{questions}

{form}

{responses}

Answer now, in the form described above."""

# Phrases that apply only to people: keys and buttons, checks, comments, time, pay.
FOR_PEOPLE: Final = re.compile(
    writing_prompts.AT_THE_EDITOR.pattern
    + r"|\bpress(?:ing)?\b|\b(?:a|the|arrow|number|letter|same)\s+keys?\b|\bkeyboard\b|\bbuttons?\b|\bclick\w*\b"
    r"|\btap\b|\bscroll\w*\b|\bdots\b|\bon a (?:phone|computer)\b|\bquestionnaires?\b|\bsubmit\w*\b"
    r"|\bhand(?:ing)? it in\b|\b(?:leave|write|any|your|for) (?:a )?comments?\b|\battention (?:checks?|questions?)\b"
    r"|\bconsent\w*\b|\b(?:is|are|be) saved\b|\b\d+ minutes\b|\bpaid\b|\bpayment\b|\btake a break\b"
    r"|\bother (?:people|judges)\b|\bon (?:the|your) (?:left|right)\b|\bto pay you\b|\byour work\b"
    r"|\bdecides each case\b|\byou finish(?:ed)?\b|\bthe page has\b|\bshortcuts?\b|\bat the top\b",
    re.IGNORECASE,
)
_PLACE = re.compile(r"\{(\w+)\}")
#: A heading of the second level without any text below it.
_EMPTY_SECTION = re.compile(r"^## [^\n]*+\s*+(?=^## |\Z)", re.MULTILINE)


def default_text(_study: Study) -> str:
    """Return the default prompt, which uses the campaign's instructions and questions."""
    return DEFAULT


def latest_text(study: Study) -> str:
    """Return the latest version of the study's prompt, or the default."""
    latest = versions.current(JudgingPrompt, study=study, names=[NAME]).get(NAME)
    return latest.text if latest is not None else default_text(study)


@transaction.atomic
def ensure(*, study: Study, text: str, now: datetime) -> JudgingPrompt:
    """Return the version of the study's prompt with this text; create it if it is missing.

    Raises
    ------
    BadPromptError
    """
    text = text.replace("\r\n", "\n").strip()
    check(text)
    bulk.lock_imports(study)  # version numbers must be assigned one at a time
    return versions.ensure(JudgingPrompt, study=study, name=NAME, now=now, text=text)[0]


def check(text: str) -> None:
    """Refuse a prompt that lacks a required placeholder or has an unknown one.

    Raises
    ------
    BadPromptError
    """
    writing_prompts.check_places(text, needed=NEEDED, places=PLACES)


def for_models(markdown: str) -> str:
    """Return a campaign's instructions without what applies only to people."""
    kept = writing_prompts.for_models(markdown, for_people=FOR_PEOPLE)
    with_text = _EMPTY_SECTION.sub("", kept)
    return re.sub(r"\n{3,}", "\n\n", with_text).strip()


def fill(
    text: str,
    *,
    shown: ShownItem,
    instructions: str,
    questions: Sequence[Question],
    justify: bool,
    is_fenced: bool = True,
) -> str:
    """Return the prompt for an item. Responses are not trusted, so they are delimited as data.

    `instructions` come from `for_models`. Without the fence the responses are not delimited, to measure the costs and
    benefits of the delimiters.
    """
    query = f"{shown.query}\n\n{shown.narrative}" if shown.narrative else shown.query
    comes = {
        "instructions": instructions,
        "query": query,
        "questions": questions_text(tuple(questions)),
        "form": form_text(tuple(questions), justify=justify),
        "responses": _responses(shown, is_fenced=is_fenced),
    }
    # Remove the empty line if there are no instructions. A single pass, because the inserted texts may contain braces.
    if not instructions:
        text = re.sub(r"\{instructions\}\s*", "", text)
    return _PLACE.sub(lambda place: comes[place[1]], text)


# Cached, because the same few questions are asked about thousands of items.
@lru_cache(maxsize=64)
def questions_text(questions: tuple[Question, ...]) -> str:
    """Return the questions with descriptions and options, with the same wording that people see."""
    return "\n\n".join(_question_text(number, one) for number, one in enumerate(questions, start=1))


@lru_cache(maxsize=64)
def form_text(questions: tuple[Question, ...], *, justify: bool) -> str:
    """Return the instructions on the format of the answer."""
    parts = []
    for number, one in enumerate(questions, start=1):
        reasoned = one.asks_justification or justify
        option = '"<option>"'
        parts.append(f'"q{number}": ' + (f'{{"answer": {option}, "justification": "<why>"}}' if reasoned else option))
    text = "Reply with one JSON object and nothing else: " + "{" + ", ".join(parts) + "}. "
    text += "Each <option> is one of the options of that question, word for word."
    if any(one.asks_justification or justify for one in questions):
        text += " Each <why> says in one or two sentences what decided it."
    return text


def key_of(number: int) -> str:
    """Return the key of a question's answer; questions count from 1."""
    return f"q{number}"


def options_of(question: Question) -> dict[str, int]:
    """Return the options by label; equal labels are followed by the value in parentheses."""
    labels = [option.label for option in question.options]
    return {
        option.label if labels.count(option.label) == 1 else f"{option.label} ({option.value})": option.value
        for option in question.options
    }


def _question_text(number: int, question: Question) -> str:
    options = ", ".join(f'"{words}"' for words in options_of(question))
    description = f"\n{question.description}" if question.description else ""
    return f"{key_of(number)}. {question.text}{description}\n" + f"Options: {options}"


def _responses(shown: ShownItem, *, is_fenced: bool) -> str:
    named = [(side.title or f"Response {side.name}".strip(), side.text) for side in shown.sides]
    if not is_fenced:
        return "\n\n".join(f"{name}:\n{text}" for name, text in named)
    fence = prompt_delimiters.delimit(shown.query, *(text for _name, text in named), purpose="judge")
    return "\n\n".join([fence.note, *(fence.wrap(text, name) for name, text in named), fence.reminder])
