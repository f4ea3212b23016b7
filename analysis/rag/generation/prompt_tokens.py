"""Prompts as a model's tokens, and chance that depends on the prompt alone."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from ..protocols import Prompt


def digest(prompt: Prompt) -> str:
    """SHA-256 of all that makes a prompt what it is, in hexadecimal."""
    content = {
        "messages": [[message.role, message.content] for message in prompt.messages],
        "max_tokens": prompt.max_tokens,
        "temperature": float(prompt.temperature),
        "choices": list(prompt.choices),
        "sample": prompt.sample,
    }
    # Half a surrogate pair, which no text should hold, has no UTF-8; as an escape it has.
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def chance(prompt: Prompt) -> np.random.Generator:
    """Random numbers of a prompt: the same for equal prompts, whatever stands beside them in a batch."""
    return np.random.default_rng(int(digest(prompt), 16))


def plain(prompt: Prompt) -> str:
    """The messages one after the other, an empty line between them: for models that were taught no chat."""
    return "\n\n".join(message.content for message in prompt.messages)


def has_chat(tokenizer: Any) -> bool:
    """Whether the model was taught to chat: its tokenizer says how a conversation is written."""
    return bool(getattr(tokenizer, "chat_template", None))


def ids(tokenizer: Any, prompt: Prompt, *, chat: bool) -> list[int]:
    """A prompt's tokens, up to where the answer begins.

    A conversation is written as the model's own template says, which may add a system message of its own. Where the
    template knows no system message, its text stands at the beginning of the user's.
    """
    if not chat:
        return list(tokenizer(plain(prompt), verbose=False)["input_ids"])
    messages = [{"role": message.role, "content": message.content} for message in prompt.messages]
    try:
        return _written(tokenizer, messages)
    except Exception:
        # Templates raise errors of their own making.
        merged = _without_system(messages)
        if merged == messages:
            raise
        return _written(tokenizer, merged)


def continuation_ids(tokenizer: Any, prompt: Prompt, text: str, *, spaced: bool) -> list[int]:
    """The tokens of a text that follows a prompt, without special ones.

    Parameters
    ----------
    spaced : bool
        Whether a blank goes between the two where neither has one: where the prompt is plain text that goes on.
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
