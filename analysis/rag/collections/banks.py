"""Passage banks: each question with true and false passages by a person and by models (self_preference, 3.1).

The published files hold 300 questions of Natural Questions and of MS MARCO. docs/guides/collections.md.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..shapes import Collection, Document, Query
from .fields import BadCollectionError, lines

#: Passages that state the true answer, and those in which a false one stands instead, by field.
TRUE = ("human_true", "gpt_true", "llama_true")
FALSE = ("gpt_false", "llama_false", "human_false_gpt", "human_false_llama")
FIELDS = (*TRUE, *FALSE)
#: Who wrote a passage.
AUTHORS = ("human", "gpt", "llama")

_TWICE = "passage equal to another of its question"


class TooFewQuestionsError(ValueError):
    """Passages of other questions are asked for, and there are not that many."""


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
        JSON lines, gzipped or not: `nq_passages.jsonl.gz`.

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
    for row in lines(path):
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


def read(path: Path | str, *, name: str = "", others: int = 0, rng: np.random.Generator | None = None) -> Collection:
    """Read a bank as questions with candidate documents: its true and false passages, and some of other questions.

    Parameters
    ----------
    path : Path or str
        As for `questions`.
    name : str, optional
        The collection's; by default the file's name up to `_passages`.
    others : int
        How many passages of other questions each question gets: any of their true and false ones, each equally likely
        and none twice.
    rng : numpy.random.Generator, optional
        Draws them; needed if `others` is above 0.

    Returns
    -------
    Collection
        Query ids are `nq-17`; documents' ids the passage's field, `human_true`, and `18:gpt_false` for one of question
        18. `is_helpful` is True for those that state the true answer by their field. Documents stand in an order that
        says nothing of them, by a digest, so that a tie is not broken in favour of the true ones. Of passages of one
        question that are equal texts, one stays, a true one if there is; the others are counted in `left_out`.

    Raises
    ------
    BadCollectionError
        As `questions`, or if there is no question.
    TooFewQuestionsError
        If other questions have fewer than `others` passages.
    """
    path = Path(path)
    name = name or path.name.split(".")[0].removesuffix("_passages")
    found = questions(path)
    if not found:
        raise BadCollectionError(path.name, "", "", "at least one question", "none")
    if others and rng is None:
        raise ValueError("passages of other questions are drawn: hand in the generator that draws them")
    left_out: Counter[str] = Counter()
    own = [_documents(each, left_out) for each in found]
    drawn = _drawn(found, own, others, rng) if rng is not None and others else [()] * len(found)
    queries = tuple(
        Query(f"{name}-{each.index}", each.question, (each.answer,), _mixed(each, (*mine, *strangers)))
        for each, mine, strangers in zip(found, own, drawn, strict=True)
    )
    return Collection(name, queries, tuple(sorted(left_out.items())))


def _documents(question: Question, left_out: Counter[str]) -> tuple[Document, ...]:
    """True ones first, so that of equal texts a true one stays."""
    kept: dict[str, Document] = {}
    for field, text in question.passages.items():
        if text in kept:
            left_out[_TWICE] += 1
        else:
            kept[text] = Document(field, text, is_helpful=field in TRUE)
    return tuple(kept.values())


def _drawn(
    found: Sequence[Question], own: Sequence[tuple[Document, ...]], n: int, rng: np.random.Generator
) -> list[tuple[Document, ...]]:
    """For each question, n documents of the others'; a document is drawn by its place among all."""
    pool = [replace(each, id=f"{q.index}:{each.id}") for q, mine in zip(found, own, strict=True) for each in mine]
    drawn, start = [], 0
    for mine in own:
        others = len(pool) - len(mine)
        if n > others:
            raise TooFewQuestionsError(f"{n} passages of other questions are asked for, and there are {others}")
        picks = rng.choice(others, size=n, replace=False)
        picks[picks >= start] += len(mine)
        drawn.append(tuple(replace(pool[pick], is_helpful=False) for pick in picks.tolist()))
        start += len(mine)
    return drawn


def _mixed(question: Question, documents: tuple[Document, ...]) -> tuple[Document, ...]:
    def digest(document: Document) -> bytes:
        return hashlib.sha256(f"{question.index}\0{document.id}".encode()).digest()

    return tuple(sorted(documents, key=digest))
