"""Passage banks: each question with true and false passages by a person and by models (self_preference, 3.1).

The published files hold 300 questions of Natural Questions and of MS MARCO. docs/guides/collections.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..shapes import Collection, Document, Query
from .candidates import mixed
from .fields import BadCollectionError
from .published_files import AUTHORS, data_set_name, rows

__all__ = ["AUTHORS", "FALSE", "FIELDS", "STYLE", "TRUE", "Question", "questions", "read"]

#: Passages that state the true answer, and those in which a false one stands instead, by field.
TRUE = ("human_true", "gpt_true", "llama_true")
FALSE = ("gpt_false", "llama_false", "human_false_gpt", "human_false_llama")
FIELDS = (*TRUE, *FALSE)

#: How the passages of a bank are written; other styles stand in files of their own (`styles`).
STYLE = "normal"


@dataclass(frozen=True)
class Question:
    """A question of a bank.

    Attributes
    ----------
    index : int
        Its number in the published data; other files of the data set name it by this.
    question, answer : str
    false_answers : dict of str to str
        By who thought of it (`gpt`, `llama`).
    passages : dict of str to str
        By field (`FIELDS`); white space around them is taken away.
    """

    index: int
    question: str
    answer: str
    false_answers: dict[str, str]
    passages: dict[str, str]


def questions(path: Path | str) -> tuple[Question, ...]:
    """Read a bank as it stands, passages by author and truth.

    Parameters
    ----------
    path : Path or str
        As the authors published it, a list in one JSON file (`nq-both-true.json`), or JSON lines
        (`nq_passages.jsonl.gz`); gzipped or not.

    Returns
    -------
    tuple of Question
        In the file's order.

    Raises
    ------
    BadCollectionError
        If a field is missing or blank, or an index stands twice.
    """
    return tuple(_questions(Path(path)))


def _questions(path: Path) -> Iterator[Question]:
    seen: set[int] = set()
    for row in rows(path):
        index = row.whole("index")
        if index in seen:
            raise row.wrong("index", "a number that no line before has")
        seen.add(index)
        yield Question(
            index=index,
            question=row.text("question"),
            answer=row.text("answer"),
            false_answers={author: row.text(f"{author}_false_ans") for author in ("gpt", "llama")},
            passages={field: row.text(field) for field in FIELDS},
        )


def read(path: Path | str, *, name: str = "") -> Collection:
    """Read a bank as questions with candidate documents: their true and false passages.

    `candidates.without_repeats` takes equal texts away (published banks have some, where a false answer could not be
    put in), `candidates.with_others` adds passages of other questions.

    Parameters
    ----------
    path : Path or str
        As for `questions`.
    name : str, optional
        The collection's; by default the file's name up to `_passages`.

    Returns
    -------
    Collection
        Query ids are `nq-17`; documents' ids the passage's field, `human_true`. A document says its author, its style
        (`normal`), the answer that it states, and by `is_helpful` whether that is the true one. They stand in the order
        of `candidates.mixed`, so that a tie is not broken in favour of the true ones.

    Raises
    ------
    BadCollectionError
        As `questions`, or if there is no question.
    """
    path = Path(path)
    name = name or data_set_name(path)
    found = questions(path)
    if not found:
        raise BadCollectionError(path.name, "", "", "at least one question", "none")
    return Collection(name, tuple(_query(name, each) for each in found))


def _query(name: str, question: Question) -> Query:
    key = f"{name}-{question.index}"
    documents = (_document(question, field, text) for field, text in question.passages.items())
    return Query(key, question.question, (question.answer,), mixed(key, documents))


def _document(question: Question, field: str, text: str) -> Document:
    """`human_false_gpt` is a person's passage with the false answer that GPT thought of."""
    author, _, truth = field.partition("_")
    is_true = field in TRUE
    answer = (
        question.answer
        if is_true
        else question.false_answers[truth.removeprefix("false_") if author == "human" else author]
    )
    return Document(field, text, is_helpful=is_true, author=author, style=STYLE, answer=answer)
