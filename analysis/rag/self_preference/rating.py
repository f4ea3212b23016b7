"""Passages rated one by one, as a pointwise reranker does: under the plain and under the RAG prompt (3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from ..shapes import Document, Generator, Prompt, Query
from . import prompts, replies
from .asking import ATTEMPTS, settle
from .bank import Style, style_of


class Setting(StrEnum):
    """What the model is told to rate."""

    PLAIN = "plain"
    RAG = "rag"


_ASKS = {Setting.PLAIN: prompts.Ask.RATE_PLAIN, Setting.RAG: prompts.Ask.RATE_RAG}


@dataclass(frozen=True)
class Rating:
    """One passage rated once.

    Attributes
    ----------
    passage, author : str
        The passage's id and its author.
    truth : bool or None
        Whether it states a true answer; None where nobody knows.
    setting : Setting
    score : int or None
        1 to 5; None where no reply could be read.
    problem : str
        Why there is no score.
    attempts : int
    """

    passage: str
    author: str
    truth: bool | None
    setting: Setting
    score: int | None
    problem: str
    attempts: int


def asked(query: Query, settings: Sequence[Setting] = tuple(Setting)) -> list[tuple[Document, Setting]]:
    """Which passages are rated: normal ones, true and false, and those of which no truth is known."""
    passages = [each for each in query.documents if each.is_helpful is None or style_of(each) == Style.NORMAL]
    return [(passage, setting) for setting in settings for passage in passages]


def request(
    query: Query, passage: Document, setting: Setting, *, is_constrained: bool, version: int = prompts.VERSION
) -> Prompt:
    """The prompt for one rating; constrained, where the generator can, to the five replies that can be read."""
    choices = replies.RATINGS if is_constrained else ()
    if setting is Setting.PLAIN:
        return prompts.prompt(_ASKS[setting], version=version, choices=choices, passage=passage.text)
    return prompts.prompt(
        _ASKS[setting], version=version, choices=choices, question=query.question, passage=passage.text
    )


def rate(
    generator: Generator,
    query: Query,
    settings: Sequence[Setting] = tuple(Setting),
    *,
    attempts: int = ATTEMPTS,
    is_constrained: bool = True,
    version: int = prompts.VERSION,
) -> list[Rating]:
    """Have all passages of a question rated.

    Parameters
    ----------
    generator : Generator
        The evaluator.
    query : Query
        With passages that can be used.
    settings : sequence of Setting
    attempts : int
        How often a reply that cannot be read is asked for, in all; then the score is None.
    is_constrained : bool
        Whether the reply is bound to `###1***` to `###5***`; otherwise it is free, as in the paper, and only parsed.
    version : int
        Of the prompts.

    Returns
    -------
    list of Rating
        Settings in their order, passages in theirs.
    """
    wanted = asked(query, settings)
    settled = settle(
        generator,
        [
            (request(query, passage, setting, is_constrained=is_constrained, version=version), replies.rating)
            for passage, setting in wanted
        ],
        attempts=attempts,
    )
    return [
        Rating(passage.id, passage.author, passage.is_helpful, setting, one.value, one.problem, one.attempts)
        for (passage, setting), one in zip(wanted, settled, strict=True)
    ]
