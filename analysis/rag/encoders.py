"""Encoders: contextual token embeddings, and one embedding per text.

BERTScore uses the first (`Encoder.encode`), dense retrieval the second (`Encoder.embed`). No Django, no database.
torch and transformers are imported only when an encoder is loaded. docs/methods/bertscore.md.
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

#: Attribute paths of encoders' layers: BERT, RoBERTa, DeBERTa, MPNet; DistilBERT; T5; XLNet; BART and ModernBERT.
_PLACES = ("encoder.layer", "transformer.layer", "encoder.block", "layer", "layers")


class BadLayerError(ValueError):
    """The model has no such layer."""


class UnsupportedModelError(ValueError):
    """The model's layers are not at any known attribute path."""


def cut(model: Any, layer: int | None, *, name: str) -> tuple[Any, int, int]:
    """Remove a model's layers after `layer`; keep all if it is None.

    Parameters
    ----------
    model : torch.nn.Module
        A model of transformers. Of an encoder-decoder, only the encoder is kept.
    layer : int or None
        From 0 (the input embeddings, without context) to the number of layers.
    name : str
        The model's name in error messages.

    Returns
    -------
    (Module, int, int)
        The model, its original number of layers, and its number of layers now.
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
Pooling = Literal["mean", "first"]

#: Tokens in one batch, including padding. On the CPU, texts as long as a response run fastest one at a time.
BATCH_TOKENS = {"cpu": 512, "cuda": 32_768}
# Tokenizers without a limit state a number of thirty digits instead.
_NO_LIMIT = 1_000_000
# Model types whose positions begin after the padding id.
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
    """Not even a single text fits into the device's memory."""


class NoSentenceEmbeddingError(ValueError):
    """Text embeddings need the last layer, and this encoder was loaded without it."""


@dataclass(frozen=True)
class Identity:
    """Origin of an embedding: embeddings with equal identities can be compared.

    Attributes
    ----------
    model : str
        As requested.
    layer : int
        Layer after which the embeddings are taken.
    version : str
        Version of the model's files; marked if the arithmetic was in half precision.
    """

    model: str
    layer: int
    version: str

    def __str__(self) -> str:
        return f"{self.model}, layer {self.layer}, {self.version}"


