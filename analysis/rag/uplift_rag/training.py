"""Training of a reranker on labelled queries: its three objectives (section 2.4), and list-wise steps.

torch is imported only when a loss is computed.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..generation import devices, model_cache
from .reranker import Encoded, Reranker, seeded
from .uplift_labels import Floats, LabelledQuery

if TYPE_CHECKING:
    import torch

#: Tolerance for equal scores: F1 is a ratio of word counts, so it has rounding errors.
EQUAL = 1e-9


@dataclass(frozen=True)
class Weights:
    """Weights of the objectives: L = point L_point + pair L_pair + list L_list.

    The paper does not publish its lambda1 (`point`) and lambda2 (`pair`); 1 here. Its list-wise loss has no weight. An
    ablation sets a weight to 0.
    """

    point: float = 1.0
    pair: float = 1.0
    list: float = 1.0

    def __post_init__(self) -> None:
        """Raise ValueError if a weight is negative, or if all are 0."""
        if min(self.point, self.pair, self.list) < 0 or self.point + self.pair + self.list == 0:
            raise ValueError(f"weights of losses are 0 or more and not all 0: {self}")


@dataclass(frozen=True)
class Losses:
    """The three losses of a batch of queries, each summed over the queries as in the paper."""

    point: torch.Tensor
    pair: torch.Tensor
    list: torch.Tensor

    def total(self, weights: Weights) -> torch.Tensor:
        """Return the joint loss."""
        return weights.point * self.point + weights.pair * self.pair + weights.list * self.list


def losses(logits: torch.Tensor, uplift: torch.Tensor, sizes: Sequence[int]) -> Losses:
    """Compute the losses of a batch of queries.

    Parameters
    ----------
    logits : Tensor, shape (n_documents, 2)
        Of all documents, query after query: unhelpful, helpful. p = softmax(logits)[:, 1].
    uplift : Tensor, shape (n_documents,)
        In the same order. Never NaN: leave out documents without a label beforehand.
    sizes : sequence of int
        Number of documents of each query, at least 1; their sum is n_documents.

    Returns
    -------
    Losses
        Scalars. Documents of equal uplift form no pair. If all documents of a query have equal uplift, its pair-wise
        loss is 0, and its list-wise loss makes their p more equal.

    Raises
    ------
    ValueError
        If the sizes do not add up, or a query has no documents.

    References
    ----------
    Qu et al., section 2.4: L_point, L_pair, L_list with equations 4 and 5.
    """
    import torch
    from torch.nn import functional

    if min(sizes, default=0) < 1 or sum(sizes) != len(logits):
        raise ValueError(f"queries have one document or more, and {len(logits)} in all, not {list(sizes)}")
    logits = logits.float() if logits.dtype in {torch.float16, torch.bfloat16} else logits
    log_p = torch.log_softmax(logits, dim=1)
    u = (uplift > 0).to(log_p.dtype)
    point = -(u * log_p[:, 1] + (1 - u) * log_p[:, 0]).sum()

    # From here on, each query is a row, padded to the longest.
    p = _rows(log_p[:, 1].exp(), sizes)
    gain = _rows(uplift.to(log_p.dtype), sizes)
    is_present = _rows(torch.ones_like(log_p[:, 1]), sizes) > 0
    higher = (gain[:, :, None] - gain[:, None, :] > EQUAL) & is_present[:, :, None] & is_present[:, None, :]
    pair = -functional.logsigmoid(p[:, :, None] - p[:, None, :])[higher].sum()

    log_ideal = _log_softmax(gain, is_present)  # equation 4
    log_predicted = _log_softmax(p, is_present)  # equation 5
    divergence = log_ideal.exp() * (log_ideal - log_predicted)
    return Losses(point, pair, divergence[is_present].sum())


def _rows(values: torch.Tensor, sizes: Sequence[int]) -> torch.Tensor:
    from torch.nn.utils.rnn import pad_sequence

    rows = values.split(list(sizes))
    return pad_sequence(list(rows), batch_first=True)


def _log_softmax(values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Compute the log-softmax of each row over unmasked values; 0 where masked, which no sum uses."""
    import torch

    masked = values.masked_fill(~mask, -torch.inf)
    return torch.log_softmax(masked, dim=1).masked_fill(~mask, 0.0)


if TYPE_CHECKING:
    import torch

Report = Callable[[int, int, str], None]


class NothingToLearnError(ValueError):
    """There is no labelled document to train on, or no held-out query for early stopping."""


