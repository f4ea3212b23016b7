"""Which device works, how much it holds, in which precision, and when its memory was short."""

from __future__ import annotations

import os
from typing import Any, Literal

Precision = Literal["auto", "full", "half"]

#: Tokens in one batch at most, padding and beams counted: more brings nothing.
MOST_TOKENS = {"cpu": 4_096, "cuda": 262_144}
#: The part of the free memory that a batch may fill: what is reckoned leaves out what libraries take on the way.
FILLED = 0.5
_ALLOCATION = ("not enough memory", "can't allocate memory", "out of memory", "ALLOC_FAILED")


def choose(torch: Any, device: str | None) -> Any:
    """Return the device that is named; by default a CUDA device where there is one."""
    return torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))


def number_type(torch: Any, device: Any, precision: Precision, own: Any) -> Any:
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
    return torch.float16 if precision == "half" or own is torch.float16 else torch.float32


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
    kept = _first(config, "num_key_value_heads") or heads
    inner = _first(config, "intermediate_size", "d_ff", "n_inner") or 4 * hidden
    return int(number_bytes * (2 * layers * kept * head + 4 * hidden + 3 * inner))


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
    return int(sum(each.numel() * each.element_size() for each in model.parameters()))


def _first(config: Any, *names: str) -> int | None:
    return next((value for name in names if isinstance(value := getattr(config, name, None), int) and value), None)
