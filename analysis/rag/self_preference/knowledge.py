"""A model's knowledge without a passage: its number of correct answers in several attempts (self_preference, 3.1)."""

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
    """Level of a model's knowledge of a question."""

    FULL = "full"
    PARTIAL = "partial"
    NONE = "none"


class NoAnswersError(ValueError):
    """The model was never asked the question."""


def is_right(answer: str, truth: str) -> bool:
    """Return whether an answer matches the true one, or one contains the other.

    Compared in lower case. Either text is part of the other, or every word of one is a word of the other, with or
    without surrounding punctuation. So "Tyler Williams" matches "Tyler Marcel Williams", and "In the sinoatrial (SA)
    node." matches "sinoatrial node". This rule reproduces 99 % of the published counts of correct answers; the paper
    does not state its own rule.

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
        If the true answer is empty.

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
    """Count the correct answers."""
    return sum(is_right(answer, truth) for answer in answers)


def level(right: int, tries: int = TRIES) -> Knowledge:
    """Return the knowledge level: full if all attempts are right, none if none is, else partial.

    Raises
    ------
    NoAnswersError
        If there were no attempts.
    ValueError
        If there are more right answers than attempts.

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
    """Return whether every word of one text is a word of the other, with or without its punctuation."""
    words = outer.split()
    allowed = {*words, *(word.strip(string.punctuation) for word in words)}
    return set(inner.split()) <= allowed


#: At temperature 0, five attempts would be the same. The paper does not state its temperature.
TEMPERATURE = 1.0


@dataclass(frozen=True)
class Recall:
    """A model's answers to a question without a passage.

    Attributes
    ----------
    answers : tuple of str
        One per attempt; "" if the model refused, which counts as wrong.
    right : int
        Number of correct answers.
    """

    answers: tuple[str, ...]
    right: int

    @property
    def level(self) -> Knowledge:
        """Level of knowledge."""
        return level(self.right, len(self.answers))


@dataclass(frozen=True)
class StatedKnowledge:
    """A data set's answers of a model to a question, with our count and the published count of correct answers.

    Attributes
    ----------
    recall : Recall
    published : int or None
        Number of correct answers according to the data; None if it does not say.
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
    """Return the prompts for one question: several samples of the same prompt."""
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
        If the question has no gold answer.
    """
    if not query.answers:
        raise NoGoldAnswerError("what a model knows of a question can be told only where its answer is known")
    outputs = generator.generate(requests(query, tries=tries, temperature=temperature, version=version))
    return counted([output.text.strip() for output in outputs], query.answers)


def counted(answers: list[str], gold: tuple[str, ...]) -> Recall:
    """Count the correct answers: those that match a gold answer by `is_right`."""
    correct = sum(any(is_right(answer, truth) for truth in gold) for answer in answers)
    return Recall(tuple(answers), correct)


def stated_knowledge(query: Query) -> dict[str, StatedKnowledge]:
    """Return the knowledge of models that the data states; empty if there is none.

    It is in `facts["knowledge"]`, a mapping from model to {"answers": [...], "truth": ..., "correct": ...}.
    """
    facts: dict[str, Any] = query.facts.get("knowledge", {})
    return {
        model: StatedKnowledge(
            counted(list(recorded["answers"]), (recorded["truth"],) if recorded.get("truth") else query.answers),
            recorded.get("correct"),
        )
        for model, recorded in facts.items()
    }
