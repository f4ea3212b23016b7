"""Files of a published passage bank, in whichever of two layouts: the repository's own JSON, or JSON lines.

The authors' repository holds arrays in `.json`: passages and writing styles as a list of objects, a model's answers and
perplexities as one object of lists, one entry a question. The same as JSON lines, one object a question, is the other
layout. `rows` reads both as the latter; what a file is follows from its keys, of which data set from its name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from . import fields
from .fields import BadCollectionError, Fields

#: Tries of a model at a question (self_preference, 3.3).
TRIES = 5
AUTHORS = ("human", "gpt", "llama")
_LEVELS, _ANSWERS = "knowledge_level", "ai_answers"
_SET = re.compile(r"[A-Za-z0-9]+")
#: What a file's name says a model is called; the published files name one by its maker.
_MODEL = re.compile(r"openai|gpt|llama", re.IGNORECASE)
_MODELS = {"openai": "gpt"}
_NAMED = re.compile(r"passages|both-true|writing.style|knowledge|perplexity")


class Part(StrEnum):
    """What a file of a data set holds."""

    PASSAGES = "passages"
    STYLES = "writing_styles"
    KNOWLEDGE = "knowledge"
    PERPLEXITY = "perplexity"
    OTHER = "other"


#: The fields by which a row is known.
_KEYS = {
    Part.PASSAGES: {"question", "answer", "human_true", "gpt_true", "llama_true"},
    Part.STYLES: {"question", "answer", "gpt_long", "llama_long"},
    Part.KNOWLEDGE: {"truth", "answers"},
    Part.PERPLEXITY: set(AUTHORS),
}


@dataclass(frozen=True)
class File:
    """A file of a data set: `data_set` as its name begins (`nq`), `model` whose answers it holds, "" for others."""

    path: Path
    part: Part
    data_set: str
    model: str = ""


def recognise(path: Path) -> File:
    """Say what a file holds; `Part.OTHER` for what is no part of a bank.

    Raises
    ------
    BadCollectionError
        If its name says that it is one, and it cannot be read.
    """
    try:
        first = next(iter(rows(path)), None)
    except BadCollectionError:
        if _NAMED.search(path.name):
            raise
        first = None
    held = set(first.data) if first is not None else set()
    part = next((part for part, keys in _KEYS.items() if keys <= held), Part.OTHER)
    begin = _SET.match(path.name)
    named = _MODEL.search(path.name) if part is Part.KNOWLEDGE else None
    model = named[0].lower() if named else ""
    return File(path, part, begin[0].lower() if begin else "", _MODELS.get(model, model))


def rows(path: Path) -> Iterator[Fields]:
    """Read a file of either layout, one object a question.

    Raises
    ------
    BadCollectionError
        If it is no JSON, no list of objects, or its lists have different lengths.
    """
    head = _head(path)
    if head.startswith(b"["):
        yield from _entries(path, fields.whole(path))
    elif _is_one_object(path, head):
        yield from _columns(path, fields.whole(path))
    else:
        yield from fields.lines(path)


def _head(path: Path) -> bytes:
    """How a file begins; nothing of one that is cut off, of which `fields.lines` says where."""
    try:
        with fields.opened(path) as file:
            return file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    except (EOFError, OSError):
        return b""


def data_set_name(path: Path) -> str:
    """What a file of passages is called without what says that it is one: `nq` of `nq-both-true.json`."""
    return path.name.split(".")[0].removesuffix("_passages").removesuffix("-both-true")


def _is_one_object(path: Path, head: bytes) -> bool:
    """Whether a file is one JSON object: it is written over several lines, or holds lists by the keys of one."""
    line = head.split(b"\n", 1)[0].strip()
    if not line.startswith(b"{"):
        return False
    if not line.endswith(b"}"):
        # Broken off by the end of what was read, or by the end of the line?
        return b"\n" in head or _begins_with_lists(line)
    return _begins_with_lists(line)


def _begins_with_lists(line: bytes) -> bool:
    return re.match(rb'\{\s*"(distribution|knowledge_level|ai_answers|human|gpt|llama)"\s*:\s*\[', line) is not None


def _entries(path: Path, found: Any) -> Iterator[Fields]:
    if not isinstance(found, list):
        raise BadCollectionError(path.name, "", "", "a list of questions", found)
    for number, each in enumerate(found, start=1):
        if not isinstance(each, dict):
            raise BadCollectionError(path.name, f"question {number}", "", "a JSON object", each)
        yield Fields(path.name, f"question {number}", {"index": number - 1} | each)


def _columns(path: Path, found: Any) -> Iterator[Fields]:
    """One object of lists: the entries at one place are of one question."""
    if isinstance(found, dict) and isinstance(found.get(_ANSWERS), list) and isinstance(found.get(_LEVELS), list):
        yield from _entries(path, list(_answered(path, found[_LEVELS], found[_ANSWERS])))
    elif isinstance(found, dict) and all(isinstance(found.get(author), list) for author in AUTHORS):
        lists = [found[author] for author in AUTHORS]
        if len({len(each) for each in lists}) > 1:
            raise BadCollectionError(path.name, "", "human", "as many numbers of each author", [*map(len, lists)])
        yield from _entries(path, [dict(zip(AUTHORS, each, strict=True)) for each in zip(*lists, strict=True)])
    else:
        raise BadCollectionError(path.name, "", "", "a list of questions, or lists of answers or perplexities")


def _answered(path: Path, levels: list[Any], answers: list[Any]) -> Iterator[dict[str, Any]]:
    """A model's answers, five to a question and one after another, with how many were right."""
    if len(answers) != TRIES * len(levels):
        expected = f"{TRIES} answers to each of the {len(levels)} questions"
        raise BadCollectionError(path.name, "", _ANSWERS, expected, len(answers))
    for number, level in enumerate(levels):
        tries = answers[number * TRIES : (number + 1) * TRIES]
        if not all(isinstance(each, dict) for each in tries):
            raise BadCollectionError(path.name, f"question {number + 1}", _ANSWERS, "objects", json.dumps(tries))
        yield {
            "truth": tries[0].get("ground_truth"),
            "answers": [each.get("AI_answer") for each in tries],
            "correct_of_5": level,
        }
