"""Questions that are asked again where the reply says nothing, a few times, and then left unresolved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from ..shapes import Generator, Output, Prompt
from .replies import Problem, UnreadableError

Value = TypeVar("Value")

#: How often a question is asked in all (design 5: at most five times).
ATTEMPTS = 5
#: At temperature 0 the same question has the same answer: it is asked again at this one.
AGAIN_AT = 0.7
_APART = 1000


@dataclass(frozen=True)
class Settled(Generic[Value]):
    """What came of a question.

    Attributes
    ----------
    value : object or None
        None where no reply could be read.
    problem : str
        Why the last reply could not be read; "" where there is a value.
    attempts : int
        How often it was asked.
    text : str
        The last reply.
    """

    value: Value | None
    problem: str
    attempts: int
    text: str


def settle(
    generator: Generator,
    asked: Sequence[tuple[Prompt, Callable[[str], Value]]],
    *,
    attempts: int = ATTEMPTS,
    again_at: float = AGAIN_AT,
) -> list[Settled[Value]]:
    """Ask all questions at once, then those again whose replies cannot be read.

    Parameters
    ----------
    generator : Generator
    asked : sequence of (Prompt, callable)
        What reads a reply raises `UnreadableError` where it says nothing. A refusal (no text) is such a reply.
    attempts : int
        At most so many times in all.
    again_at : float
        The temperature from the second time on, or the prompt's own if that is higher. Each time is another sample.

    Returns
    -------
    list of Settled
        In the order of the questions.

    Raises
    ------
    ValueError
        If nothing may be asked even once.
    """
    if attempts < 1:
        raise ValueError("a question is asked at least once")
    found: list[Settled[Value] | None] = [None] * len(asked)
    open_ = list(range(len(asked)))
    for turn in range(attempts):
        prompts = [_again(asked[place][0], turn, again_at) for place in open_]
        for place, output in zip(open_, generator.generate(prompts) if prompts else [], strict=True):
            found[place] = _read(output, asked[place][1], turn + 1)
        open_ = [place for place in open_ if (one := found[place]) is not None and one.problem]
    return [one for one in found if one is not None]


def _again(prompt: Prompt, turn: int, again_at: float) -> Prompt:
    if turn == 0:
        return prompt
    # Samples of the same prompt that were asked for on purpose stay apart from those that are asked again.
    return replace(prompt, sample=prompt.sample + turn * _APART, temperature=max(again_at, prompt.temperature))


def _read(output: Output, read: Callable[[str], Value], attempts: int) -> Settled[Value]:
    if output.error or not output.text.strip():
        return Settled(None, Problem.NO_TEXT, attempts, output.text)
    try:
        return Settled(read(output.text), "", attempts, output.text)
    except UnreadableError as error:
        return Settled(None, error.problem, attempts, output.text)
