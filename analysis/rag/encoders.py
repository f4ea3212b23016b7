"""Encoders: texts to the contextual embeddings of their tokens, and to one embedding a text.

BERTScore takes the first (`Encoder.encode`), dense retrieval the second (`Encoder.embed`). No Django, no database;
torch and transformers are imported when an encoder is loaded. docs/methods/bertscore.md.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from analysis.text.bertscore import TokenEmbeddings

from . import checkpoints
from .checkpoints import BUNDLED, Checkpoint
from .generation import devices, model_cache

#: Where encoders keep their layers: BERT, RoBERTa, DeBERTa, MPNet; DistilBERT; T5; XLNet; BART and ModernBERT.
_PLACES = ("encoder.layer", "transformer.layer", "encoder.block", "layer", "layers")


class BadLayerError(ValueError):
    """The model has no such layer."""


class UnsupportedModelError(ValueError):
    """The model keeps its layers where nobody looks for them."""


def cut(model: Any, layer: int | None, *, name: str) -> tuple[Any, int, int]:
    """Take a model's layers after `layer` away; all stay if it is None.

    Parameters
    ----------
    model : torch.nn.Module
        Of transformers; of one that also decodes, only the encoder is kept.
    layer : int or None
        From 0 (the embeddings before any context) to the number of layers.
    name : str
        What the errors call it.

    Returns
    -------
    (Module, int, int)
        The model, how many layers it had, and how many it has.
    """
    if hasattr(model, "encoder") and hasattr(model, "decoder"):
        model = model.encoder
    for path_name in _PLACES:
        *path, last = path_name.split(".")
        holder = model
        for step in path:
            holder = getattr(holder, step, None)
        stack = getattr(holder, last, None)
        if stack is not None and hasattr(stack, "__len__"):
            break
    else:
        raise UnsupportedModelError(f"{name} ({type(model).__name__}) has no separable layers. Choose another model.")
    had = len(stack)
    layers = had if layer is None else layer
    if not 0 <= layers <= had:
        raise BadLayerError(f"{name} has {had} layers. Choose a layer from 0 to {had}, not {layer}.")
    setattr(holder, last, stack[:layers])
    return model, had, layers


Floats = NDArray[np.float32]
Precision = Literal["full", "half"]

#: Tokens in one batch, padding counted. On the CPU a text of a response's length is fastest alone.
BATCH_TOKENS = {"cpu": 512, "cuda": 32_768}
# Tokenizers without a limit of their own say so by a number of thirty digits.
_NO_LIMIT = 1_000_000
# Positions begin after the padding's id in these.
_OFFSET_POSITIONS = {
    "roberta",
    "xlm-roberta",
    "camembert",
    "xlm-roberta-xl",
    "longformer",
    "mpnet",
    "roberta-prelayernorm",
}


class EncoderMemoryError(MemoryError):
    """Not even one text at a time fits into the device's memory."""


class NoSentenceEmbeddingError(ValueError):
    """One embedding a text is made from the last layer, and this encoder ends before."""


@dataclass(frozen=True)
class Identity:
    """What made an embedding: equal identities give embeddings that can be compared.

    Attributes
    ----------
    model : str
        As it was asked for.
    layer : int
        After how many layers.
    version : str
        Of the model's files; marked where the arithmetic was in half precision.
    """

    model: str
    layer: int
    version: str

    def __str__(self) -> str:
        return f"{self.model}, layer {self.layer}, {self.version}"


