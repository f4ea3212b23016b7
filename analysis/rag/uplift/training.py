"""Training a reranker on labelled queries: a query's documents stay together, as list-wise losses need them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..generation import devices, warm
from .labels import Floats, Labelled
from .losses import Losses, Weights, losses
from .reranker import Encoded, Reranker, seeded

if TYPE_CHECKING:
    import torch

Report = Callable[[int, int, str], None]


class NothingToLearnError(ValueError):
    """There is no labelled document to learn from, or nothing to stop early by."""


class TrainingMemoryError(MemoryError):
    """Not even one query's documents fit into the device's memory."""


@dataclass(frozen=True)
class Schedule:
    """How a reranker is trained.

    Attributes
    ----------
    epochs, learning_rate
        The paper's, for roberta-base.
    queries : int
        A step. The paper does not say how many.
    weights : Weights
        Of the losses.
    warm_up : float
        The share of steps in which the learning rate rises from 0; it falls linearly to 0 in the others, as the
        Trainer of transformers has it.
    weight_decay, clip : float
        Of AdamW, and the norm at which gradients are cut.
    patience : int or None
        Stop when so many epochs have not lowered the held-out queries' loss, and take the best epoch's weights; None
        trains all epochs and takes the last.
    """

    epochs: int = 10
    learning_rate: float = 1e-5
    queries: int = 4
    weights: Weights = field(default_factory=Weights)
    warm_up: float = 0.0
    weight_decay: float = 0.0
    clip: float = 1.0
    patience: int | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be done."""
        if self.epochs < 1 or self.queries < 1 or self.learning_rate <= 0 or not 0 <= self.warm_up < 1:
            raise ValueError(f"training needs an epoch, a query a step and a learning rate above 0: {self}")
        if self.patience is not None and self.patience < 1:
            raise ValueError("patience is one epoch or more, or None")


@dataclass(frozen=True)
class Epoch:
    """What an epoch came to: losses a query; `held_out`, the joint one of those held out, is None without any."""

    point: float
    pair: float
    list: float
    held_out: float | None


@dataclass(frozen=True)
class History:
    """What training came to.

    Attributes
    ----------
    epochs : tuple of Epoch
    best : int
        The epoch whose weights were taken, from 1.
    stopped_early : bool
    documents, helpful : int
        Labelled documents that were learnt from; of these, with positive uplift. If it is none or all, the reranker
        has learnt only that.
    """

    epochs: tuple[Epoch, ...]
    best: int
    stopped_early: bool
    documents: int
    helpful: int

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True)
class _Example:
    pairs: list[Encoded]
    uplift: list[float]


def train(reranker: Reranker, labelled: Sequence[Labelled], *, rng: np.random.Generator,
          held_out: Sequence[Labelled] = (), schedule: Schedule | None = None,
          report: Report = lambda _done, _total, _message: None) -> History:  # fmt: skip
    """Train a reranker in place.

    Parameters
    ----------
    reranker : Reranker
        From `reranker.start`, or a trained one to go on with.
    labelled : sequence of Labelled
    rng : numpy.random.Generator
        Source of the order of queries and of dropout. Equal inputs, equal `rng` and as many threads give equal weights
        on a CPU.
    held_out : sequence of Labelled
        Watched, not learnt from.
    schedule : Schedule, optional
    report : callable
        Called with (steps done, steps, message) after each step; it may raise to stop.

    Returns
    -------
    History

    Raises
    ------
    NothingToLearnError
        If there is no labelled query, or none is held out to stop early by.
    TrainingMemoryError
        If one query's documents do not fit into memory.
    """
    schedule = schedule or Schedule()
    if not labelled:
        raise NothingToLearnError("no labelled query to learn from: label some, or take a larger share for training")
    if schedule.patience is not None and not held_out:
        raise NothingToLearnError("to stop early, hold out some labelled queries; or train all epochs (patience None)")
    learning = _Learning(reranker, [_example(reranker, each) for each in labelled], schedule)
    watched = [_example(reranker, each) for each in held_out]
    try:
        with seeded(rng, str(reranker.device)):
            return learning.run(watched, rng, report)
    finally:
        reranker.model.eval()


