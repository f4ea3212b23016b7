"""Training a reranker on labelled queries: its three objectives (section 2.4), and list-wise steps.

torch is imported when a loss is computed.
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

#: Scores of answers that differ by less are equal: F1 is a fraction of words, and fractions are rounded.
EQUAL = 1e-9


@dataclass(frozen=True)
class Weights:
    """How much each objective counts: L = point L_point + pair L_pair + list L_list.

    The paper does not publish its lambda1 (`point`) and lambda2 (`pair`); 1 here. Its list-wise loss has no weight; an
    ablation takes 0.
    """

    point: float = 1.0
    pair: float = 1.0
    list: float = 1.0

    def __post_init__(self) -> None:
        """Refuse what would learn nothing or the contrary."""
        if min(self.point, self.pair, self.list) < 0 or self.point + self.pair + self.list == 0:
            raise ValueError(f"weights of losses are 0 or more and not all 0: {self}")


@dataclass(frozen=True)
class Losses:
    """The three losses of some queries, each summed over them as printed."""

    point: torch.Tensor
    pair: torch.Tensor
    list: torch.Tensor

    def total(self, weights: Weights) -> torch.Tensor:
        """The joint loss."""
        return weights.point * self.point + weights.pair * self.pair + weights.list * self.list


def losses(logits: torch.Tensor, uplift: torch.Tensor, sizes: Sequence[int]) -> Losses:
    """Compute the losses of a batch of queries.

    Parameters
    ----------
    logits : Tensor, shape (n_documents, 2)
        Of all documents, one query's after the other's: unhelpful, helpful. p = softmax(logits)[:, 1].
    uplift : Tensor, shape (n_documents,)
        In the same order. Never NaN: a document without a label is left out beforehand.
    sizes : sequence of int
        How many documents each query has, at least one each; their sum is n_documents.

    Returns
    -------
    Losses
        Scalars. Pairs of equal uplift are no pairs; a query all of whose documents have equal uplift has a pair-wise
        loss of 0, and its list-wise loss pulls its p together.

    Raises
    ------
    ValueError
        If the sizes do not add up, or a query has none.

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

    # From here on a query is a row, filled up to the longest.
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

    rows = values.split(list(sizes))  # type: ignore[no-untyped-call]
    return pad_sequence(list(rows), batch_first=True)


def _log_softmax(values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Over what is there of each row; 0 where nothing is, which no sum takes."""
    import torch

    masked = values.masked_fill(~mask, -torch.inf)
    return torch.log_softmax(masked, dim=1).masked_fill(~mask, 0.0)


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


def train(reranker: Reranker, labelled: Sequence[LabelledQuery], *, rng: np.random.Generator,
          held_out: Sequence[LabelledQuery] = (), schedule: Schedule | None = None,
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
    learning = _Learning(reranker, [_example(reranker, labelled_query) for labelled_query in labelled], schedule)
    watched = [_example(reranker, labelled_query) for labelled_query in held_out]
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
        self.parameters = [parameter for parameter in reranker.model.parameters() if parameter.requires_grad]
        # One kernel for all weights instead of six passes over each.
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
            assert now is not None  # `train` made sure that something is held out
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
        """All queries once, in an order of its own; the mean loss of each kind a query."""
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
        """One step down the mean loss of some queries; the sum of each kind of loss over them.

        The device is held for the step alone: a training takes minutes, and others have their turn in between.
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
        """Gradients of a step, some queries at a time; None if they did not fit, with fewer at a time from now on."""
        sums = np.zeros(3)
        try:
            for i in range(0, len(batch), self.at_once):
                part = self._losses(batch[i : i + self.at_once])
                mean = part.total(self.schedule.weights) / len(batch)
                mean.backward()  # type: ignore[no-untyped-call]
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
        # Outside the handler: the error holds what the failed step took.
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
        """The joint loss a query, of one or more, without dropout."""
        self.reranker.model.eval()
        with self._torch.inference_mode():
            parts = [self._losses([example]).total(self.schedule.weights) for example in examples]
        return float(sum(map(float, parts)) / len(parts))

    def _tensor(self, values: Sequence[float]) -> torch.Tensor:
        return self._torch.tensor(values, device=self.reranker.device)


def _example(reranker: Reranker, labelled: LabelledQuery) -> _Example:
    pairs = reranker.encode(labelled.query.question, labelled.documents)
    return _Example(pairs, [float(item) for item in labelled.uplift])