class Encoder:
    """A model on a device. Make it with `load`; it may be kept and used again, by one thread at a time."""

    def __init__(self, checkpoint: Checkpoint, *, layer: int | None, device: str | None, precision: Precision,
                 batch_tokens: int | None) -> None:  # fmt: skip
        try:
            import torch
            from transformers import AutoModel, AutoTokenizer
            from transformers.utils import logging
        except ImportError as error:
            raise checkpoints.missing_parts() from error
        logging.disable_progress_bar()
        self._torch = torch
        self._checkpoint = checkpoint
        self.device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self._tokenizer = AutoTokenizer.from_pretrained(checkpoint.folder, **_tokenizing(checkpoint))
        model = AutoModel.from_pretrained(checkpoint.folder, use_safetensors=True, dtype=torch.float32).eval()
        model, self.layers, self.layer = cut(model, layer, name=checkpoint.name)
        is_half = precision == "half" and self.device.type == "cuda"
        self._model = (model.half() if is_half else model).to(self.device)
        self.batch_tokens = batch_tokens or BATCH_TOKENS.get(self.device.type, BATCH_TOKENS["cpu"])
        self.longest = self._limit()
        self.identity = Identity(checkpoint.name, self.layer, checkpoint.version + ("-half" if is_half else ""))
        self._unweighted = [
            token for token in (self._tokenizer.cls_token_id, self._tokenizer.sep_token_id) if token is not None
        ]

    @property
    def bytes(self) -> int:
        """What its weights take of the device's memory."""
        return devices.held(self._model)

    @property
    def dimensions(self) -> int:
        """How many numbers an embedding has."""
        return int(self._model.config.hidden_size)

    def count(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each text has, special ones too, as far as the encoder reads."""
        return [len(ids) for ids, _cut in self._tokens(texts)]

    def encode(self, texts: Sequence[str]) -> list[TokenEmbeddings]:
        """Embed every token of each text.

        Parameters
        ----------
        texts : sequence of str
            White space around them does not count. An empty text has its special tokens only. What is longer than
            `longest` tokens is cut, and says so.

        Returns
        -------
        list of TokenEmbeddings
            In the order of `texts`; vectors of float32, shape (n_tokens, `dimensions`), on the CPU. The same texts give
            the same bytes on one machine's CPU; among other texts a text's numbers may differ in the seventh digit.

        Raises
        ------
        EncoderMemoryError
            If a text alone does not fit into the device's memory.
        """
        tokens = self._tokens(texts)
        embeddings: dict[int, TokenEmbeddings] = {}
        for index, vectors in self._run(tokens):
            ids, cut = tokens[index]
            numbers = np.array(ids, dtype=np.int64)
            embeddings[index] = TokenEmbeddings(vectors, numbers, ~np.isin(numbers, self._unweighted), cut)
        return [embeddings[index] for index in range(len(texts))]

    def embed(
        self, texts: Sequence[str], *, pooling: Literal["mean", "first"] | None = None, normalised: bool = True
    ) -> Floats:
        """Embed each text as one vector of length 1, for retrieval: the dot product is the cosine similarity.

        Parameters
        ----------
        texts : sequence of str
        pooling : "mean" or "first", optional
            The mean over all tokens, or the first token. By default as the model's files say (sentence-transformers'
            `1_Pooling`), else the mean.
        normalised : bool
            Whether vectors are brought to length 1; some models (Contriever) are compared without.

        Returns
        -------
        ndarray of float32, shape (n_texts, n_dimensions)
            Cut where the model's files say (256 tokens for the bundled one).

        Raises
        ------
        NoSentenceEmbeddingError
            If the encoder was loaded with fewer layers than the model has.
        EncoderMemoryError
            If a text alone does not fit into the device's memory.
        """
        if self.layer != self.layers:
            raise NoSentenceEmbeddingError(
                f"This encoder ends after layer {self.layer} of {self.layers}: load it without a layer to embed texts."
            )
        about = self._checkpoint.settings("1_Pooling/config.json")
        first = pooling == "first" or (pooling is None and about.get("pooling_mode_cls_token", False))
        limit = self._checkpoint.settings("sentence_bert_config.json").get("max_seq_length") or self.longest
        pooled = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for index, vectors in self._run(self._tokens(texts, limit=min(limit, self.longest))):
            pooled[index] = vectors[0] if first else vectors.mean(axis=0)
        return (
            np.asarray(pooled / np.linalg.norm(pooled, axis=1, keepdims=True), dtype=np.float32)
            if normalised
            else pooled
        )

    def _tokens(self, texts: Sequence[str], *, limit: int | None = None) -> list[tuple[list[int], bool]]:
        """Ids of each text, and whether it was cut."""
        limit = limit or self.longest
        tokens = []
        for text in texts:
            ids = self._ids(text)
            cut = len(ids) > limit
            tokens.append((self._ids(text, truncation=True, max_length=limit) if cut else ids, cut))
        return tokens

    def _ids(self, text: str, **options: Any) -> list[int]:
        return list(self._tokenizer(text.strip(), add_special_tokens=True, verbose=False, **options)["input_ids"])

    def _run(self, tokens: Sequence[tuple[list[int], bool]]) -> Iterator[tuple[int, Floats]]:
        """Vectors of each text, by its place; texts of like length go through the model together."""
        order = sorted(range(len(tokens)), key=lambda index: (-len(tokens[index][0]), tokens[index][0]))
        waiting = self._batches(order, tokens)
        with model_cache.one_job(self.device), self._workers(len(waiting)) as workers:
            while waiting:
                model_cache.look()
                batches = [waiting.pop() for _ in range(min(workers.n, len(waiting)))]
                outcomes = workers.map(lambda batch: self._try([tokens[index][0] for index in batch]), batches)
                for batch, outcome in zip(batches, outcomes, strict=True):
                    if isinstance(outcome, BaseException):
                        waiting += self._smaller(batch, len(tokens[batch[0]][0]), outcome)
                    else:
                        yield from zip(batch, outcome, strict=True)

    def _workers(self, batches: int) -> _Workers:
        """On the CPU each core has a batch of its own: cores that share one wait for each other at every step."""
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return _Workers(self._torch, min(cores, batches) if self.device.type == "cpu" else 1)

    def _try(self, batch: Sequence[Sequence[int]]) -> list[Floats] | BaseException:
        try:
            return self._forward(batch)
        except (self._torch.OutOfMemoryError, MemoryError) as error:
            return error

    def _batches(self, order: Sequence[int], tokens: Sequence[tuple[list[int], bool]]) -> list[list[int]]:
        """Longest first in `order`; the last batch of the list holds them, so that memory is short at once or never."""
        batches: list[list[int]] = []
        for index in order:
            width = len(tokens[batches[-1][0]][0]) if batches else 0
            if batches and width * (len(batches[-1]) + 1) <= self.batch_tokens:
                batches[-1].append(index)
            else:
                batches.append([index])
        return batches[::-1]

    def _smaller(self, batch: list[int], width: int, error: BaseException) -> list[list[int]]:
        """A batch that did not fit, in two; the batches of the next call are no larger."""
        if len(batch) == 1:
            raise EncoderMemoryError(
                f"{self.identity.model} cannot hold one text of {width} tokens in the memory of "
                f"{self.device}. Free memory or use a smaller model."
            ) from error
        if self.device.type == "cuda":
            self._torch.cuda.empty_cache()
        half = (len(batch) + 1) // 2
        self.batch_tokens = width * half
        return [batch[half:], batch[:half]]

    def _forward(self, batch: Sequence[Sequence[int]]) -> list[Floats]:
        torch = self._torch
        width = max(map(len, batch))
        pad = self._tokenizer.pad_token_id or 0
        ids = torch.tensor([[*item, *[pad] * (width - len(item))] for item in batch], device=self.device)
        mask = torch.tensor([[1] * len(item) + [0] * (width - len(item)) for item in batch], device=self.device)
        with torch.inference_mode():
            hidden: Any = self._model(input_ids=ids, attention_mask=mask)[0]
        vectors = hidden.float().cpu().numpy()
        return [np.array(vectors[row, : len(item)], dtype=np.float32) for row, item in enumerate(batch)]

    def _limit(self) -> int:
        """How many tokens the model reads at once."""
        config = self._model.config
        positions = getattr(config, "max_position_embeddings", None) or _NO_LIMIT
        if config.model_type in _OFFSET_POSITIONS:
            positions -= (config.pad_token_id or 0) + 1
        return int(min(self._tokenizer.model_max_length, positions, _NO_LIMIT))


class _Workers:
    """Some threads, each with one core; with one thread alone, torch does as it likes. A context manager."""

    def __init__(self, torch: Any, n: int) -> None:
        self.n = max(n, 1)
        self._torch = torch

    def __enter__(self) -> Self:
        self._before = self._torch.get_num_threads()
        if self.n > 1:
            self._torch.set_num_threads(1)
        self._pool = ThreadPoolExecutor(self.n)
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.shutdown()
        if self.n > 1:
            self._torch.set_num_threads(self._before)

    def map(self, work: Callable[[list[int]], Any], batches: list[list[int]]) -> Iterator[Any]:
        """Do the batches, each in a thread; what came of each, in their order."""
        return map(work, batches) if self.n == 1 else self._pool.map(work, batches)


def load(
    model: str = BUNDLED,
    *,
    layer: int | None = None,
    device: str | None = None,
    precision: Precision = "full",
    batch_tokens: int | None = None,
) -> Encoder:
    """Load an encoder.

    Parameters
    ----------
    model : str
        `all-MiniLM-L6-v2` (bundled), a folder, or a name on a hub.
    layer : int, optional
        After how many layers embeddings are taken; all by default. What comes after is not computed. For BERTScore,
        `checkpoints.LAYERS` names the layers that its authors chose.
    device : str, optional
        `cpu`, `cuda`, `cuda:1`; by default a CUDA device where there is one.
    precision : "full" or "half"
        Half is for retrieval on CUDA devices (elsewhere full is used): twice as fast, BERTScores differ in the third
        digit.
    batch_tokens : int, optional
        Tokens that go through the model at once; what does not fit into memory is made smaller by itself.

    Raises
    ------
    NeuralPartsMissingError, ModelMissingError
        See `checkpoints`.
    layers.BadLayerError
        If the model has no such layer.
    """
    return Encoder(checkpoints.find(model), layer=layer, device=device, precision=precision, batch_tokens=batch_tokens)


def _tokenizing(checkpoint: Checkpoint) -> dict[str, Any]:
    """A text's first word is tokenized as any other, as BERTScore's authors do it: where tokens begin with a blank."""
    family = checkpoint.settings("config.json").get("model_type", "")
    return {"add_prefix_space": True} if family in {"roberta", "gpt2", "longformer"} else {}
