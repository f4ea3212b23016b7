"""Strict parsing of replies in the formats of appendix E; unreadable replies are requested again."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Generic, TypeVar

from ..protocols import Generator, Output, Prompt
from ..qa_metrics import normalised
from .bank import Pair, stands
from .knowledge import is_right

#: Valid replies to a request for a rating.
RATINGS = tuple(f"###{number}***" for number in range(1, 6))
_RATING = re.compile(r"###\s*<?\s*([1-5])\s*>?\s*\*\*\*\.?")
_ANSWER = "answer:"
_PASSAGE = re.compile(r"Answer retrieved from which passage:\s*+(?:Passage\s*+)?([12])\s*+\.?\Z", re.IGNORECASE)


class Problem(StrEnum):
    """Why a reply is unreadable."""

    NO_TEXT = "no_text"
    FORMAT = "format"
    NEITHER = "neither"
    BOTH = "both"
    LENGTH = "length"
    ANSWER_MISSING = "answer_missing"
    INDISTINCT = "indistinct"
    TRUTH_LEFT = "truth_left"


class UnreadableError(ValueError):
    """The reply is unreadable; `problem` is the reason."""

    def __init__(self, problem: Problem):
        super().__init__(problem.value)
        self.problem = problem


@dataclass(frozen=True)
class Reading:
    """A model's reply after reading two passages.

    Attributes
    ----------
    is_first : bool
        Whether it used the passage that it read first.
    answer : str
    named_passage : int or None
        The passage that it named, 1 or 2; None if it named none.
    """

    is_first: bool
    answer: str
    named_passage: int | None


def readings(pair: Pair) -> tuple[str, ...]:
    """Return all valid replies to two passages, for models that do not keep to the format by themselves.

    Each of the two answers (a dash if none is known) is combined with each of the two passages. So a model may name a
    different passage than the one whose answer it gives, but it cannot give a third answer.
    """
    answers = (pair.first.answer,) if pair.is_told else (pair.first.answer, pair.second.answer)
    return tuple(
        f"Answer: {' '.join(answer.split()) or '-'};\nAnswer retrieved from which passage: {number}"
        for answer in answers
        for number in (1, 2)
    )


def rating(text: str) -> int:
    """Read a rating: `###4***` and nothing else, or `###<4>***` as in the printed form.

    Raises
    ------
    UnreadableError
        For any other reply, including a number outside 1 to 5.

    Examples
    --------
    >>> rating("###4***"), rating(" ###<2>*** ")
    (4, 2)
    """
    match = _RATING.fullmatch(text.strip())
    if match is None:
        raise UnreadableError(Problem.FORMAT)
    return int(match[1])


def reading(text: str, pair: Pair) -> Reading:
    """Determine which of two passages was used.

    If both passages state the same answer (or none is known), the named passage counts, and the reply must have the
    full format. If they state different answers, the passage with the given answer counts, whichever is named.

    Parameters
    ----------
    text : str
    pair : Pair
        The two passages.

    Returns
    -------
    Reading

    Raises
    ------
    UnreadableError
        If the format is wrong, or the answer matches neither passage, or both.
    """
    answer, passage = _stated(text.strip())
    if answer is None or (pair.is_told and passage is None):
        raise UnreadableError(Problem.FORMAT)
    if pair.is_told:
        return Reading(passage == 1, answer, passage)
    if not any(map(str.isalnum, answer)):
        raise UnreadableError(Problem.FORMAT)
    return Reading(_states_first(answer, pair.first.answer, pair.second.answer), answer, passage)


def _stated(text: str) -> tuple[str | None, int | None]:
    """Return the answer in a reply, and the passage that it names; None for a part that is not in the format."""
    if not text.lower().startswith(_ANSWER):
        return None, None
    match = _PASSAGE.search(text)
    if match:
        between = text[len(_ANSWER) : match.start()]
        body = between.rstrip()
        if body.endswith(";"):
            return body[:-1].strip(), int(match[1])
        if "\n" in between[len(body) :]:
            return body.strip(), int(match[1])
    answer = text[len(_ANSWER) :].strip()
    answer = answer.removesuffix(";").rstrip() or answer
    return (answer, None) if answer and "\n" not in answer else (None, None)


def _states_first(answer: str, first: str, second: str) -> bool:
    """Return whether an answer is the first of two; raise UnreadableError if it matches neither or both.

    An answer that equals one of them is that one. Otherwise, an answer that contains one of them word for word, but not
    the other, is that one, since longer answers come in sentences. Otherwise, the rule for knowledge decides
    (`knowledge.is_right`).
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


Value = TypeVar("Value")

#: Maximum number of attempts at a question (design 5: at most five).
ATTEMPTS = 5
#: Temperature of repeated attempts: at temperature 0, the same question would get the same answer.
AGAIN_AT = 0.7
_APART = 1000


@dataclass(frozen=True)
class Settled(Generic[Value]):
    """Result of a request.

    Attributes
    ----------
    value : object or None
        None if no reply could be read.
    problem : str
        Why the last reply could not be read; "" if there is a value.
    attempts : int
        Number of attempts.
    text : str
        The last reply.
    """

    value: Value | None
    problem: str
    attempts: int
    text: str


def settle(
    generator: Generator,
    requests: Sequence[tuple[Prompt, Callable[[str], Value]]],
    *,
    attempts: int = ATTEMPTS,
    again_at: float = AGAIN_AT,
) -> list[Settled[Value]]:
    """Send all requests at once, then repeat those whose replies cannot be read.

    Parameters
    ----------
    generator : Generator
    requests : sequence of (Prompt, callable)
        Each prompt with its parser, which raises `UnreadableError` for an unreadable reply. A refusal (no text) also
        counts as unreadable.
    attempts : int
        Maximum number of attempts per request.
    again_at : float
        Temperature from the second attempt on, or the prompt's own if that is higher. Each attempt is a new sample.

    Returns
    -------
    list of Settled
        In the order of the requests.

    Raises
    ------
    ValueError
        If `attempts` is less than 1.
    """
    if attempts < 1:
        raise ValueError("a question is asked at least once")
    outcomes: list[Settled[Value] | None] = [None] * len(requests)
    open_ = list(range(len(requests)))
    for turn in range(attempts):
        prompts = [_again(requests[index][0], turn, again_at) for index in open_]
        for index, output in zip(open_, generator.generate(prompts) if prompts else [], strict=True):
            outcomes[index] = _read(output, requests[index][1], turn + 1)
        open_ = [index for index in open_ if (outcome := outcomes[index]) is not None and outcome.problem]
    return [outcome for outcome in outcomes if outcome is not None]


def _again(prompt: Prompt, turn: int, again_at: float) -> Prompt:
    if turn == 0:
        return prompt
    # Sample numbers of repeated attempts must differ from those of intended samples of the same prompt.
    return replace(prompt, sample=prompt.sample + turn * _APART, temperature=max(again_at, prompt.temperature))


def _read(output: Output, read: Callable[[str], Value], attempts: int) -> Settled[Value]:
    if output.error or not output.text.strip():
        return Settled(None, Problem.NO_TEXT, attempts, output.text)
    try:
        return Settled(read(output.text), "", attempts, output.text)
    except UnreadableError as error:
        return Settled(None, error.problem, attempts, output.text)
