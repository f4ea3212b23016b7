"""Replies in the formats of appendix E, read strictly: what is not in the form that was asked for is no answer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from ..answers import normalised
from .bank import Pair, stands
from .knowledge import is_right

#: What a model may reply to a request for a rating.
RATINGS = tuple(f"###{number}***" for number in range(1, 6))
_RATING = re.compile(r"###\s*<?\s*([1-5])\s*>?\s*\*\*\*\.?")
_ANSWER = "answer:"
_PASSAGE = re.compile(r"Answer retrieved from which passage:\s*+(?:Passage\s*+)?([12])\s*+\.?\Z", re.IGNORECASE)


class Problem(StrEnum):
    """Why a reply says nothing."""

    NO_TEXT = "no_text"
    FORMAT = "format"
    NEITHER = "neither"
    BOTH = "both"
    LENGTH = "length"
    ANSWER_MISSING = "answer_missing"
    INDISTINCT = "indistinct"
    TRUTH_LEFT = "truth_left"


class UnreadableError(ValueError):
    """A reply that says nothing; `problem` says why."""

    def __init__(self, problem: Problem):
        super().__init__(problem.value)
        self.problem = problem


@dataclass(frozen=True)
class Reading:
    """What a reader of two passages replied.

    Attributes
    ----------
    is_first : bool
        Whether it used the passage that it read first.
    answer : str
    told : int or None
        The passage that it named: 1 or 2; None where it named none.
    """

    is_first: bool
    answer: str
    told: int | None


def readings(pair: Pair) -> tuple[str, ...]:
    """The replies that a reader of two passages can give, for models that do not keep a form by themselves.

    Each of the two answers (a dash where none is known) with each of the two passages: it may still name another
    passage than the one whose answer it gives, but give no third answer.
    """
    answers = (pair.first.answer,) if pair.is_told else (pair.first.answer, pair.second.answer)
    return tuple(
        f"Answer: {' '.join(answer.split()) or '-'};\nAnswer retrieved from which passage: {place}"
        for answer in answers
        for place in (1, 2)
    )


def rating(text: str) -> int:
    """Read a rating: `###4***` and nothing else (`###<4>***`, as the form is printed, is read too).

    Raises
    ------
    UnreadableError
        Of anything else, a number outside 1 to 5 as well.

    Examples
    --------
    >>> rating("###4***"), rating(" ###<2>*** ")
    (4, 2)
    """
    found = _RATING.fullmatch(text.strip())
    if found is None:
        raise UnreadableError(Problem.FORMAT)
    return int(found[1])


def reading(text: str, pair: Pair) -> Reading:
    """Read which of two passages was used.

    Where both passages state the same answer (or none is known), the passage that is named counts; the form must be
    whole. Where they state different answers, the passage whose answer was given counts, whatever was named.

    Parameters
    ----------
    text : str
    pair : Pair
        What was read.

    Returns
    -------
    Reading

    Raises
    ------
    UnreadableError
        If the form is not kept, or the answer is that of neither passage, or of both.
    """
    answer, told = _stated(text.strip())
    if answer is None or (pair.is_told and told is None):
        raise UnreadableError(Problem.FORMAT)
    if pair.is_told:
        return Reading(told == 1, answer, told)
    if not any(map(str.isalnum, answer)):
        raise UnreadableError(Problem.FORMAT)
    return Reading(_states_first(answer, pair.first.answer, pair.second.answer), answer, told)


def _stated(text: str) -> tuple[str | None, int | None]:
    """The answer that a reply states, and the passage that it names; None for what is not in the form."""
    if not text.lower().startswith(_ANSWER):
        return None, None
    named = _PASSAGE.search(text)
    if named:
        between = text[len(_ANSWER) : named.start()]
        body = between.rstrip()
        if body.endswith(";"):
            return body[:-1].strip(), int(named[1])
        if "\n" in between[len(body) :]:
            return body.strip(), int(named[1])
    answer = text[len(_ANSWER) :].strip()
    answer = answer.removesuffix(";").rstrip() or answer
    return (answer, None) if answer and "\n" not in answer else (None, None)


def _states_first(answer: str, first: str, second: str) -> bool:
    """Whether an answer is the first of two; raises if it is neither or both.

    An answer that equals one of them is that one. Else one that holds one of them word for word and not the other is
    that one: longer answers come in sentences. Else the rule of knowledge decides (`knowledge.is_right`).
    """
    for rule in (_equals, _holds, is_right):
        matches = rule(answer, first), rule(answer, second)
        if matches[0] != matches[1]:
            return matches[0]
        if all(matches):
            raise UnreadableError(Problem.BOTH)
    raise UnreadableError(Problem.NEITHER)


def _equals(answer: str, stated: str) -> bool:
    return normalised(answer) == normalised(stated)


def _holds(answer: str, stated: str) -> bool:
    return stands(stated, answer)
