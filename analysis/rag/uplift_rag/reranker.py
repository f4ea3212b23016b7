"""A reranker that predicts how likely a document helps a generator: any encoder with two logits (section 2.4).

torch and transformers are imported only when a reranker is created. A folder that `Reranker.save` wrote holds weights
as safetensors, the tokenizer, and `uplift.json`, which describes the training.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from logging import ERROR
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from .. import checkpoints
from ..checkpoints import Checkpoint
from ..generation import devices, model_cache
from ..generation.devices import ModelMemoryError
from ..protocols import Document

if TYPE_CHECKING:
    import torch

Floats = NDArray[np.float64]
Precision = Literal["full", "half"]
#: A question with a document, as token ids and other inputs of the encoder (token types).
Encoded = dict[str, list[int]]

#: The paper's backbone.
BACKBONE = "roberta-base"
#: The file in a trained reranker's folder in addition to the model's files.
ABOUT = "uplift.json"
#: Tokens in one batch, including padding.
CHUNK_TOKENS = {"cpu": 2048, "cuda": 65_536}
_LOGITS = 2
# Tokenizers without a limit state a number of thirty digits instead.
_NO_LIMIT = 1_000_000


class NotARerankerError(ValueError):
    """The model cannot have two logits, or is not a trained reranker."""


class Reranker:
    """An encoder with two logits on a device. Create it with `start` or `load`.

    Attributes
    ----------
    device : torch.device
    longest : int
        Maximum number of tokens of a question with a document; the longer of the two is truncated first.
    about : dict
        Metadata of the training; empty before training.
    """

    def __init__(self, checkpoint: Checkpoint, *, device: str | None, longest: int, precision: Precision) -> None:
        try:
            import torch
            from transformers import AutoModelForSequenceClassification, AutoTokenizer
            from transformers.utils import logging
        except ImportError as error:
            raise checkpoints.missing_parts() from error
        logging.disable_progress_bar()
        before = logging.get_verbosity()
        logging.set_verbosity(ERROR)  # a new head is intended, so no warning
        try:
            self.model = AutoModelForSequenceClassification.from_pretrained(
                checkpoint.folder, num_labels=_LOGITS, use_safetensors=True, dtype=torch.float32,
                ignore_mismatched_sizes=True,
            )  # fmt: skip
        except ValueError as error:
            raise NotARerankerError(
                f"{checkpoint.name} cannot be given two logits ({error}): choose an encoder, like {BACKBONE}."
            ) from error
        finally:
            logging.set_verbosity(before)
        self._torch = torch
        self.checkpoint = checkpoint
        self.device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self.model.to(self.device).eval()
        self.tokenizer = AutoTokenizer.from_pretrained(checkpoint.folder)
        self.longest = min(longest, self._limit())
        self.precision: Precision = precision
        self.chunk_tokens = CHUNK_TOKENS.get(self.device.type, CHUNK_TOKENS["cpu"])
        self.about: dict[str, Any] = checkpoint.settings(ABOUT)

    def encode(self, question: str, documents: Sequence[Document]) -> list[Encoded]:
        """Tokenize the question with each document; a document's title and text are one text."""
        texts = [f"{document.title}\n{document.text}" if document.title else document.text for document in documents]
        encoded = self.tokenizer([question] * len(texts), texts, truncation=True, max_length=self.longest)
        return [{key: list(encoded[key][i]) for key in encoded} for i in range(len(texts))]

    def logits(self, pairs: Sequence[Encoded]) -> torch.Tensor:
        """Return both logits of each pair, shape (n_pairs, 2), with gradients if torch tracks them.

        Pairs of similar length share a batch, so that there is almost no padding.
        """
        order = sorted(range(len(pairs)), key=lambda index: -len(pairs[index]["input_ids"]))
        logits_of_chunks = [self._forward([pairs[index] for index in chunk]) for chunk in self._chunks(order, pairs)]
        inverse = self._torch.from_numpy(np.argsort(order))
        logits: torch.Tensor = self._torch.cat(logits_of_chunks)[inverse.to(self.device)]
        return logits

    def logits_without_gradients(self, pairs: Sequence[Encoded]) -> torch.Tensor:
        """Return both logits of each pair without gradients, shape (n_pairs, 2); in smaller batches if memory is short.

        Raises
        ------
        ModelMemoryError
            If a single pair does not fit.
        """
        longest = max(len(pair["input_ids"]) for pair in pairs)
        while True:
            try:
                with model_cache.one_job(self.device), self._torch.inference_mode():
                    return self.logits(pairs)
            except (RuntimeError, MemoryError) as error:
                if not devices.is_memory_short(self._torch, error):
                    raise
                if self.chunk_tokens <= longest:
                    raise ModelMemoryError(
                        f"a question with a document, {longest} tokens, does not fit into the memory of {self.device}: "
                        "free memory, or use fewer tokens per document (longest) or a smaller encoder"
                    ) from error
            # Outside the handler, because the error holds the memory of the failed batch.
            self.chunk_tokens = max(longest, min(self.chunk_tokens, longest * len(pairs)) // 2)
            devices.release(self._torch, self.device)

    def probabilities(self, question: str, documents: Sequence[Document]) -> Floats:
        """Return the probability that each document helps, by softmax; float64, shape (n_documents,)."""
        if not documents:
            return np.empty(0)
        logits = self.logits_without_gradients(self.encode(question, documents))
        with self._torch.inference_mode():
            return np.asarray(self._torch.softmax(logits.double(), dim=1)[:, 1].cpu().numpy(), dtype=np.float64)

    def save(self, folder: Path, about: dict[str, Any] | None = None) -> None:
        """Save to a folder: safetensors, tokenizer, `uplift.json`. `load` and other libraries can read it."""
        self.about = self.about if about is None else about
        folder.mkdir(parents=True, exist_ok=True)
        self.model.save_pretrained(folder, safe_serialization=True)
        self.tokenizer.save_pretrained(folder)
        about = {"longest": self.longest, "precision": self.precision, **self.about}
        (folder / ABOUT).write_text(json.dumps(about, indent=1, sort_keys=True, ensure_ascii=False), encoding="utf-8")

    def _chunks(self, order: Sequence[int], pairs: Sequence[Encoded]) -> list[list[int]]:
        """Split into batches that fit, longest first."""
        chunks: list[list[int]] = []
        for index in order:
            width = len(pairs[chunks[-1][0]]["input_ids"]) if chunks else 0
            if chunks and width * (len(chunks[-1]) + 1) <= self.chunk_tokens:
                chunks[-1].append(index)
            else:
                chunks.append([index])
        return chunks

    def _forward(self, pairs: Sequence[Encoded]) -> torch.Tensor:
        padded = self.tokenizer.pad({key: [pair[key] for pair in pairs] for key in pairs[0]}, return_tensors="pt")
        half = self.precision == "half"
        with self._torch.autocast(self.device.type, dtype=self._torch.bfloat16, enabled=half):
            logits = self.model(**padded.to(self.device)).logits
        full: torch.Tensor = logits.float()
        return full

    def _limit(self) -> int:
        """Return the model's maximum input length in tokens."""
        config = self.model.config
        positions = getattr(config, "max_position_embeddings", None) or _NO_LIMIT
        if _is_offset(config):
            positions -= config.pad_token_id + 1
        return int(min(self.tokenizer.model_max_length, positions, _NO_LIMIT))


def _is_offset(config: Any) -> bool:
    """Return whether positions begin after the padding id, as in RoBERTa and related models."""
    return "roberta" in config.model_type or config.model_type in {"camembert", "mpnet", "longformer"}


def start(encoder: str = BACKBONE, *, rng: np.random.Generator, device: str | None = None, longest: int = 256,
          precision: Precision = "full") -> Reranker:  # fmt: skip
    """Create an untrained reranker: an encoder's weights under a new, randomly initialised layer of two logits.

    Parameters
    ----------
    encoder : str
        The bundled model's name, a folder, or a name on a hub: see `checkpoints.find`. The single logit of a
        cross-encoder is replaced by two.
    rng : numpy.random.Generator
        Initialises the new layer's weights; torch's own state is unchanged.
    device : str, optional
        `cpu`, `cuda`, `cuda:1`; by default a CUDA device if there is one.
    longest : int
        Maximum number of tokens of a question with a document.
    precision : "full" or "half"
        Half computes in bfloat16 and keeps weights in full precision: for CUDA devices.

    Raises
    ------
    checkpoints.NeuralPartsMissingError, checkpoints.ModelMissingError, NotARerankerError
    """
    checkpoint = checkpoints.find(encoder)
    with seeded(rng, device):
        return Reranker(checkpoint, device=device, longest=longest, precision=precision)


def load(folder: Path | str, *, device: str | None = None) -> Reranker:
    """Load a reranker that `Reranker.save` wrote, on this machine or another.

    Raises
    ------
    NotARerankerError
        If the folder holds no trained reranker.
    checkpoints.NeuralPartsMissingError, checkpoints.ModelMissingError
    """
    checkpoint = checkpoints.find(str(folder))
    about = checkpoint.settings(ABOUT)
    if not about:
        raise NotARerankerError(f"{folder} has no trained reranker, because {ABOUT} is missing.")
    return Reranker(checkpoint, device=device, longest=about["longest"], precision=about["precision"])


class seeded:  # noqa: N801 -- reads as the sentence that it is: with seeded(rng)
    """A context manager in which torch's random numbers depend only on `rng`; torch's state is restored afterwards."""

    def __init__(self, rng: np.random.Generator, device: str | None = None) -> None:
        self._seed = int(rng.integers(2**63))
        self._device = device

    def __enter__(self) -> None:
        try:
            import torch
        except ImportError as error:
            raise checkpoints.missing_parts() from error
        on_cuda = torch.cuda.is_available() and (self._device or "cuda").startswith("cuda")
        devices = list(range(torch.cuda.device_count())) if on_cuda else []
        self._fork = torch.random.fork_rng(devices=devices)
        self._fork.__enter__()
        torch.manual_seed(self._seed)

    def __exit__(self, *error: object) -> None:
        self._fork.__exit__(*error)
