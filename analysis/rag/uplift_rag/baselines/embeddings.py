"""Sentence embeddings for methods that compare texts, trainable encoders, and whether a document contains an answer."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ... import checkpoints, encoders
from ...generation import model_cache
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
#: The file in which sentence-transformers states the pooling.
_POOLING = "1_Pooling/config.json"
_NO_LIMIT = 1_000_000


class BiEncoder:
    """One encoder for questions and documents, on a device.

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
        try:
            import torch
            from transformers import AutoModel, AutoTokenizer
            from transformers.utils import logging
        except ImportError as error:
            raise checkpoints.missing_parts() from error
        logging.disable_progress_bar()
        checkpoint = checkpoints.find(name)
        self._torch = torch
        self.device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self.model = AutoModel.from_pretrained(checkpoint.folder, use_safetensors=True, dtype=torch.float32)
        self.model.to(self.device).eval()
        self.tokenizer = AutoTokenizer.from_pretrained(checkpoint.folder)
        self._pooling = checkpoint.settings(_POOLING)
        limit = getattr(self.model.config, "max_position_embeddings", None) or _NO_LIMIT
        self.longest = int(min(longest, limit - 2, self.tokenizer.model_max_length))
        self._chunk = CHUNK_TOKENS.get(self.device.type, CHUNK_TOKENS["cpu"])

    def vectors(self, texts: Sequence[str]) -> torch.Tensor:
        """Embed texts, shape (n_texts, n_dimensions), with gradients if torch tracks them."""
        tokens = self.tokenizer(
            list(texts), truncation=True, max_length=self.longest, padding=True, return_tensors="pt"
        ).to(self.device)
        states = self.model(**tokens).last_hidden_state
        if self._pooling.get("pooling_mode_cls_token", False):
            pooled = states[:, 0]
        else:
            mask = tokens["attention_mask"].unsqueeze(-1).to(states.dtype)
            pooled = (states * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1)
        normalised: torch.Tensor = self._torch.nn.functional.normalize(pooled, dim=1)
        return normalised

    def embed(self, texts: Sequence[str]) -> Floats:
        """Embed texts without gradients, float64, shape (n_texts, n_dimensions), in batches of similar lengths."""
        embeddings = np.empty((len(texts), int(self.model.config.hidden_size)))
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        size = max(1, self._chunk // self.longest)
        for i in range(0, len(order), size):
            places = order[i : i + size]
            with model_cache.one_job(self.device), self._torch.no_grad():
                embeddings[places] = self.vectors([texts[index] for index in places]).double().cpu().numpy()
        return embeddings

    def save(self, folder: Path) -> None:
        """Save the encoder in the standard layout: safetensors, tokenizer, pooling configuration."""
        folder.mkdir(parents=True, exist_ok=True)
        self.model.save_pretrained(folder, safe_serialization=True)
        self.tokenizer.save_pretrained(folder)
        if self._pooling:
            path = folder / _POOLING
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(self._pooling), encoding="utf-8")


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
