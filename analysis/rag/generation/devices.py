"""Which device works, in which precision, and in batches as large as its memory allows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

Precision = Literal["auto", "full", "half"]

#: Tokens in one batch at most, padding and beams counted: more brings nothing.
MOST_TOKENS = {"cpu": 4_096, "cuda": 262_144}
#: The part of the free memory that a batch may fill: what is reckoned leaves out what libraries take on the way.
FILLED = 0.5
_ALLOCATION = ("not enough memory", "can't allocate memory", "out of memory", "ALLOC_FAILED")


def choose(torch: Any, device: str | None) -> Any:
    """Return the device that is named; by default a CUDA device where there is one."""
    return torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))


def number_type(torch: Any, device: Any, precision: Precision, stored_type: Any) -> Any:
    """Return the type of number that a model computes in.

    Half precision is for CUDA devices; elsewhere all is computed in full. As bfloat16, whose range is that of full
    precision: in float16 T5 and its like overflow. A device that has no bfloat16 takes float16 where the model's
    weights were published in it (`own`), or where it is told to.

    Parameters
    ----------
    torch : module
    device : torch.device
    precision : "auto", "full" or "half"
    own : torch.dtype or None
        Of the weights as published.
    """
    if device.type != "cuda" or precision == "full":
        return torch.float32
    if torch.cuda.is_bf16_supported():
        return torch.bfloat16
    return torch.float16 if precision == "half" or stored_type is torch.float16 else torch.float32


def free_memory(torch: Any, device: Any) -> int:
    """Return how many bytes may still be taken on a device."""
    if device.type == "cuda":
        # What torch holds back for itself is free, too.
        free, _total = torch.cuda.mem_get_info(device)
        return int(free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device))
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):  # not on every system
        return 4 << 30


def bytes_a_token(config: Any, number_bytes: int) -> int:
    """Reckon what a token of a batch holds in memory: keys and values of each layer, and one layer's numbers at work.

    Parameters
    ----------
    config : transformers.PretrainedConfig
        What is not said in it is taken large.
    number_bytes : int
        Of one number.
    """
    layers = _first(config, "num_hidden_layers", "num_layers", "n_layer") or 24
    hidden = _first(config, "hidden_size", "d_model", "n_embd") or 1024
    heads = _first(config, "num_attention_heads", "num_heads", "n_head") or 1
    head = _first(config, "head_dim", "d_kv") or hidden // heads
    key_heads = _first(config, "num_key_value_heads") or heads
    inner = _first(config, "intermediate_size", "d_ff", "n_inner") or 4 * hidden
    return int(number_bytes * (2 * layers * key_heads * head + 4 * hidden + 3 * inner))


def batch_tokens(torch: Any, device: Any, config: Any, number_bytes: int) -> int:
    """Return how many tokens go through a model at once, by the memory that is free now."""
    fitting = int(free_memory(torch, device) * FILLED / bytes_a_token(config, number_bytes))
    return max(min(fitting, MOST_TOKENS.get(device.type, MOST_TOKENS["cpu"])), 1)


def is_memory_short(torch: Any, error: BaseException) -> bool:
    """Whether an error says that the device's memory did not suffice; torch says it in several ways."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error) for words in _ALLOCATION)


def release(torch: Any, device: Any) -> None:
    """Give back what torch holds of a device without using it."""
    if device.type == "cuda":
        torch.cuda.empty_cache()


def held(model: Any) -> int:
    """Bytes that a model's weights take."""
    return int(sum(parameter.numel() * parameter.element_size() for parameter in model.parameters()))


def _first(config: Any, *names: str) -> int | None:
    return next((value for name in names if isinstance(value := getattr(config, name, None), int) and value), None)


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
            results = self._try(batch)
            if results is None:
                waiting += self._smaller(batch)
            else:
                yield batch, results

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
            if not is_memory_short(self.torch, error):
                raise
            if len(batch) == 1:
                raise ModelMemoryError(
                    f"{self.name} cannot hold one text of {self.tokens(batch[0])} tokens in the memory of "
                    f"{self.device}. Free memory or use a smaller model."
                ) from error
        # Outside the handler: the error holds what the failed batch took.
        release(self.torch, self.device)
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
    first, last = min(texts), max(texts)  # in the order of words, whatever these share, all between them do
    return next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))


def common(texts: Sequence[tuple[int, ...]]) -> int:
    """Count the tokens at the beginning that are worth being read once for all texts; at least one of each is left."""
    if len(texts) < 2:
        return 0
    length = min(shared(texts), min(map(len, texts)) - 1)
    return length if length * (len(texts) - 1) >= WORTH else 0
