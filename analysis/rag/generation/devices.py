"""The device and precision of a model, and batches as large as the device's memory allows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

Precision = Literal["auto", "full", "half"]

#: Maximum number of tokens in one batch, including padding and beams: larger batches are not faster.
MOST_TOKENS = {"cpu": 4_096, "cuda": 262_144}
#: The share of the free memory that a batch may fill: the estimate omits temporary memory of libraries.
FILLED = 0.5
_ALLOCATION = ("not enough memory", "can't allocate memory", "out of memory", "ALLOC_FAILED")


def choose(torch: Any, device: str | None) -> Any:
    """Return the named device; by default a CUDA device if there is one."""
    return torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))


def number_type(torch: Any, device: Any, precision: Precision, stored_type: Any) -> Any:
    """Return the number type that a model computes in.

    Half precision is for CUDA devices; other devices always compute in full precision. The half type is bfloat16, whose
    range is that of full precision: in float16, T5 and similar models overflow. A device without bfloat16 uses float16
    if the model's weights were published in it (`stored_type`), or if `precision` is "half".

    Parameters
    ----------
    torch : module
    device : torch.device
    precision : "auto", "full" or "half"
    stored_type : torch.dtype or None
        Type of the published weights.
    """
    if device.type != "cuda" or precision == "full":
        return torch.float32
    if torch.cuda.is_bf16_supported():
        return torch.bfloat16
    return torch.float16 if precision == "half" or stored_type is torch.float16 else torch.float32


def free_memory(torch: Any, device: Any) -> int:
    """Return the free memory of a device in bytes."""
    if device.type == "cuda":
        # Memory that torch has reserved but does not use is also free.
        free, _total = torch.cuda.mem_get_info(device)
        return int(free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device))
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):  # not on every system
        return 4 << 30


def bytes_a_token(config: Any, number_bytes: int) -> int:
    """Estimate the memory of one token in a batch: keys and values of all layers, and activations of one layer.

    Parameters
    ----------
    config : transformers.PretrainedConfig
        Missing values are assumed to be large.
    number_bytes : int
        Bytes of one number.
    """
    layers = _first(config, "num_hidden_layers", "num_layers", "n_layer") or 24
    hidden = _first(config, "hidden_size", "d_model", "n_embd") or 1024
    heads = _first(config, "num_attention_heads", "num_heads", "n_head") or 1
    head = _first(config, "head_dim", "d_kv") or hidden // heads
    key_heads = _first(config, "num_key_value_heads") or heads
    inner = _first(config, "intermediate_size", "d_ff", "n_inner") or 4 * hidden
    return int(number_bytes * (2 * layers * key_heads * head + 4 * hidden + 3 * inner))


def batch_tokens(torch: Any, device: Any, config: Any, number_bytes: int) -> int:
    """Return the number of tokens per batch that fits the memory that is free now."""
    fitting = int(free_memory(torch, device) * FILLED / bytes_a_token(config, number_bytes))
    return max(min(fitting, MOST_TOKENS.get(device.type, MOST_TOKENS["cpu"])), 1)


def is_memory_short(torch: Any, error: BaseException) -> bool:
    """Return whether an error means that the device ran out of memory; torch reports it in several ways."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error) for words in _ALLOCATION)


def release(torch: Any, device: Any) -> None:
    """Release memory that torch has reserved on a device but does not use."""
    if device.type == "cuda":
        torch.cuda.empty_cache()


def held(model: Any) -> int:
    """Return the size of a model's weights in bytes."""
    return int(sum(parameter.numel() * parameter.element_size() for parameter in model.parameters()))


def _first(config: Any, *names: str) -> int | None:
    return next((value for name in names if isinstance(value := getattr(config, name, None), int) and value), None)


Item = TypeVar("Item")
Result = TypeVar("Result")

#: The fewest tokens that a shared prefix must save in a batch: below, the second pass through the model costs more than
#: it saves.
WORTH = 64


class ModelMemoryError(MemoryError):
    """Not even a single text fits into the device's memory."""


@dataclass
class Budget:
    """Tokens per batch; lowered when memory runs out, and not raised again."""

    tokens: int


@dataclass(frozen=True)
class Batches(Generic[Item, Result]):
    """Process a list of items in batches.

    Attributes
    ----------
    torch : module
    device : torch.device
    budget : Budget
        The model's budget, which persists from one list to the next.
    name : str
        Name of the model, for error messages.
    tokens : callable(Item) -> int
        Number of tokens of an item. In a batch, each item counts as many as the longest.
    work : callable(list of Item) -> sequence of Result
        Processes one batch.
    """

    torch: Any
    device: Any
    budget: Budget
    name: str
    tokens: Callable[[Item], int]
    work: Callable[[list[Item]], Sequence[Result]]

    def run(self, items: Sequence[Item]) -> Iterator[tuple[list[Item], Sequence[Result]]]:
        """Yield each batch of neighbouring items with its results.

        Raises
        ------
        ModelMemoryError
            If a single item does not fit into memory.
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
        """Fill batches in the items' order up to the budget; an item above the budget gets its own batch."""
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
        # Outside the handler, because the error holds the memory of the failed batch.
        release(self.torch, self.device)
        return None

    def _smaller(self, batch: list[Item]) -> list[list[Item]]:
        half = (len(batch) + 1) // 2
        self.budget.tokens = min(self.budget.tokens, max(map(self.tokens, batch)) * half)
        return [batch[half:], batch[:half]]


def shared(texts: Sequence[tuple[int, ...]]) -> int:
    """Return the length of the longest common prefix of all texts.

    Examples
    --------
    >>> shared([(1, 2, 3), (1, 2, 4, 5)])
    2
    """
    first, last = min(texts), max(texts)  # in lexicographic order, all texts between share what these two share
    return next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))


def common(texts: Sequence[tuple[int, ...]]) -> int:
    """Return the length of a shared prefix, 0 if too short to pay off; at least one token of each text is left."""
    if len(texts) < 2:
        return 0
    length = min(shared(texts), min(map(len, texts)) - 1)
    return length if length * (len(texts) - 1) >= WORTH else 0
