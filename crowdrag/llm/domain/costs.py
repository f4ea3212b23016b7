"""Tokens and what they cost: what a call can come to at most, and what it did come to."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ..models import Endpoint

MILLION = Decimal(1_000_000)
# Chat templates wrap each message, and some servers prepend lines of their own.
TOKENS_PER_MESSAGE = 16
TOKENS_PER_REQUEST = 64
# A server that reports more than we allowed for is believed up to this factor; beyond it the figure is absurd.
BELIEVED = 4


@dataclass(frozen=True)
class Bound:
    """The most tokens that a call can be billed for, if the server keeps to what it was asked."""

    prompt: int
    completion: int


@dataclass(frozen=True)
class Usage:
    """The tokens that a call is booked with; `estimated` where the server's figures could not be used."""

    prompt: int
    completion: int
    estimated: bool = False


def bound(*, messages: Sequence[dict[str, str]], extra: Any, completion: int) -> Bound:
    """Return the upper bound of a call's tokens.

    No tokeniser in use makes more tokens than a text has bytes (they all fall back to bytes), so bytes are a bound
    that needs no tokeniser; `extra` is whatever else is sent that may count (a schema).
    """
    size = sum(len(message["content"].encode()) for message in messages)
    size += len(json.dumps(extra, ensure_ascii=False).encode()) if extra is not None else 0
    return Bound(size + TOKENS_PER_MESSAGE * len(messages) + TOKENS_PER_REQUEST, completion)


def price(*, endpoint: Endpoint, prompt: int, completion: int) -> Decimal:
    """Return what so many tokens cost, in minor units, exactly."""
    return (prompt * endpoint.input_price + completion * endpoint.output_price) / MILLION


def read_usage(reported: Any, *, most: Bound, text: str | None) -> Usage:
    """Return the tokens that a server reported, each replaced by its upper bound where it cannot be true.

    Missing, negative, fractional and absurd figures, no input tokens, and no output tokens for an answer that has
    text cannot be true. A figure over the bound but not absurd is what will be billed: it is believed and marked.
    """
    figures = reported if isinstance(reported, dict) else {}
    prompt, guessed_prompt = _figure(figures.get("prompt_tokens"), least=1, most=most.prompt)
    completion, guessed_completion = _figure(
        figures.get("completion_tokens"), least=1 if text else 0, most=most.completion
    )
    return Usage(prompt, completion, estimated=guessed_prompt or guessed_completion)


def _figure(value: Any, *, least: int, most: int) -> tuple[int, bool]:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= BELIEVED * most:
        return most, True
    return value, value > most