class _Learning:
    """An optimiser over a reranker's weights."""

    def __init__(self, reranker: Reranker, examples: list[_Example], schedule: Schedule) -> None:
        import torch
        from transformers import get_linear_schedule_with_warmup

        self._torch = torch
        self.reranker = reranker
        self.examples = examples
        self.schedule = schedule
        self.parameters = [each for each in reranker.model.parameters() if each.requires_grad]
        # One kernel for all weights instead of six passes over each.
        self.optimizer = torch.optim.AdamW(
            self.parameters, lr=schedule.learning_rate, weight_decay=schedule.weight_decay, fused=True
        )
        self.steps_an_epoch = -(-len(examples) // schedule.queries)
        total = self.steps_an_epoch * schedule.epochs
        warm = round(total * schedule.warm_up)
        self.rate = get_linear_schedule_with_warmup(self.optimizer, warm, total)  # type: ignore[no-untyped-call]
        self.at_once = schedule.queries

    def run(self, watched: list[_Example], rng: np.random.Generator, report: Report) -> History:
        found: list[Epoch] = []
        best, lowest, kept = 0, float("inf"), None
        for epoch in range(self.schedule.epochs):
            point, pair, listwise = self._epoch(epoch, rng, report)
            found.append(Epoch(point, pair, listwise, self.loss(watched) if watched else None))
            if self.schedule.patience is None:
                best = epoch
                continue
            now = found[epoch].held_out
            assert now is not None  # `train` made sure that something is held out
            if now < lowest:
                best, lowest, kept = epoch, now, copy.deepcopy(self.reranker.model.state_dict())
            elif epoch - best >= self.schedule.patience:
                break
        if kept is not None:
            self.reranker.model.load_state_dict(kept)
        uplift = np.concatenate([each.uplift for each in self.examples])
        early = len(found) < self.schedule.epochs
        return History(tuple(found), best + 1, early, uplift.size, int((uplift > 0).sum()))

    def _epoch(self, epoch: int, rng: np.random.Generator, report: Report) -> list[float]:
        """All queries once, in an order of its own; the mean loss of each kind a query."""
        self.reranker.model.train()
        order = rng.permutation(len(self.examples))
        sums = np.zeros(3)
        total = self.steps_an_epoch * self.schedule.epochs
        for step in range(self.steps_an_epoch):
            chosen = order[step * self.schedule.queries : (step + 1) * self.schedule.queries]
            sums += self.step([self.examples[place] for place in chosen])
            report(epoch * self.steps_an_epoch + step + 1, total, f"epoch {epoch + 1} of {self.schedule.epochs}")
        return [float(each) for each in sums / len(self.examples)]

    def step(self, batch: Sequence[_Example]) -> Floats:
        """One step down the mean loss of some queries; the sum of each kind of loss over them.

        The device is held for the step alone: a training takes minutes, and others have their turn in between.
        """
        with warm.one_job(self.reranker.device):
            sums = None
            while sums is None:
                self.optimizer.zero_grad(set_to_none=True)
                sums = self._backward(batch)
            self._torch.nn.utils.clip_grad_norm_(self.parameters, self.schedule.clip)
            self.optimizer.step()
        self.rate.step()
        return sums

    def _backward(self, batch: Sequence[_Example]) -> Floats | None:
        """Gradients of a step, some queries at a time; None if they did not fit, with fewer at a time from now on."""
        sums = np.zeros(3)
        try:
            for i in range(0, len(batch), self.at_once):
                part = self._losses(batch[i : i + self.at_once])
                mean = part.total(self.schedule.weights) / len(batch)
                mean.backward()  # type: ignore[no-untyped-call]
                sums += [float(each.detach()) for each in (part.point, part.pair, part.list)]
        except (RuntimeError, MemoryError) as error:
            if not devices.is_memory_short(self._torch, error):
                raise
            if self.at_once == 1:
                raise TrainingMemoryError(
                    f"the documents of one query do not fit into the memory of {self.reranker.device} while training: "
                    "take fewer documents a query, fewer tokens a document (longest), or a smaller encoder"
                ) from error
            self.at_once = max(1, min(self.at_once, len(batch)) // 2)
        else:
            return sums
        # Outside the handler: the error holds what the failed step took.
        devices.release(self._torch, self.reranker.device)
        return None

    def _losses(self, batch: Sequence[_Example]) -> Losses:
        pairs = [pair for each in batch for pair in each.pairs]
        logits = self.reranker.logits(pairs) if self._torch.is_grad_enabled() else self.reranker.said(pairs)
        uplift = [value for each in batch for value in each.uplift]
        return losses(logits, self._tensor(uplift), [len(each.pairs) for each in batch])

    def loss(self, examples: Sequence[_Example]) -> float:
        """The joint loss a query, of one or more, without dropout."""
        self.reranker.model.eval()
        with self._torch.inference_mode():
            parts = [self._losses([each]).total(self.schedule.weights) for each in examples]
        return float(sum(map(float, parts)) / len(parts))

    def _tensor(self, values: Sequence[float]) -> torch.Tensor:
        return self._torch.tensor(values, device=self.reranker.device)


def _example(reranker: Reranker, labelled: Labelled) -> _Example:
    pairs = reranker.encode(labelled.query.question, labelled.documents)
    return _Example(pairs, [float(each) for each in labelled.uplift])
