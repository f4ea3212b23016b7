"""What a model knows without a passage: how often of some tries it answers a question right (self_preference, 3.1)."""

from __future__ import annotations

import string
from collections.abc import Sequence
from enum import StrEnum

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
    ours, theirs = answer.lower().strip(), truth.lower().strip()
    if not theirs:
        raise ValueError("a question needs its true answer")
    if not ours:
        return False
    return ours in theirs or theirs in ours or _within(ours, theirs) or _within(theirs, ours)


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


def _within(one: str, other: str) -> bool:
    """Whether every word of the one is a word of the other, as it stands or without its punctuation."""
    words = other.split()
    known = {*words, *(word.strip(string.punctuation) for word in words)}
    return set(one.split()) <= known
