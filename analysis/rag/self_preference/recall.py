"""What a model answers without a passage: each question some times, to see what it knows (3.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..answers import NoGoldAnswerError
from ..shapes import Generator, Prompt, Query
from . import prompts
from .knowledge import TRIES, Knowledge, is_right, level

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
class Given:
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
    right = sum(any(is_right(answer, truth) for truth in gold) for answer in answers)
    return Recall(tuple(answers), right)


def given(query: Query) -> dict[str, Given]:
    """What the data itself says of what models know: `facts["knowledge"]`, a mapping from model to
    {"answers": [...], "truth": ..., "correct": ...}; empty where it says nothing.
    """
    said: dict[str, Any] = query.facts.get("knowledge", {})
    return {
        model: Given(
            counted(list(each["answers"]), (each["truth"],) if each.get("truth") else query.answers),
            each.get("correct"),
        )
        for model, each in said.items()
    }
