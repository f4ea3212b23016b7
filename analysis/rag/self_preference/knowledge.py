"""What a model knows without a passage: how often of some tries it answers a question right (self_preference, 3.1)."""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..protocols import Generator, Prompt, Query
from ..qa_metrics import NoGoldAnswerError
from . import prompts

TRIES = 5


class Knowledge(StrEnum):
    """How much a model knows of a question."""

    FULL = "full"
    PARTIAL = "partial"
    NONE = "none"


class NoAnswersError(ValueError):
    """A question that the model was never asked."""


def is_right(answer: str, truth: str) -> bool:
    """Whether an answer is the true one, or one holds the other.

    In lower case, either is a part of the other; or every word of the one is a word of the other, with or without the
    punctuation around it. So "Tyler Williams" is "Tyler Marcel Williams", and "In the sinoatrial (SA) node." is
    "sinoatrial node". Of the published counts of right answers, 99 % follow from this rule; the paper does not state
    its own.

    Parameters
    ----------
    answer, truth : str
        An empty answer is wrong.

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        If there is no truth.

    Examples
    --------
    >>> is_right("Tyler Williams", "tyler marcel williams"), is_right("Reba", "Linda Davis")
    (True, False)
    """
    given_answer, true_answer = answer.lower().strip(), truth.lower().strip()
    if not true_answer:
        raise ValueError("a question needs its true answer")
    if not given_answer:
        return False
    return (
        given_answer in true_answer
        or true_answer in given_answer
        or _within(given_answer, true_answer)
        or _within(true_answer, given_answer)
    )


def right_answers(answers: Sequence[str], truth: str) -> int:
    """How many of the answers are right."""
    return sum(is_right(answer, truth) for answer in answers)


def level(right: int, tries: int = TRIES) -> Knowledge:
    """Full knowledge if all tries are right, none if none is, else partial.

    Raises
    ------
    NoAnswersError
        If the question was never asked.
    ValueError
        If more are right than there were tries.

    Examples
    --------
    >>> level(5).value, level(1).value, level(0).value
    ('full', 'partial', 'none')
    """
    if tries < 1:
        raise NoAnswersError("the model was not asked without a passage: ask it some times, five in the paper")
    if not 0 <= right <= tries:
        msg = f"{right} of {tries} answers cannot be right"
        raise ValueError(msg)
    return Knowledge.FULL if right == tries else Knowledge.PARTIAL if right else Knowledge.NONE


def _within(inner: str, outer: str) -> bool:
    """Whether every word of the one is a word of the other, as it stands or without its punctuation."""
    words = outer.split()
    allowed = {*words, *(word.strip(string.punctuation) for word in words)}
    return set(inner.split()) <= allowed


#: At temperature 0 five tries would be one. The paper does not say at which it asked.
TEMPERATURE = 1.0


@dataclass(frozen=True)
class Recall:
    """What a model knows of a question.

    Attributes
    ----------
    answers : tuple of str
        One a try; "" where it refused, which is wrong.
    right : int
    """

    answers: tuple[str, ...]
    right: int

    @property
    def level(self) -> Knowledge:
        """How much that is."""
        return level(self.right, len(self.answers))


@dataclass(frozen=True)
class StatedKnowledge:
    """What a data set says of a model and a question: its answers, counted anew, and the count that came with them.

    Attributes
    ----------
    recall : Recall
    published : int or None
        How many answers the data counts as right; None where it does not say.
    """

    recall: Recall
    published: int | None

    @property
    def is_exception(self) -> bool:
        """Whether the two counts differ."""
        return self.published is not None and self.published != self.recall.right


def requests(
    query: Query, *, tries: int = TRIES, temperature: float = TEMPERATURE, version: int = prompts.VERSION
) -> list[Prompt]:
    """The prompts for one question: the same, some samples of it."""
    return [
        prompts.prompt(prompts.Ask.ALONE, version=version, temperature=temperature, sample=i, question=query.question)
        for i in range(tries)
    ]


def recall(
    generator: Generator,
    query: Query,
    *,
    tries: int = TRIES,
    temperature: float = TEMPERATURE,
    version: int = prompts.VERSION,
) -> Recall:
    """Ask a model a question without a passage.

    Parameters
    ----------
    generator : Generator
    query : Query
    tries : int
    temperature : float
    version : int

    Returns
    -------
    Recall

    Raises
    ------
    NoGoldAnswerError
        If nobody knows what is right.
    """
    if not query.answers:
        raise NoGoldAnswerError("what a model knows of a question can be told only where its answer is known")
    outputs = generator.generate(requests(query, tries=tries, temperature=temperature, version=version))
    return counted([output.text.strip() for output in outputs], query.answers)


def counted(answers: list[str], gold: tuple[str, ...]) -> Recall:
    """Count the right ones: those that are one of the gold answers, by `knowledge.is_right`."""
    correct = sum(any(is_right(answer, truth) for truth in gold) for answer in answers)
    return Recall(tuple(answers), correct)


def stated_knowledge(query: Query) -> dict[str, StatedKnowledge]:
    """What the data itself says of what models know: `facts["knowledge"]`, a mapping from model to
    {"answers": [...], "truth": ..., "correct": ...}; empty where it says nothing.
    """
    facts: dict[str, Any] = query.facts.get("knowledge", {})
    return {
        model: StatedKnowledge(
            counted(list(recorded["answers"]), (recorded["truth"],) if recorded.get("truth") else query.answers),
            recorded.get("correct"),
        )
        for model, recorded in facts.items()
    }