class TrainingMemoryError(MemoryError):
    """Not even a single query's documents fit into the device's memory."""


@dataclass(frozen=True)
class Schedule:
    """Training schedule of a reranker.

    Attributes
    ----------
    epochs, learning_rate
        As in the paper, for roberta-base.
    queries : int
        Queries per step. The paper does not state the number.
    weights : Weights
        Weights of the losses.
    warm_up : float
        Share of steps in which the learning rate rises from 0; afterwards it falls linearly to 0, as in the Trainer of
        transformers.
    weight_decay, clip : float
        Weight decay of AdamW, and the norm at which gradients are clipped.
    patience : int or None
        Stop after this many epochs without a lower loss on the held-out queries, and use the weights of the best epoch.
        None trains all epochs and uses the last weights.
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
        """Raise ValueError if a value is not valid."""
        if self.epochs < 1 or self.queries < 1 or self.learning_rate <= 0 or not 0 <= self.warm_up < 1:
            raise ValueError(f"training needs an epoch, a query a step and a learning rate above 0: {self}")
        if self.patience is not None and self.patience < 1:
            raise ValueError("patience is one epoch or more, or None")


@dataclass(frozen=True)
class Epoch:
    """Losses of an epoch per query; `held_out` is the joint loss of held-out queries, None if there are none."""

    point: float
    pair: float
    list: float
    held_out: float | None


@dataclass(frozen=True)
class History:
    """Results of training.

    Attributes
    ----------
    epochs : tuple of Epoch
    best : int
        The epoch whose weights are used, from 1.
    stopped_early : bool
    documents, helpful : int
        Numbers of labelled training documents and of those with positive uplift. If none or all are helpful, the
        reranker has learnt only that.
    """

    epochs: tuple[Epoch, ...]
    best: int
    stopped_early: bool
    documents: int
    helpful: int

    def as_dict(self) -> dict[str, Any]:
        """Convert to JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class _Example:
    pairs: list[Encoded]
    uplift: list[float]


def train(reranker: Reranker, labelled: Sequence[LabelledQuery], *, rng: np.random.Generator,
          held_out: Sequence[LabelledQuery] = (), schedule: Schedule | None = None,
          report: Report = lambda _done, _total, _message: None) -> History:  # fmt: skip
    """Train a reranker in place.

    Parameters
    ----------
    reranker : Reranker
        From `reranker.start`, or a trained one to train further.
    labelled : sequence of LabelledQuery
    rng : numpy.random.Generator
        Determines the order of queries and dropout. With equal inputs, equal `rng` and the same number of threads, a
        CPU gives equal weights.
    held_out : sequence of LabelledQuery
        Queries whose loss is monitored, not used for training.
    schedule : Schedule, optional
    report : callable
        Called with (steps done, steps, message) after each step; it may raise to stop.

    Returns
    -------
    History

    Raises
    ------
    NothingToLearnError
        If there is no labelled query, or no held-out query for early stopping.
    TrainingMemoryError
        If the documents of a single query do not fit into memory.
    """
    schedule = schedule or Schedule()
    if not labelled:
        raise NothingToLearnError("no labelled query to learn from: label some, or take a larger share for training")
    if schedule.patience is not None and not held_out:
        raise NothingToLearnError("to stop early, hold out some labelled queries; or train all epochs (patience None)")
    learning = _Learning(reranker, [_example(reranker, labelled_query) for labelled_query in labelled], schedule)
    watched = [_example(reranker, labelled_query) for labelled_query in held_out]
    try:
        with seeded(rng, str(reranker.device)):
            return learning.run(watched, rng, report)
    finally:
        reranker.model.eval()


