"""Work in batches: as large as memory allows, cut in two where it did not suffice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from . import devices

Item = TypeVar("Item")
Result = TypeVar("Result")

#: A shared beginning is read once for a batch where that saves at least so many tokens; below, two passes through the
#: model cost more than one.
WORTH = 64


class ModelMemoryError(MemoryError):
    """Not even one text at a time fits into the device's memory."""


@dataclass
class Budget:
    """How many tokens go through a model at once; it falls where memory was short, and stays there."""

    tokens: int


@dataclass(frozen=True)
class Batches(Generic[Item, Result]):
    """How a list of items is worked off.

    Attributes
    ----------
    torch : module
    device : torch.device
    budget : Budget
        Of the model: what one list has found out serves the next.
    name : str
        Of the model, for messages.
    tokens : callable(Item) -> int
        What an item takes in a batch; it counts as much as the longest beside it.
    work : callable(list of Item) -> sequence of Result
        Works on one batch.
    """

    torch: Any
    device: Any
    budget: Budget
    name: str
    tokens: Callable[[Item], int]
    work: Callable[[list[Item]], Sequence[Result]]

    def run(self, items: Sequence[Item]) -> Iterator[tuple[list[Item], Sequence[Result]]]:
        """Yield each batch with what came of it, neighbours together.

        Raises
        ------
        ModelMemoryError
            If an item alone does not fit.
        """
        waiting = self.split(items)[::-1]
        while waiting:
            batch, *rest = self.split(waiting.pop())  # the budget may have fallen since
            waiting += rest[::-1]
            found = self._try(batch)
            if found is None:
                waiting += self._smaller(batch)
            else:
                yield batch, found

    def split(self, items: Sequence[Item]) -> list[list[Item]]:
        """Fill batches in the items' order, as far as the budget goes; an item that passes it is alone."""
        batches: list[list[Item]] = []
        width = 0
        for item in items:
            width = max(width, self.tokens(item))
            if batches and width * (len(batches[-1]) + 1) <= self.budget.tokens:
                batches[-1].append(item)
            else:
                batches.append([item])
                width = self.tokens(item)
        return batches

    def _try(self, batch: list[Item]) -> Sequence[Result] | None:
        try:
            return self.work(batch)
        except (RuntimeError, MemoryError) as error:
            if not devices.is_memory_short(self.torch, error):
                raise
            if len(batch) == 1:
                raise ModelMemoryError(
                    f"{self.name} cannot hold one text of {self.tokens(batch[0])} tokens in the memory of "
                    f"{self.device}. End what else uses it, or take a smaller model."
                ) from error
        # Outside the handler: the error holds what the failed batch took.
        devices.release(self.torch, self.device)
        return None

    def _smaller(self, batch: list[Item]) -> list[list[Item]]:
        half = (len(batch) + 1) // 2
        self.budget.tokens = min(self.budget.tokens, max(map(self.tokens, batch)) * half)
        return [batch[half:], batch[:half]]


def shared(texts: Sequence[tuple[int, ...]]) -> int:
    """Count the tokens that all texts begin with.

    Examples
    --------
    >>> shared([(1, 2, 3), (1, 2, 4, 5)])
    2
    """
    least, most = min(texts), max(texts)  # in the order of words, whatever these share, all between them do
    return next((i for i, (a, b) in enumerate(zip(least, most, strict=False)) if a != b), min(len(least), len(most)))


def common(texts: Sequence[tuple[int, ...]]) -> int:
    """Count the tokens at the beginning that are worth being read once for all texts; at least one of each is left."""
    if len(texts) < 2:
        return 0
    length = min(shared(texts), min(map(len, texts)) - 1)
    return length if length * (len(texts) - 1) >= WORTH else 0
