"""A question classifier: an encoder with one logit per class, all of whose weights are trained."""

from __future__ import annotations

from collections.abc import Sequence
from logging import ERROR
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ... import checkpoints
from ...generation import model_cache
from .. import training_loop
from ..reranker import seeded
from ..training_loop import Checkpoint, Report
from .protocol import BaselineSettings

if TYPE_CHECKING:
    import torch

Ints = NDArray[np.int64]
#: Questions per batch without training.
AT_ONCE = 64
#: Key in the model's configuration for the classes in the training data. Other classes are never predicted.
_SEEN = "seen_classes"


class Classifier:
    """An encoder with one logit per class, on a device. Create it with `start` or `load`."""

    def __init__(self, name: str, labels: Sequence[str], *, device: str | None, longest: int) -> None:
        try:
            import torch
            from transformers import AutoModelForSequenceClassification, AutoTokenizer
            from transformers.utils import logging
        except ImportError as error:
            raise checkpoints.missing_parts() from error
        logging.disable_progress_bar()
        before = logging.get_verbosity()
        logging.set_verbosity(ERROR)  # a new head is intended, so no warning
        checkpoint = checkpoints.find(name)
        try:
            self.model = AutoModelForSequenceClassification.from_pretrained(
                checkpoint.folder, num_labels=len(labels), use_safetensors=True, dtype=torch.float32,
                ignore_mismatched_sizes=True, id2label=dict(enumerate(labels)),
                label2id={label: index for index, label in enumerate(labels)},
            )  # fmt: skip
        finally:
            logging.set_verbosity(before)
        self._torch = torch
        self.device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self.model.to(self.device).eval()
        self.tokenizer = AutoTokenizer.from_pretrained(checkpoint.folder)
        positions = getattr(self.model.config, "max_position_embeddings", None) or longest + 2
        self._longest = int(min(longest, positions - 2, self.tokenizer.model_max_length))

    def logits(self, questions: Sequence[str]) -> torch.Tensor:
        """Return logits, shape (n_questions, n_classes), with gradients if torch tracks them."""
        tokens = self.tokenizer(
            list(questions), truncation=True, max_length=self._longest, padding=True, return_tensors="pt"
        )
        logits: torch.Tensor = self.model(**tokens.to(self.device)).logits
        return logits

    def classes(self, questions: Sequence[str]) -> Ints:
        """Predict the most likely trained class of each question, shape (n_questions,); the first among ties."""
        predicted = []
        for start in range(0, len(questions), AT_ONCE):
            with model_cache.one_job(self.device), self._torch.no_grad():
                logits = self.logits(questions[start : start + AT_ONCE]) + self._mask()
                predicted.append(logits.argmax(dim=1).cpu().numpy())
        return np.concatenate(predicted).astype(np.int64) if predicted else np.zeros(0, dtype=np.int64)

    def train(
        self,
        questions: Sequence[str],
        labels: Sequence[int],
        settings: BaselineSettings,
        *,
        held_out: tuple[Sequence[str], Sequence[int]],
        rng: np.random.Generator,
        report: Report,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        """Train all weights on the cross-entropy of the labels.

        Parameters
        ----------
        questions : sequence of str
            At least one.
        labels : sequence of int
            Their classes.
        settings : BaselineSettings
            Epochs, learning rate with its warm-up, questions per step, patience.
        held_out : (sequence of str, sequence of int)
            Questions and classes whose loss is monitored; may be empty.
        rng, report, checkpoint
            See `training_loop.run`.
        """
        setattr(self.model.config, _SEEN, sorted(set(map(int, labels))))
        task = training_loop.Task(
            self.model, len(questions),
            training_loop.in_parts(lambda batch: self._loss([questions[i] for i in batch], [labels[i] for i in batch])),
            "use fewer tokens (longest), or a smaller encoder", message="complexity",
            held_out=(lambda: self._watch(*held_out)) if held_out[0] and settings.patience else None,
        )  # fmt: skip
        training_loop.run(task, settings.schedule(), rng=rng, report=report, checkpoint=checkpoint)

    def save(self, folder: Path) -> None:
        """Save the classifier in the standard layout: safetensors and tokenizer."""
        self.model.save_pretrained(folder, safe_serialization=True)
        self.tokenizer.save_pretrained(folder)

    def _mask(self) -> torch.Tensor:
        """Return 0 for each trained class, else minus infinity, shape (n_classes,)."""
        n = self.model.config.num_labels
        trained_labels = set(getattr(self.model.config, _SEEN, range(n)))
        return self._torch.tensor(
            [0.0 if index in trained_labels else -np.inf for index in range(n)], device=self.device
        )

    def _loss(self, questions: Sequence[str], labels: Sequence[int]) -> torch.Tensor:
        targets = self._torch.tensor(list(labels), device=self.device)
        return self._torch.nn.functional.cross_entropy(self.logits(questions), targets)

    def _watch(self, questions: Sequence[str], labels: Sequence[int]) -> float:
        with self._torch.no_grad():
            return float(self._loss(questions, labels))


def start(encoder: str, labels: Sequence[str], *, rng: np.random.Generator, settings: BaselineSettings) -> Classifier:
    """Create an untrained classifier: a language model's weights under a new, randomly initialised layer."""
    with seeded(rng, settings.device):
        return Classifier(encoder, labels, device=settings.device, longest=settings.longest)


def load(folder: Path, labels: Sequence[str], settings: BaselineSettings) -> Classifier:
    """Load what `Classifier.save` wrote."""
    return Classifier(str(folder), labels, device=settings.device, longest=settings.longest)
