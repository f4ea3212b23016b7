"""How long the documents are that a method hands over, without the prompt around them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from analysis.rag import checkpoints
from analysis.rag.generation import loading
from analysis.rag.shapes import Document
from analysis.rag.uplift.prompts import reference

from .. import generating
from ..experiment import BadParameterError

TOKENS, WORDS = "tokens", "words"
_NO_TOKENIZER = (
    BadParameterError, checkpoints.ModelMissingError, checkpoints.NeuralPartsMissingError,
    loading.UnsupportedGeneratorError, OSError, ValueError,
)  # fmt: skip


def counter(parameters: Mapping[str, Any]) -> tuple[Callable[[Document], int], str]:
    """How a run's documents are counted, as a prompt shows them: number, title and text.

    Parameters
    ----------
    parameters : mapping
        Of the run; only `generator` is read.

    Returns
    -------
    callable(Document) -> int, str
        `tokens` of a model in this process; `words` of others: a server counts whole prompts alone, and another
        model's tokens would be neither.
    """
    length, unit = _tokenizer(parameters)
    by_text = cache(length)
    return lambda document: by_text(reference([document])), unit


def _tokenizer(parameters: Mapping[str, Any]) -> tuple[Callable[[str], int], str]:
    try:
        named = generating.read(str(parameters.get("generator") or ""))
        if named.where == "model":
            generating.check_offered(named.name)
            tokenizer = loading.tokenizer(named.name)
            return lambda text: len(tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]), TOKENS
    except _NO_TOKENIZER:
        pass  # the tables need no model: whoever cannot load it reads words
    return lambda text: len(text.split()), WORDS
