"""Sentence embeddings for methods that compare questions with each other or with documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ... import encoders
from ...shapes import Document

Floats = NDArray[np.float64]

#: From texts to vectors of length 1, shape (n_texts, n_dimensions): their products are cosines.
Embed = Callable[[Sequence[str]], Floats]


def embedder(model: str, device: str | None = None) -> Embed:
    """Embeddings by a model that is loaded when it is first used, and once for all methods.

    Parameters
    ----------
    model : str
        What `checkpoints.find` knows.
    device : str, optional
        By default a CUDA device where there is one.

    Returns
    -------
    callable
        Raises `checkpoints.ModelMissingError` or `NeuralPartsMissingError` when it is called.
    """

    def embed(texts: Sequence[str]) -> Floats:
        encoder = _load(model, device)
        if not texts:
            return np.zeros((0, encoder.dimensions))
        return encoder.embed(list(texts)).astype(np.float64)

    return embed


def text(document: Document) -> str:
    """A document as it is embedded: its title before its text."""
    return f"{document.title}. {document.text}" if document.title else document.text


@lru_cache(maxsize=2)
def _load(model: str, device: str | None) -> encoders.Encoder:
    return encoders.load(model, device=device)
