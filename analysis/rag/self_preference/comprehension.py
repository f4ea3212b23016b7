"""Two passages read for an answer, in both orders: which of them the reader used (3.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from ..shapes import Generator, Prompt, Query
from . import prompts, replies
from .asking import ATTEMPTS, settle
from .bank import Case, Pair, style_of


@dataclass(frozen=True)
class Choice:
    """One pair read once.

    Attributes
    ----------
    case : Case
    author, other : str
        Whose passages were compared; of styles both are the same.
    style : str
        Of the author's passage.
    is_author_first : bool
    is_told : bool
        Whether the reader was to say which passage it used; otherwise its answer says so.
    chose_author : bool or None
        Whether it used the author's passage; None where that could not be found out.
    told_author : bool or None
        Whether it named the author's passage, whatever it answered; None where it named none.
    answer : str
    problem : str
        Why nothing could be found out.
    attempts : int
    """

    case: Case
    author: str
    other: str
    style: str
    is_author_first: bool
    is_told: bool
    chose_author: bool | None
    told_author: bool | None
    answer: str
    problem: str
    attempts: int


def request(query: Query, pair: Pair, *, is_constrained: bool = False, version: int = prompts.VERSION) -> Prompt:
    """The prompt for one pair; constrained, where the generator can, to `replies.readings`."""
    return prompts.prompt(
        prompts.Ask.READ_TWO,
        version=version,
        choices=replies.readings(pair) if is_constrained else (),
        question=query.question,
        first=pair.first.text,
        second=pair.second.text,
    )


def read(
    generator: Generator,
    query: Query,
    pairs: Sequence[Pair],
    *,
    attempts: int = ATTEMPTS,
    is_constrained: bool = False,
    version: int = prompts.VERSION,
) -> list[Choice]:
    """Have pairs of a question's passages read.

    Parameters
    ----------
    generator : Generator
        The evaluator.
    query : Query
    pairs : sequence of Pair
        As `bank.pairs` returns them.
    attempts : int
        How often a pair is given to read, in all, when the form is not kept or the answer is that of neither passage or
        of both; then it is unresolved.
    is_constrained : bool
        Whether replies are bound to the two answers and passages; otherwise they are free, as in the paper.
    version : int
        Of the prompts.

    Returns
    -------
    list of Choice
        In the order of the pairs.
    """
    asked = [
        (request(query, pair, is_constrained=is_constrained, version=version), partial(replies.reading, pair=pair))
        for pair in pairs
    ]
    settled = settle(generator, asked, attempts=attempts)
    return [_choice(pair, one.value, one.problem, one.attempts) for pair, one in zip(pairs, settled, strict=True)]


def _choice(pair: Pair, found: replies.Reading | None, problem: str, attempts: int) -> Choice:
    told = found.told if found else None
    return Choice(
        case=pair.case,
        author=pair.ours.author,
        other=pair.theirs.author,
        style=style_of(pair.ours),
        is_author_first=pair.is_ours_first,
        is_told=pair.is_told,
        chose_author=(found.is_first == pair.is_ours_first) if found else None,
        told_author=((told == 1) == pair.is_ours_first) if told else None,
        answer=found.answer if found else "",
        problem=problem,
        attempts=attempts,
    )
