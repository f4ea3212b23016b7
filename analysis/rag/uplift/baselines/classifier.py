"""A language model that reads a question and says which of several classes it is of: all of its weights are trained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from logging import ERROR
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ... import checkpoints
from ...generation import warm
from ..reranker import seeded
from .fine_tuning import fine_tune
from .protocol import Settings

if TYPE_CHECKING:
    import torch

Ints = NDArray[np.int64]
#: Questions that are read at once where nothing is learnt.
AT_ONCE = 64
#: In the model's settings: classes that training questions were of. Another one is never said.
_SEEN = "seen_classes"


class Classifier:
    """An encoder with a logit for each class, on a device. Make one with `start` or `load`."""

    def __init__(self, name: str, labels: Sequence[str], *, device: str | None, longest: int) -> None:
        try:
            import torch
            from transformers import AutoModelForSequenceClassification, AutoTokenizer
            from transformers.utils import logging
        except ImportError as error:
            raise checkpoints.missing_parts() from error
        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        before = logging.get_verbosity()
        logging.set_verbosity(ERROR)  # that the new head is new is what we want
        checkpoint = checkpoints.find(name)
        try:
            self.model = AutoModelForSequenceClassification.from_pretrained(
                checkpoint.folder, num_labels=len(labels), use_safetensors=True, dtype=torch.float32,
                ignore_mismatched_sizes=True, id2label=dict(enumerate(labels)),
                label2id={label: place for place, label in enumerate(labels)},
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
        """Of each class for each question, shape (n_questions, n_classes), with gradients where torch keeps them."""
        tokens = self.tokenizer(
            list(questions), truncation=True, max_length=self._longest, padding=True, return_tensors="pt"
        )
        found: torch.Tensor = self.model(**tokens.to(self.device)).logits
        return found

    def classes(self, questions: Sequence[str]) -> Ints:
        """The likeliest of the trained classes for each question, shape (n_questions,); of equal ones the first."""
        found = []
        for start in range(0, len(questions), AT_ONCE):
            with warm.one_job(self.device), self._torch.no_grad():
                logits = self.logits(questions[start : start + AT_ONCE]) + self._mask()
                found.append(logits.argmax(dim=1).cpu().numpy())
        return np.concatenate(found).astype(np.int64) if found else np.zeros(0, dtype=np.int64)

    def train(
        self,
        questions: Sequence[str],
        labels: Sequence[int],
        settings: Settings,
        *,
        held_out: tuple[Sequence[str], Sequence[int]],
        rng: np.random.Generator,
        report: Callable[[int, int, str], None],
    ) -> None:
        """Train all weights down the cross-entropy of the labels.

        Parameters
        ----------
        questions : sequence of str
            One or more.
        labels : sequence of int
            Their classes.
        settings : Settings
            Epochs, learning rate with its warm-up, questions a step, patience.
        held_out : (sequence of str, sequence of int)
            Questions with their classes that are watched; may be empty.
        rng : numpy.random.Generator
        report : callable
            Called after each epoch; it may raise to stop.
        """
        setattr(self.model.config, _SEEN, sorted(set(map(int, labels))))
        fine_tune(
            self.model, len(questions), lambda places: self._loss([questions[i] for i in places],
                                                                  [labels[i] for i in places]),
            settings, rng=rng, report=report, message="complexity",
            held_out=partial(self._watch, *held_out) if len(held_out[0]) else None,
        )  # fmt: skip

    def save(self, folder: Path) -> None:
        """Write it as any other library reads it: safetensors and tokenizer."""
        self.model.save_pretrained(folder, safe_serialization=True)
        self.tokenizer.save_pretrained(folder)

    def _mask(self) -> torch.Tensor:
        """0 for each class that was trained, else minus infinity, shape (n_classes,)."""
        n = self.model.config.num_labels
        seen = set(getattr(self.model.config, _SEEN, range(n)))
        return self._torch.tensor([0.0 if place in seen else -np.inf for place in range(n)], device=self.device)

    def _loss(self, questions: Sequence[str], labels: Sequence[int]) -> torch.Tensor:
        wanted = self._torch.tensor(list(labels), device=self.device)
        return self._torch.nn.functional.cross_entropy(self.logits(questions), wanted)

    def _watch(self, questions: Sequence[str], labels: Sequence[int]) -> float:
        with self._torch.no_grad():
            return float(self._loss(questions, labels))


def start(encoder: str, labels: Sequence[str], *, rng: np.random.Generator, settings: Settings) -> Classifier:
    """An untrained classifier: a language model's weights under a new layer, drawn at random."""
    with seeded(rng, settings.device):
        return Classifier(encoder, labels, device=settings.device, longest=settings.longest)


def load(folder: Path, labels: Sequence[str], settings: Settings) -> Classifier:
    """Take up what `Classifier.save` wrote."""
    return Classifier(str(folder), labels, device=settings.device, longest=settings.longest)
