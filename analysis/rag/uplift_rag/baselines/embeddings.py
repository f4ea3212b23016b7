"""Sentence embeddings for methods that compare texts, trainable encoders, and whether a document contains an answer."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ... import checkpoints, encoders
from ...generation import devices, model_cache
from ...protocols import Document
from ...qa_metrics import normalised

Floats = NDArray[np.float64]

#: Number of texts whose vectors are cached: about 30 MB at 384 dimensions.
KEPT = 20_000
#: A function from texts to vectors of length 1, shape (n_texts, n_dimensions): their products are cosines.
Embed = Callable[[Sequence[str]], Floats]


def embedder(model: str, device: str | None = None) -> Embed:
    """Return an embedding function whose model is loaded on first use, and once for all methods.

    Parameters
    ----------
    model : str
        A name for `checkpoints.find`.
    device : str, optional
        By default a CUDA device if there is one.

    Returns
    -------
    callable
        Raises `checkpoints.ModelMissingError` or `NeuralPartsMissingError` when called.
    """

    return lambda texts: _cached_encoder(model, device).embed(texts)


def text(document: Document) -> str:
    """Return a document's text for embedding: its title, then its text."""
    return f"{document.title}. {document.text}" if document.title else document.text


class _CachedEncoder:
    """An encoder with a cache of recent vectors: splits and methods embed the same questions and documents."""

    def __init__(self, encoder: encoders.Encoder) -> None:
        self._encoder = encoder
        self._vectors: OrderedDict[str, NDArray[np.float32]] = OrderedDict()

    def embed(self, texts: Sequence[str]) -> Floats:
        """Embed texts in their order, shape (n_texts, n_dimensions)."""
        vector_of = {text: self._vectors[text] for text in texts if text in self._vectors}
        missing = [text for text in dict.fromkeys(texts) if text not in vector_of]
        if missing:
            vector_of |= zip(missing, self._encoder.embed(missing), strict=True)
        for text in vector_of:
            self._vectors[text] = vector_of[text]
            self._vectors.move_to_end(text)
        while len(self._vectors) > KEPT:
            self._vectors.popitem(last=False)
        vectors = np.zeros((len(texts), self._encoder.dimensions))
        for index, text in enumerate(texts):
            vectors[index] = vector_of[text]
        return vectors


@lru_cache(maxsize=2)
def _cached_encoder(model: str, device: str | None) -> _CachedEncoder:
    return _CachedEncoder(encoders.load(model, device=device))


if TYPE_CHECKING:
    import torch


#: Tokens in one batch without training, including padding.
CHUNK_TOKENS = {"cpu": 2048, "cuda": 65_536}


class BiEncoder:
    """One encoder for questions and documents, on a device, which can be trained: a model of sentence-transformers.

    Parameters
    ----------
    name : str
        A name for `checkpoints.find`.
    device : str, optional
        By default a CUDA device if there is one.
    longest : int
        Maximum number of tokens of a text; longer texts are truncated.
    """

    def __init__(self, name: str, *, device: str | None = None, longest: int = 256) -> None:
        library = checkpoints.sentence_transformers()
        import torch

        self._torch = torch
        self.device = devices.choose(torch, device)
        self.model = library.SentenceTransformer(
            str(checkpoints.find(name).folder), device=str(self.device), local_files_only=True,
            model_kwargs={"use_safetensors": True, "dtype": torch.float32},
        ).eval()  # fmt: skip
        self.longest = self.model.max_seq_length = int(min(longest, self.model.max_seq_length or longest))
        self._at_once = max(1, CHUNK_TOKENS.get(self.device.type, CHUNK_TOKENS["cpu"]) // self.longest)

    def vectors(self, texts: Sequence[str]) -> torch.Tensor:
        """Embed texts, shape (n_texts, n_dimensions), with gradients if torch tracks them."""
        tokens = {
            name: values.to(self.device) if isinstance(values, self._torch.Tensor) else values
            for name, values in self.model.preprocess(list(texts)).items()
        }
        vectors = self.model(tokens)["sentence_embedding"]
        normalised: torch.Tensor = self._torch.nn.functional.normalize(vectors, dim=1)
        return normalised

    def embed(self, texts: Sequence[str]) -> Floats:
        """Embed texts without gradients, float64, shape (n_texts, n_dimensions), in batches of similar lengths."""
        with model_cache.one_job(self.device):
            vectors = self.model.encode(
                list(texts), batch_size=self._at_once, normalize_embeddings=True, show_progress_bar=False
            )
        return np.asarray(vectors, dtype=np.float64)

    def save(self, folder: Path) -> None:
        """Save the encoder in the layout of sentence-transformers; weights as safetensors."""
        self.model.save(str(folder), create_model_card=False)


def contains_answer(document: Document, answers: Sequence[str]) -> bool:
    """Return whether a document contains a gold answer word for word, both normalised as for exact match.

    Parameters
    ----------
    document : Document
        Its title counts, too.
    answers : sequence of str
        An answer that is empty after normalisation never matches. Without answers, the result is False.

    Returns
    -------
    bool

    Examples
    --------
    >>> contains_answer(Document("1", "It rose in the U.S."), ["us"]), contains_answer(Document("1", "a bus"), ["us"])
    (True, False)
    """
    words = f" {normalised(text(document))} "
    return any(f" {answer} " in words for answer in map(normalised, answers) if answer)


def is_relevant(document: Document, answers: Sequence[str]) -> bool:
    """Return whether the data says that the document helps; if it does not say, whether it contains a gold answer."""
    return contains_answer(document, answers) if document.is_helpful is None else document.is_helpful
