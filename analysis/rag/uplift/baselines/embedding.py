"""Sentence embeddings for methods that compare questions with each other or with documents."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ... import encoders
from ...shapes import Document

Floats = NDArray[np.float64]

#: Texts whose vectors are kept: some 30 MB at 384 dimensions.
KEPT = 20_000
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

    return lambda texts: _kept(model, device).embed(texts)


def text(document: Document) -> str:
    """A document as it is embedded: its title before its text."""
    return f"{document.title}. {document.text}" if document.title else document.text


class _Kept:
    """An encoder with what it embedded last: splits and methods ask for the same questions and documents."""

    def __init__(self, encoder: encoders.Encoder) -> None:
        self._encoder = encoder
        self._vectors: OrderedDict[str, NDArray[np.float32]] = OrderedDict()

    def embed(self, texts: Sequence[str]) -> Floats:
        """Vectors in the order of the texts, shape (n_texts, n_dimensions)."""
        found = {each: self._vectors[each] for each in texts if each in self._vectors}
        missing = [each for each in dict.fromkeys(texts) if each not in found]
        if missing:
            found |= zip(missing, self._encoder.embed(missing), strict=True)
        for each in found:
            self._vectors[each] = found[each]
            self._vectors.move_to_end(each)
        while len(self._vectors) > KEPT:
            self._vectors.popitem(last=False)
        vectors = np.zeros((len(texts), self._encoder.dimensions))
        for place, each in enumerate(texts):
            vectors[place] = found[each]
        return vectors


@lru_cache(maxsize=2)
def _kept(model: str, device: str | None) -> _Kept:
    return _Kept(encoders.load(model, device=device))
