"""Fine-tuning of an encoder on a loss, and a question classifier trained in this way."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import partial
from logging import ERROR
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ... import checkpoints
from ...generation import devices, model_cache
from ..reranker import seeded
from ..training import TrainingMemoryError
from .protocol import BaselineSettings

if TYPE_CHECKING:
    import torch

_CLIP = 1.0


def fine_tune(
    model: Any,
    n: int,
    loss: Callable[[Sequence[int]], torch.Tensor],
    settings: BaselineSettings,
    *,
    rng: np.random.Generator,
    report: Callable[[int, int, str], None],
    message: str,
    held_out: Callable[[], float] | None = None,
    before_epoch: Callable[[], None] = lambda: None,
) -> None:
    """Train all weights of a model in place by AdamW; the learning rate rises during warm-up, then falls to 0.

    Parameters
    ----------
    model : torch.nn.Module
        On its device.
    n : int
        Number of examples, at least 1.
    loss : callable
        Returns the mean loss of examples by their indices, with gradients.
    settings : BaselineSettings
        Epochs, learning rate with its warm-up, examples per step, patience.
    rng : numpy.random.Generator
        Determines the order of examples and dropout.
    report : callable
        Called after each epoch; it may raise to stop.
    message : str
        The message for `report`.
    held_out : callable, optional
        Returns the loss on held-out examples, without dropout. If the settings have a patience, training ends after
        that many epochs without a lower loss, and uses the weights of the best epoch.
    before_epoch : callable, optional
        Called before each epoch, without dropout.

    Raises
    ------
    TrainingMemoryError
        If the examples of a step do not fit into memory.
    """
    import torch
    from transformers import get_linear_schedule_with_warmup

    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    device = parameters[0].device
    optimizer = torch.optim.AdamW(parameters, lr=settings.learning_rate, weight_decay=0.0)
    steps = settings.epochs * -(-n // settings.batch)
    rate = get_linear_schedule_with_warmup(optimizer, round(steps * settings.warm_up), steps)
    best, best_state, epochs_since = np.inf, None, 0
    with seeded(rng, str(device)):
        for epoch in range(settings.epochs):
            model.eval()
            before_epoch()
            model.train()
            order = rng.permutation(n)
            for i in range(0, n, settings.batch):
                with model_cache.one_job(device):
                    _step(torch, loss, order[i : i + settings.batch].tolist(), parameters, optimizer, device)
                rate.step()
            model.eval()
            report(epoch + 1, settings.epochs, message)
            if held_out is None or not settings.patience:
                continue
            now = held_out()
            if now < best:
                best, best_state, epochs_since = now, copy.deepcopy(model.state_dict()), 0
            else:
                epochs_since += 1
            if epochs_since >= settings.patience:
                break
    if best_state is not None:
        model.load_state_dict(best_state)


def _step(torch: Any, loss: Any, batch: list[int], parameters: Any, optimizer: Any, device: Any) -> None:
    optimizer.zero_grad(set_to_none=True)
    try:
        loss(batch).backward()
    except (RuntimeError, MemoryError) as error:
        if not devices.is_memory_short(torch, error):
            raise
        raise TrainingMemoryError(
            f"a training step does not fit into the memory of {device}: use fewer questions per step (batch), fewer "
            "tokens (longest), or a smaller encoder"
        ) from error
    torch.nn.utils.clip_grad_norm_(parameters, _CLIP)
    optimizer.step()


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
        report: Callable[[int, int, str], None],
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
