"""Prompts for models as writers: versioned texts with placeholders for topic and style."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from django.db import transaction

from crowdrag.llm import prompt_delimiters
from crowdrag.studies.models import Study

from ..corpus import versions
from ..corpus.imports import bulk
from ..models import WritingPrompt
from ..plans import services
from .targets import Slot

NAME: Final = "writing"
# The placeholders of a prompt, which are written in braces.
PLACES: Final = ("query", "style", "words", "citing", "passages")
NEEDED: Final = ("query", "passages")

DEFAULT: Final = """\
You write a response to a query from retrieved passages.

Query: {query}

{instructions}{style}

Write about {words} words. {citing}

Use only what the passages say, in your own words, and never refer to the passages as such.

{passages}

Write the response to this query now: {query}"""

# The instructions for citing passages, by answer format.
CITING: Final = {
    "text": (
        "Right behind each statement put the numbers of the passages that support it in brackets: [0], or [3, 7] for "
        "several. Answer with the response alone."
    ),
    "statements": (
        "Write in statements of one or two sentences. After each statement name the numbers of the passages that "
        "support it."
    ),
}

# Sentences that forbid writers to use a language model.
_BAN = re.compile(
    r"\b(?:do not|don't|never|must not|may not|without)\b[^.!?\n]{0,60}"
    r"\b(?:language models?|LLMs?|chat ?bots?|ChatGPT|AI|artificial intelligence)\b",
    re.IGNORECASE,
)
# Sentences that concern only people: the editor's button, continuing later, the surveys, pay.
AT_THE_EDITOR = re.compile(
    r"\bpress(?:ing)?\s+the\s+button\b|\byou\s+can\s+leave\s+and\s+come\s+back\b|\bwe\s+ask\s+a\s+few\s+questions\b"
    r"|\bwhat\s+it\s+pays\b|\b(?:accepted\s+and|is|are|be|get)\s+paid\b",
    re.IGNORECASE,
)
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")
_PLACE = re.compile(r"\{(\w+)\}")


class BadPromptError(ValueError):
    """The prompt is invalid: a placeholder is missing or unknown."""


def default_text(study: Study) -> str:
    """Return the default prompt: the instructions of the plan and the styles, adapted for models."""
    plan = services.get_plan(study)
    instructions = (
        for_models(plan.instructions.text).strip() if plan is not None and plan.instructions is not None else ""
    )
    # Braces in a study's own text are not placeholders.
    instructions = _PLACE.sub(r"(\1)", instructions)
    return DEFAULT.replace("{instructions}", f"{instructions}\n\n" if instructions else "")


@transaction.atomic
def ensure(*, study: Study, text: str, now: datetime) -> WritingPrompt:
    """Return the version of the study's prompt with this text.

    Raises
    ------
    BadPromptError
    """
    text = text.replace("\r\n", "\n").strip()
    check(text)
    bulk.lock_imports(study)  # concurrent changes create two versions
    return versions.ensure(WritingPrompt, study=study, name=NAME, now=now, text=text)[0]


def latest_text(study: Study) -> str:
    """Return the latest prompt, or the default."""
    latest = versions.current(WritingPrompt, study=study, names=[NAME]).get(NAME)
    return latest.text if latest is not None else default_text(study)


def check(text: str) -> None:
    """Check that a prompt contains the query and the passages, and no unknown placeholders.

    Raises
    ------
    BadPromptError
    """
    check_places(text, needed=NEEDED, places=PLACES)


def check_places(text: str, *, needed: Sequence[str], places: Sequence[str]) -> None:
    """Check that a prompt has all needed placeholders and no unknown ones.

    Raises
    ------
    BadPromptError
    """
    placeholders = set(_PLACE.findall(text))
    if missing := [name for name in needed if name not in placeholders]:
        named = ", ".join(f"{{{name}}}" for name in missing)
        raise BadPromptError(f"The prompt must contain these placeholders: {named}.")
    if unknown := sorted(placeholders - set(places)):
        known = ", ".join(f"{{{name}}}" for name in places)
        named = ", ".join(f"{{{name}}}" for name in unknown)
        raise BadPromptError(f"Unknown placeholders: {named}. You can use: {known}.")


def fill(text: str, *, slot: Slot, form: str, words: int) -> str:
    """Fill in the prompt for a slot. Passages are untrusted text, so they are fenced as data."""
    fence = prompt_delimiters.delimit(slot.topic.query, *slot.passages, purpose="write")
    passages = fence.wrap("\n".join(f"[{rank}] {passage}" for rank, passage in enumerate(slot.passages)), "Passages")
    comes = {
        "query": slot.topic.query,
        "style": for_models(slot.style.instructions).strip(),
        "words": str(words),
        "citing": CITING[form],
        "passages": f"{fence.note}\n\n{passages}\n\n{fence.reminder}",
    }
    # Replace in one pass because the inserted texts may contain braces.
    return _PLACE.sub(lambda place: comes[place[1]], text)


def for_models(markdown: str, *, for_people: re.Pattern[str] = AT_THE_EDITOR) -> str:
    """Remove the parts of instructions that concern only people.

    List items that forbid language models are removed completely. Text that matches `for_people` (about the editor and
    pay) is removed sentence by sentence.
    """

    def is_for_people(text: str) -> bool:
        return bool(_BAN.search(text) or for_people.search(text))

    kept: list[str] = []
    for block in _blocks(markdown):
        text = "\n".join(block)
        is_banning = _BAN.search(text.replace("\n", " "))
        if is_banning and _ITEM.match(block[0]):
            continue
        if is_banning or for_people.search(text):
            text = " ".join(sentence for sentence in re.split(r"(?<=[.!?])\s+", text) if not is_for_people(sentence))
            if not text:
                continue
        kept.append(text)
    return "\n".join(kept)


def _blocks(markdown: str) -> list[list[str]]:
    """Split a text into list items (with continuation lines), paragraphs and blank lines."""
    blocks: list[list[str]] = []
    for line in markdown.splitlines():
        goes_on = bool(blocks and blocks[-1][-1].strip() and line.strip() and not _ITEM.match(line))
        if goes_on:
            blocks[-1].append(line)
        else:
            blocks.append([line])
    return blocks