class Encoder:
    """An encoder on a device. Create it with `load`. It can be reused, but only by one thread at a time."""

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
        """Device memory that the weights take, in bytes."""
        return devices.held(self._model)

    @property
    def dimensions(self) -> int:
        """Number of dimensions of an embedding."""
        return int(self._model.config.hidden_size)

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, including special tokens, up to the encoder's maximum length."""
        return [len(ids) for ids, _cut in self._tokens(texts)]

    def encode(self, texts: Sequence[str]) -> list[TokenEmbeddings]:
        """Embed every token of each text.

        Parameters
        ----------
        texts : sequence of str
            Surrounding white space is ignored. An empty text has only its special tokens. A text of more than `longest`
            tokens is truncated and marked.

        Returns
        -------
        list of TokenEmbeddings
            In the order of `texts`; vectors of float32, shape (n_tokens, `dimensions`), on the CPU. The same texts give
            the same bytes on one machine's CPU. In other batches, a text's numbers may differ in the seventh digit.

        Raises
        ------
        EncoderMemoryError
            If a single text does not fit into the device's memory.
        """
        tokens = self._tokens(texts)
        embeddings: dict[int, TokenEmbeddings] = {}
        for index, vectors in self._run(tokens):
            ids, cut = tokens[index]
            numbers = np.array(ids, dtype=np.int64)
            embeddings[index] = TokenEmbeddings(vectors, numbers, ~np.isin(numbers, self._unweighted), cut)
        return [embeddings[index] for index in range(len(texts))]

    def embed(self, texts: Sequence[str], *, pooling: Pooling | None = None, normalised: bool = True) -> Floats:
        """Embed each text as one vector of length 1 for retrieval: the dot product is the cosine similarity.

        Parameters
        ----------
        texts : sequence of str
        pooling : "mean" or "first", optional
            Mean over all tokens, or the first token. By default as the model's files say (sentence-transformers'
            `1_Pooling`), else the mean.
        normalised : bool
            Whether to normalise vectors to length 1; some models (Contriever) are compared without.

        Returns
        -------
        ndarray of float32, shape (n_texts, n_dimensions)
            Texts are truncated to the length in the model's files (256 tokens for the bundled one).

        Raises
        ------
        NoSentenceEmbeddingError
            If the encoder was loaded with fewer layers than the model has.
        EncoderMemoryError
            If a single text does not fit into the device's memory.
        """
        if self.layer != self.layers:
            raise NoSentenceEmbeddingError(
                f"This encoder ends after layer {self.layer} of {self.layers}: load it without a layer to embed texts."
            )
        about = self._checkpoint.settings("1_Pooling/config.json")
        first = pooling == "first" or (pooling is None and about.get("pooling_mode_cls_token", False))
        limit = self._checkpoint.settings("sentence_bert_config.json").get("max_seq_length") or self.longest
        pooled = np.empty((len(texts), self.dimensions), dtype=np.float32)
        how: Pooling = "first" if first else "mean"
        for index, vector in self._run(self._tokens(texts, limit=min(limit, self.longest)), how):
            pooled[index] = vector
        return (
            np.asarray(pooled / np.linalg.norm(pooled, axis=1, keepdims=True), dtype=np.float32)
            if normalised
            else pooled
        )

    def _tokens(self, texts: Sequence[str], *, limit: int | None = None) -> list[tuple[list[int], bool]]:
        """Return the token ids of each text, and whether it was truncated."""
        limit = limit or self.longest
        tokens = []
        # All at once: the tokenizer is quick, and a call for each text is not.
        for text, ids in zip(texts, self._ids([text.strip() for text in texts]), strict=True):
            cut = len(ids) > limit
            tokens.append((self._ids([text.strip()], truncation=True, max_length=limit)[0] if cut else ids, cut))
        return tokens

    def _ids(self, texts: list[str], **options: Any) -> list[list[int]]:
        if not texts:
            return []
        return [
            list(ids) for ids in self._tokenizer(texts, add_special_tokens=True, verbose=False, **options)["input_ids"]
        ]

    def _run(
        self, tokens: Sequence[tuple[list[int], bool]], pooling: Pooling | None = None
    ) -> Iterator[tuple[int, Floats]]:
        """Yield the index of each text with its tokens' vectors, or with one vector; similar lengths share a batch."""
        order = sorted(range(len(tokens)), key=lambda index: (-len(tokens[index][0]), tokens[index][0]))
        waiting = self._batches(order, tokens)
        with model_cache.one_job(self.device), self._workers(len(waiting)) as workers:
            while waiting:
                model_cache.look()
                batches = [waiting.pop() for _ in range(min(workers.n, len(waiting)))]
                outcomes = workers.map(lambda batch: self._try([tokens[index][0] for index in batch], pooling), batches)
                for batch, outcome in zip(batches, outcomes, strict=True):
                    if isinstance(outcome, BaseException):
                        waiting += self._smaller(batch, len(tokens[batch[0]][0]), outcome)
                    else:
                        yield from zip(batch, outcome, strict=True)

    def _workers(self, batches: int) -> _Workers:
        """Create the threads: on a CPU, one batch per core, since cores that share a batch wait for each other."""
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return _Workers(self._torch, min(cores, batches) if self.device.type == "cpu" else 1)

    def _try(self, batch: Sequence[Sequence[int]], pooling: Pooling | None) -> Sequence[Floats] | BaseException:
        try:
            return self._forward(batch, pooling)
        except (self._torch.OutOfMemoryError, MemoryError) as error:
            return error

    def _batches(self, order: Sequence[int], tokens: Sequence[tuple[list[int], bool]]) -> list[list[int]]:
        """Group texts into batches, the longest last: they run first, so that a lack of memory shows at once."""
        batches: list[list[int]] = []
        for index in order:
            width = len(tokens[batches[-1][0]][0]) if batches else 0
            if batches and width * (len(batches[-1]) + 1) <= self.batch_tokens:
                batches[-1].append(index)
            else:
                batches.append([index])
        return batches[::-1]

    def _smaller(self, batch: list[int], width: int, error: BaseException) -> list[list[int]]:
        """Split a batch that did not fit into memory in two, and limit later batches to the smaller size."""
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

    def _forward(self, batch: Sequence[Sequence[int]], pooling: Pooling | None) -> Sequence[Floats]:
        torch = self._torch
        width = max(map(len, batch))
        pad = self._tokenizer.pad_token_id or 0
        rows = torch.tensor([[*item, *[pad] * (width - len(item))] for item in batch])
        lengths = torch.tensor([len(item) for item in batch])
        ids = rows.to(self.device)
        mask = (torch.arange(width) < lengths.unsqueeze(1)).long().to(self.device)
        with torch.inference_mode():
            hidden: Any = self._model(input_ids=ids, attention_mask=mask)[0].float()
            # Pooled on the device: a text's vector is a hundredth of what its tokens' vectors are to copy.
            if pooling == "first":
                hidden = hidden[:, 0]
            elif pooling == "mean":
                weights = mask.unsqueeze(-1).to(hidden.dtype)
                hidden = (hidden * weights).sum(dim=1) / weights.sum(dim=1)
        vectors = hidden.cpu().numpy()
        if pooling:
            return list(np.array(vectors, dtype=np.float32))
        return [np.array(vectors[row, : len(item)], dtype=np.float32) for row, item in enumerate(batch)]

    def _limit(self) -> int:
        """Return the model's maximum input length in tokens."""
        config = self._model.config
        positions = getattr(config, "max_position_embeddings", None) or _NO_LIMIT
        if config.model_type in _OFFSET_POSITIONS:
            positions -= (config.pad_token_id or 0) + 1
        return int(min(self._tokenizer.model_max_length, positions, _NO_LIMIT))


class _Workers:
    """Threads with one core each; a single thread leaves torch's own setting. Use as a context manager."""

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
        """Process each batch in its own thread; yield the results in the order of the batches."""
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
        Layer after which embeddings are taken; the last by default. Later layers are not computed. For BERTScore,
        `checkpoints.LAYERS` names the layers that its authors chose.
    device : str, optional
        `cpu`, `cuda`, `cuda:1`; by default a CUDA device if there is one.
    precision : "full" or "half"
        Half precision is for retrieval on CUDA devices (full is used elsewhere). It is twice as fast; BERTScores differ
        in the third digit.
    batch_tokens : int, optional
        Tokens in one batch; batches that do not fit into memory are made smaller automatically.

    Raises
    ------
    NeuralPartsMissingError, ModelMissingError
        See `checkpoints`.
    BadLayerError
        If the model has no such layer.
    """
    return Encoder(checkpoints.find(model), layer=layer, device=device, precision=precision, batch_tokens=batch_tokens)


def _tokenizing(checkpoint: Checkpoint) -> dict[str, Any]:
    """Return tokenizer options: treat a text's first word like any other, as BERTScore's authors do."""
    family = checkpoint.settings("config.json").get("model_type", "")
    return {"add_prefix_space": True} if family in {"roberta", "gpt2", "longformer"} else {}
