"""Prompts for models, in versions that never change after use (self_preference, appendix E)."""

from __future__ import annotations

import re
import tomllib
from enum import StrEnum
from functools import lru_cache
from importlib import resources
from typing import Any

from ..protocols import Message, Prompt

#: The version that new runs use.
VERSION = 1
_PLACE = re.compile(r"\{(\w+)\}")
_QUOTES = '"""'


class Ask(StrEnum):
    """The prompts by name."""

    REWRITE = "rewrite"
    FALSE_ANSWER = "false_answer"
    QA = "from_question_and_answer"
    LENGTHEN = "lengthen"
    RATE_PLAIN = "rate_plain"
    RATE_RAG = "rate_rag"
    READ_TWO = "read_two"
    ALONE = "ask_alone"


class UnknownVersionError(LookupError):
    """There are no prompts of this version."""


def prompt(
    ask: Ask,
    *,
    version: int = VERSION,
    temperature: float = 0.0,
    choices: tuple[str, ...] = (),
    sample: int = 0,
    **texts: str,
) -> Prompt:
    """Fill in a prompt template.

    Parameters
    ----------
    ask : Ask
    version : int
    temperature, choices, sample
        As in `Prompt`.
    **texts : str
        Texts for the placeholders. `question` and `answer` go on a single line. Passages go between lines of three
        quotation marks, which a text cannot close early.

    Returns
    -------
    Prompt
        A single user message.

    Raises
    ------
    UnknownVersionError
        If there is no such version.
    KeyError
        If a placeholder is not filled.
    """
    template = _read(version)[ask]
    values = {name: _line(text) if name in {"question", "answer"} else _block(text) for name, text in texts.items()}
    content = _PLACE.sub(lambda match: values[match[1]], template["text"].strip())
    return Prompt(
        (Message("user", content),),
        max_tokens=template["max_tokens"],
        temperature=temperature,
        choices=choices,
        sample=sample,
    )


@lru_cache(maxsize=8)
def _read(version: int) -> dict[str, Any]:
    file = resources.files(__package__) / "wording" / f"{version}.toml"
    if not file.is_file():
        raise UnknownVersionError(f"There is no prompt version {version}. The latest is {VERSION}.")
    return tomllib.loads(file.read_text(encoding="utf-8"))


def _line(text: str) -> str:
    return " ".join(text.split())


def _block(text: str) -> str:
    return f"{_QUOTES}\n{text.strip().replace(_QUOTES, chr(39) * 3)}\n{_QUOTES}"
