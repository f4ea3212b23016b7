"""Many questions at once: what methods ask step by step goes to the generator together, one wave a step.

A method says what it asks as a Python generator: it yields prompts, is sent their outputs, yields what follows from
these, and returns its answer. Nobody waits for a single prompt: a device gets batches, an endpoint all its slots.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

from ... import shapes
from ...shapes import Document, Output, Prompt, Query
from ..prompts import prompt
from .protocol import Answered, Settings, answered

Found = TypeVar("Found")
#: Yields prompts, is sent their outputs in their order, and returns what it was asked for.
Asking = Generator[Sequence[Prompt], Sequence[Output], Found]
#: So many go on side by side: their prompts are held in memory.
AT_ONCE = 64


class Answering(ABC):
    """A method that says what it asks, and so answers one question, or many of them together."""

    @property
    @abstractmethod
    def name(self) -> str:
        """See `protocol.Method`."""

    @property
    def form(self) -> str:
        """See `protocol.Method`; a method with one form is called like it."""
        return self.name

    @abstractmethod
    def asking(self, query: Query, documents: Sequence[Document], generator: shapes.Generator) -> Asking[Answered]:
        """Say step by step what is asked to answer a query. See `protocol.Method`."""

    def answer(self, query: Query, documents: Sequence[Document], generator: shapes.Generator) -> Answered:
        """Answer one query. See `protocol.Method`."""
        (found,) = together([self.asking(query, documents, generator)], generator)
        return found


def reading(query: Query, documents: Sequence[Document], settings: Settings) -> Asking[Answered]:
    """The generator's answer with these documents in this order, in one prompt: how all but REPLUG end.

    Parameters
    ----------
    query : Query
    documents : sequence of Document
        None: the prompt without documents.
    settings : Settings

    Returns
    -------
    Answered
    """
    (output,) = yield [prompt(query.question, documents, max_tokens=settings.max_tokens)]
    return answered(output, documents)


def together(
    askings: Iterable[Asking[Found]],
    generator: shapes.Generator,
    *,
    at_once: int = AT_ONCE,
    report: Callable[[int], None] = lambda _done: None,
) -> list[Found]:
    """Ask for several in lockstep: all prompts of a step in one call of the generator.

    Parameters
    ----------
    askings : iterable of Asking
        They end after as many steps as they like.
    generator : shapes.Generator
        Prompts that are equal within a wave it answers once, as always.
    at_once : int
        So many side by side; the next begin when all of these have ended.
    report : callable
        Called with how many have ended, after each wave; it may raise to stop.

    Returns
    -------
    list
        What each returned, in their order: the same as one after the other.
    """
    found: list[Found] = []
    left = iter(askings)
    while some := list(islice(left, at_once)):
        before = len(found)
        for ended in _waves(some, generator):
            report(before + len(ended))
        found += [ended[place] for place in range(len(some))]
    return found


def _waves(askings: Sequence[Asking[Found]], generator: shapes.Generator) -> Iterator[dict[int, Found]]:
    """Go on with all until each has ended; yields what ended so far, by place, at the beginning and after each wave."""
    ended: dict[int, Found] = {}
    waiting: dict[int, Sequence[Prompt]] = {}

    def advance(place: int, outputs: Sequence[Output] | None) -> None:
        try:
            waiting[place] = next(askings[place]) if outputs is None else askings[place].send(outputs)
        except StopIteration as end:
            ended[place] = end.value

    for place in range(len(askings)):
        advance(place, None)
    yield ended
    while waiting:
        asked = dict(waiting)
        waiting.clear()
        outputs = iter(generator.generate([each for prompts in asked.values() for each in prompts]))
        for place, prompts in asked.items():
            advance(place, list(islice(outputs, len(prompts))))
        yield ended
