"""Passage banks: questions with true and false passages by people and by models, in their published layouts.

In the first layout, that of the authors' repository, arrays are in `.json` files. Passages and writing styles are a
list of objects; a model's answers and perplexities are one object of lists with one entry per question. The second
layout is JSON lines, one object per question. `rows` reads both as JSON lines. A file's part follows from its keys, its
data set from its name.

The published files hold 300 questions of Natural Questions and of MS MARCO. docs/reference/question-files.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from ..protocols import Collection, Document, Query
from . import fields
from .candidates import mixed
from .fields import BadCollectionError, Fields

#: Attempts of a model at each question (self_preference, 3.3).
TRIES = 5
AUTHORS = ("human", "gpt", "llama")
_LEVELS, _ANSWERS = "knowledge_level", "ai_answers"
_SET = re.compile(r"[A-Za-z0-9]+")
#: The model in a file's name; the published files call one by its maker.
_MODEL = re.compile(r"openai|gpt|llama", re.IGNORECASE)
_MODELS = {"openai": "gpt"}
_NAMED = re.compile(r"passages|both-true|writing.style|knowledge|perplexity")


class Part(StrEnum):
    """Part of a data set that a file holds."""

    PASSAGES = "passages"
    STYLES = "writing_styles"
    KNOWLEDGE = "knowledge"
    PERPLEXITY = "perplexity"
    OTHER = "other"


#: Fields that identify the part.
_KEYS = {
    Part.PASSAGES: {"question", "answer", "human_true", "gpt_true", "llama_true"},
    Part.STYLES: {"question", "answer", "gpt_long", "llama_long"},
    Part.KNOWLEDGE: {"truth", "answers"},
    Part.PERPLEXITY: set(AUTHORS),
}


@dataclass(frozen=True)
class File:
    """A file of a data set. `data_set` is the beginning of its name (`nq`), `model` whose answers it holds, or ""."""

    path: Path
    part: Part
    data_set: str
    model: str = ""


def recognise(path: Path) -> File:
    """Return the part that a file holds; `Part.OTHER` if it does not belong to a bank.

    Raises
    ------
    BadCollectionError
        If its name says that it belongs to a bank, but it cannot be read.
    """
    try:
        first = next(iter(rows(path)), None)
    except BadCollectionError:
        if _NAMED.search(path.name):
            raise
        first = None
    keys_held = set(first.data) if first is not None else set()
    part = next((part for part, keys in _KEYS.items() if keys <= keys_held), Part.OTHER)
    begin = _SET.match(path.name)
    match = _MODEL.search(path.name) if part is Part.KNOWLEDGE else None
    model = match[0].lower() if match else ""
    return File(path, part, begin[0].lower() if begin else "", _MODELS.get(model, model))


def rows(path: Path) -> Iterator[Fields]:
    """Yield the questions of a file in either layout, one object each.

    Raises
    ------
    BadCollectionError
        If it is not JSON, not a list of objects, or its lists have different lengths.
    """
    head = _head(path)
    if head.startswith(b"["):
        yield from _entries(path, fields.whole(path))
    elif _is_one_object(path, head):
        yield from _columns(path, fields.whole(path))
    else:
        yield from fields.lines(path)


def _head(path: Path) -> bytes:
    """Return the beginning of a file; empty if it is truncated, which `fields.lines` then reports with the line."""
    try:
        with fields.opened(path) as file:
            return file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    except (EOFError, OSError):
        return b""


def data_set_name(path: Path) -> str:
    """Return the data set's name from a file of passages: `nq` for `nq-both-true.json`."""
    return path.name.split(".")[0].removesuffix("_passages").removesuffix("-both-true")


def _is_one_object(path: Path, head: bytes) -> bool:
    """Return whether a file is one JSON object: written over several lines, or with lists under its known keys."""
    line = head.split(b"\n", 1)[0].strip()
    if not line.startswith(b"{"):
        return False
    if not line.endswith(b"}"):
        # Truncated by the limit of the read, or by the end of the line?
        return b"\n" in head or _begins_with_lists(line)
    return _begins_with_lists(line)


def _begins_with_lists(line: bytes) -> bool:
    return re.match(rb'\{\s*"(distribution|knowledge_level|ai_answers|human|gpt|llama)"\s*:\s*\[', line) is not None


def _entries(path: Path, data: Any) -> Iterator[Fields]:
    if not isinstance(data, list):
        raise BadCollectionError(path.name, "", "", "a list of questions", data)
    for number, entry in enumerate(data, start=1):
        if not isinstance(entry, dict):
            raise BadCollectionError(path.name, f"question {number}", "", "a JSON object", entry)
        yield Fields(path.name, f"question {number}", {"index": number - 1} | entry)


