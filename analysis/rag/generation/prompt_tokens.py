"""Prompts as tokens of a model, and random numbers that depend only on the prompt."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from ..protocols import Prompt


def digest(prompt: Prompt) -> str:
    """Return the SHA-256 digest of all fields of a prompt, in hexadecimal."""
    content = {
        "messages": [[message.role, message.content] for message in prompt.messages],
        "max_tokens": prompt.max_tokens,
        "temperature": float(prompt.temperature),
        "choices": list(prompt.choices),
        "sample": prompt.sample,
    }
    # A lone surrogate, which no text should hold, cannot be encoded in UTF-8, but JSON escapes it.
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def chance(prompt: Prompt) -> np.random.Generator:
    """Return a random generator for a prompt: equal prompts get equal numbers, in any batch."""
    return np.random.default_rng(int(digest(prompt), 16))


def plain(prompt: Prompt) -> str:
    """Join the messages with blank lines, for models without chat training."""
    return "\n\n".join(message.content for message in prompt.messages)


def has_chat(tokenizer: Any) -> bool:
    """Return whether the model was trained for chat, that is, whether its tokenizer has a chat template."""
    return bool(getattr(tokenizer, "chat_template", None))


def ids(tokenizer: Any, prompt: Prompt, *, chat: bool) -> list[int]:
    """Tokenize a prompt, up to where the answer begins.

    A chat prompt follows the model's own template, which may add its own system message. If the template does not
    support system messages, their text goes before the user's message.
    """
    if not chat:
        return list(tokenizer(plain(prompt), verbose=False)["input_ids"])
    messages = [{"role": message.role, "content": message.content} for message in prompt.messages]
    try:
        return _written(tokenizer, messages)
    except Exception:
        # Templates raise their own error types.
        merged = _without_system(messages)
        if merged == messages:
            raise
        return _written(tokenizer, merged)


def continuation_ids(tokenizer: Any, prompt: Prompt, text: str, *, spaced: bool) -> list[int]:
    """Tokenize a text that follows a prompt, without special tokens.

    Parameters
    ----------
    spaced : bool
        Whether to insert a space between the two if neither has one: for prompts in plain text that the model
        continues.
    """
    if spaced and prompt.messages and text and not text[0].isspace() and not plain(prompt)[-1:].isspace():
        text = f" {text}"
    return list(tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])


def _written(tokenizer: Any, messages: list[dict[str, Any]]) -> list[int]:
    encoded = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=True, return_dict=True)
    return list(encoded["input_ids"])


def _without_system(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    merged: list[dict[str, Any]] = []
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "system":
            waiting.append(message["content"])
        elif message["role"] == "user" and waiting:
            merged.append({**message, "content": "\n\n".join([*waiting, message["content"]])})
            waiting = []
        else:
            merged.append(message)
    return [*merged, *({"role": "user", "content": text} for text in waiting)]
