"""Training of a reranker on labelled queries: its three objectives (section 2.4), summed over lists of documents.

torch is imported only when a loss is computed. The loop itself is `training_loop`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import training_loop
from .reranker import Encoded, Reranker
from .training_loop import Checkpoint, Report, Schedule
from .uplift_labels import Floats, LabelledQuery

if TYPE_CHECKING:
    import torch

#: Tolerance for equal scores: F1 is a ratio of word counts, so it has rounding errors.
EQUAL = 1e-9
#: What to do if the documents of one query do not fit into memory.
ADVICE = "use fewer documents per query, fewer tokens per document (longest), or a smaller encoder"


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


class NothingToLearnError(ValueError):
    """There is no labelled document to train on, or no held-out query for early stopping."""


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
class Example:
    """A query's documents as token ids, with their uplift."""

    pairs: list[Encoded]
    uplift: list[float]


def train(reranker: Reranker, labelled: Sequence[LabelledQuery], *, rng: np.random.Generator,
          held_out: Sequence[LabelledQuery] = (), schedule: Schedule | None = None, weights: Weights | None = None,
          report: Report = lambda _done, _total, _message: None, checkpoint: Checkpoint | None = None,
          ) -> History:  # fmt: skip
    """Train a reranker in place.

    Parameters
    ----------
    reranker : Reranker
        From `reranker.start`, or a trained one to train further.
    labelled : sequence of LabelledQuery
    rng, report, checkpoint
        See `training_loop.run`.
    held_out : sequence of LabelledQuery
        Queries whose loss is monitored, not used for training.
    schedule : Schedule, optional
    weights : Weights, optional
        Weights of the objectives.

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
    objectives = Objectives(reranker, examples(reranker, labelled), weights or Weights())
    watched = examples(reranker, held_out)
    task = training_loop.Task(
        reranker.model, len(labelled), objectives.gradients, ADVICE,
        held_out=(lambda: objectives.loss(watched)) if watched else None,
    )  # fmt: skip
    course = training_loop.run(task, schedule, rng=rng, report=report, checkpoint=checkpoint)
    epochs = [
        Epoch(point, pair, listwise, held_out_loss)
        for (point, pair, listwise), held_out_loss in zip(course.losses, course.held_out, strict=True)
    ]
    uplift = np.concatenate([example.uplift for example in objectives.examples])
    is_early = len(epochs) < schedule.epochs
    return History(tuple(epochs), course.best + 1, is_early, uplift.size, int((uplift > 0).sum()))


class Objectives:
    """The joint loss of a reranker's logits."""

    def __init__(self, reranker: Reranker, examples: list[Example], weights: Weights) -> None:
        self.reranker = reranker
        self.examples = examples
        self.weights = weights

    def gradients(self, batch: Sequence[int], at_once: int) -> Floats:
        """Add the gradients of some queries' mean loss; return the sums of the three losses. See `Task.gradients`."""
        sums = np.zeros(3)
        for start in range(0, len(batch), at_once):
            part = self._losses([self.examples[index] for index in batch[start : start + at_once]])
            (part.total(self.weights) / len(batch)).backward()
            sums += [float(loss.detach()) for loss in (part.point, part.pair, part.list)]
        return sums

    def loss(self, examples: Sequence[Example]) -> float:
        """Return the mean joint loss per query, without dropout; needs at least one query."""
        import torch

        self.reranker.model.eval()
        with torch.inference_mode():
            parts = [self._losses([example]).total(self.weights) for example in examples]
        return float(sum(map(float, parts)) / len(parts))

    def _losses(self, batch: Sequence[Example]) -> Losses:
        import torch

        pairs = [pair for example in batch for pair in example.pairs]
        logits = (
            self.reranker.logits(pairs) if torch.is_grad_enabled() else self.reranker.logits_without_gradients(pairs)
        )
        uplift = torch.tensor([value for example in batch for value in example.uplift], device=self.reranker.device)
        return losses(logits, uplift, [len(example.pairs) for example in batch])


def examples(reranker: Reranker, labelled: Sequence[LabelledQuery]) -> list[Example]:
    """Tokenize each query with its documents."""
    return [
        Example(reranker.encode(query.query.question, query.documents), [float(value) for value in query.uplift])
        for query in labelled
    ]