def _columns(path: Path, data: Any) -> Iterator[Fields]:
    """Yield rows from one object of lists: entries at the same index belong to one question."""
    if isinstance(data, dict) and isinstance(data.get(_ANSWERS), list) and isinstance(data.get(_LEVELS), list):
        yield from _entries(path, list(_answered(path, data[_LEVELS], data[_ANSWERS])))
    elif isinstance(data, dict) and all(isinstance(data.get(author), list) for author in AUTHORS):
        lists = [data[author] for author in AUTHORS]
        if len({len(column) for column in lists}) > 1:
            raise BadCollectionError(
                path.name, "", "human", "the same number of values for each author", [*map(len, lists)]
            )
        yield from _entries(path, [dict(zip(AUTHORS, column, strict=True)) for column in zip(*lists, strict=True)])
    else:
        raise BadCollectionError(path.name, "", "", "a list of questions, or lists of answers or perplexities")


def _answered(path: Path, levels: list[Any], answers: list[Any]) -> Iterator[dict[str, Any]]:
    """Yield a model's answers, five consecutive ones per question, with the number of correct ones."""
    if len(answers) != TRIES * len(levels):
        expected = f"{TRIES} answers to each of the {len(levels)} questions"
        raise BadCollectionError(path.name, "", _ANSWERS, expected, len(answers))
    for number, level in enumerate(levels):
        tries = answers[number * TRIES : (number + 1) * TRIES]
        if not all(isinstance(attempt, dict) for attempt in tries):
            raise BadCollectionError(path.name, f"question {number + 1}", _ANSWERS, "objects", json.dumps(tries))
        yield {
            "truth": tries[0].get("ground_truth"),
            "answers": [attempt.get("AI_answer") for attempt in tries],
            "correct_of_5": level,
        }


__all__ = ["AUTHORS", "FALSE", "FIELDS", "STYLE", "TRUE", "Question", "questions", "read"]

#: Fields of passages that state the true answer, and of passages that state a false one.
TRUE = ("human_true", "gpt_true", "llama_true")
FALSE = ("gpt_false", "llama_false", "human_false_gpt", "human_false_llama")
FIELDS = (*TRUE, *FALSE)

#: Style of a bank's passages; other styles are in separate files (`Part.STYLES`).
STYLE = "normal"


@dataclass(frozen=True)
class Question:
    """A question of a bank.

    Attributes
    ----------
    index : int
        Its number in the published data; other files of the data set refer to it.
    question, answer : str
    false_answers : dict of str to str
        By the model that proposed it (`gpt`, `llama`).
    passages : dict of str to str
        By field (`FIELDS`), without surrounding white space.
    """

    index: int
    question: str
    answer: str
    false_answers: dict[str, str]
    passages: dict[str, str]


def questions(path: Path | str) -> tuple[Question, ...]:
    """Read a bank without conversion, with passages by author and truth.

    Parameters
    ----------
    path : Path or str
        As the authors published it, a list in one JSON file (`nq-both-true.json`), or as JSON lines
        (`nq_passages.jsonl.gz`); gzipped or not.

    Returns
    -------
    tuple of Question
        In the file's order.

    Raises
    ------
    BadCollectionError
        If a field is missing or blank, or an index occurs twice.
    """
    return tuple(_questions(Path(path)))


def _questions(path: Path) -> Iterator[Question]:
    indices: set[int] = set()
    for row in rows(path):
        index = row.whole("index")
        if index in indices:
            raise row.wrong("index", "a unique number")
        indices.add(index)
        yield Question(
            index=index,
            question=row.text("question"),
            answer=row.text("answer"),
            false_answers={author: row.text(f"{author}_false_ans") for author in ("gpt", "llama")},
            passages={field: row.text(field) for field in FIELDS},
        )


def read(path: Path | str, *, name: str = "") -> Collection:
    """Read a bank as questions with candidate documents, their true and false passages.

    `candidates.without_repeats` removes duplicates. Published banks have some, where a false answer could not be
    inserted. `candidates.with_others` adds passages of other questions.

    Parameters
    ----------
    path : Path or str
        As for `questions`.
    name : str, optional
        Name of the collection; by default the file's name up to `_passages`.

    Returns
    -------
    Collection
        Query ids are `nq-17`; a document's id is the field of its passage, `human_true`. A document states its author,
        its style (`normal`), its answer, and by `is_helpful` whether that is the true one. Documents are in the order
        of `candidates.mixed`, so that ties do not favour the true ones.

    Raises
    ------
    BadCollectionError
        As in `questions`, or if there is no question.
    """
    path = Path(path)
    name = name or data_set_name(path)
    fields_list = questions(path)
    if not fields_list:
        raise BadCollectionError(path.name, "", "", "at least one question", "none")
    return Collection(name, tuple(_query(name, question) for question in fields_list))


def _query(name: str, question: Question) -> Query:
    key = f"{name}-{question.index}"
    documents = (_document(question, field, text) for field, text in question.passages.items())
    return Query(key, question.question, (question.answer,), mixed(key, documents))


def _document(question: Question, field: str, text: str) -> Document:
    """Convert a passage; `human_false_gpt` is a person's passage with the false answer that GPT proposed."""
    author, _, truth = field.partition("_")
    is_true = field in TRUE
    answer = (
        question.answer
        if is_true
        else question.false_answers[truth.removeprefix("false_") if author == "human" else author]
    )
    return Document(field, text, is_helpful=is_true, author=author, style=STYLE, answer=answer)