class _Learning:
    """The training loop over a reranker's weights."""

    def __init__(self, reranker: Reranker, examples: list[_Example], schedule: Schedule) -> None:
        import torch
        from transformers import get_linear_schedule_with_warmup

        self._torch = torch
        self.reranker = reranker
        self.examples = examples
        self.schedule = schedule
        self.parameters = [parameter for parameter in reranker.model.parameters() if parameter.requires_grad]
        # A fused kernel is faster than six passes over each weight.
        self.optimizer = torch.optim.AdamW(
            self.parameters, lr=schedule.learning_rate, weight_decay=schedule.weight_decay, fused=True
        )
        self.steps_an_epoch = -(-len(examples) // schedule.queries)
        total = self.steps_an_epoch * schedule.epochs
        warm = round(total * schedule.warm_up)
        self.rate = get_linear_schedule_with_warmup(self.optimizer, warm, total)
        self.at_once = schedule.queries

    def run(self, watched: list[_Example], rng: np.random.Generator, report: Report) -> History:
        epochs: list[Epoch] = []
        best, lowest, best_state = 0, float("inf"), None
        for epoch in range(self.schedule.epochs):
            point, pair, listwise = self._epoch(epoch, rng, report)
            epochs.append(Epoch(point, pair, listwise, self.loss(watched) if watched else None))
            if self.schedule.patience is None:
                best = epoch
                continue
            now = epochs[epoch].held_out
            assert now is not None  # `train` ensures that there are held-out queries
            if now < lowest:
                best, lowest, best_state = epoch, now, copy.deepcopy(self.reranker.model.state_dict())
            elif epoch - best >= self.schedule.patience:
                break
        if best_state is not None:
            self.reranker.model.load_state_dict(best_state)
        uplift = np.concatenate([example.uplift for example in self.examples])
        early = len(epochs) < self.schedule.epochs
        return History(tuple(epochs), best + 1, early, uplift.size, int((uplift > 0).sum()))

    def _epoch(self, epoch: int, rng: np.random.Generator, report: Report) -> list[float]:
        """Run one epoch over all queries in random order; return the mean of each loss per query."""
        self.reranker.model.train()
        order = rng.permutation(len(self.examples))
        sums = np.zeros(3)
        total = self.steps_an_epoch * self.schedule.epochs
        for step in range(self.steps_an_epoch):
            batch_order = order[step * self.schedule.queries : (step + 1) * self.schedule.queries]
            sums += self.step([self.examples[index] for index in batch_order])
            report(epoch * self.steps_an_epoch + step + 1, total, f"epoch {epoch + 1} of {self.schedule.epochs}")
        return [float(value) for value in sums / len(self.examples)]

    def step(self, batch: Sequence[_Example]) -> Floats:
        """Take one optimiser step on the mean loss of some queries; return the sum of each loss over them.

        The device is locked only during the step: training takes minutes, and other jobs can run in between.
        """
        with model_cache.one_job(self.reranker.device):
            sums = None
            while sums is None:
                self.optimizer.zero_grad(set_to_none=True)
                sums = self._backward(batch)
            self._torch.nn.utils.clip_grad_norm_(self.parameters, self.schedule.clip)
            self.optimizer.step()
        self.rate.step()
        return sums

    def _backward(self, batch: Sequence[_Example]) -> Floats | None:
        """Compute the gradients of a step in parts. Return None if they did not fit; later parts are then smaller."""
        sums = np.zeros(3)
        try:
            for i in range(0, len(batch), self.at_once):
                part = self._losses(batch[i : i + self.at_once])
                mean = part.total(self.schedule.weights) / len(batch)
                mean.backward()
                sums += [float(loss.detach()) for loss in (part.point, part.pair, part.list)]
        except (RuntimeError, MemoryError) as error:
            if not devices.is_memory_short(self._torch, error):
                raise
            if self.at_once == 1:
                raise TrainingMemoryError(
                    f"the documents of one query do not fit into the memory of {self.reranker.device} while training: "
                    "use fewer documents per query, fewer tokens per document (longest), or a smaller encoder"
                ) from error
            self.at_once = max(1, min(self.at_once, len(batch)) // 2)
        else:
            return sums
        # Outside the handler, because the error holds the memory of the failed step.
        devices.release(self._torch, self.reranker.device)
        return None

    def _losses(self, batch: Sequence[_Example]) -> Losses:
        pairs = [pair for item in batch for pair in item.pairs]
        logits = (
            self.reranker.logits(pairs)
            if self._torch.is_grad_enabled()
            else self.reranker.logits_without_gradients(pairs)
        )
        uplift = [value for item in batch for value in item.uplift]
        return losses(logits, self._tensor(uplift), [len(item.pairs) for item in batch])

    def loss(self, examples: Sequence[_Example]) -> float:
        """Return the mean joint loss per query, without dropout; needs at least one query."""
        self.reranker.model.eval()
        with self._torch.inference_mode():
            parts = [self._losses([example]).total(self.schedule.weights) for example in examples]
        return float(sum(map(float, parts)) / len(parts))

    def _tensor(self, values: Sequence[float]) -> torch.Tensor:
        return self._torch.tensor(values, device=self.reranker.device)


def _example(reranker: Reranker, labelled: LabelledQuery) -> _Example:
    pairs = reranker.encode(labelled.query.question, labelled.documents)
    return _Example(pairs, [float(item) for item in labelled.uplift])
