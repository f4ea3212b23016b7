"""Training of DPA-RAG's reranker with three objectives, reweighted at every step so that none gets worse.

Multiple-gradient descent (Desideri 2012; Sener and Koltun 2018): the shortest vector in the convex hull of the
gradients is a descent direction for all objectives at once, or 0 if there is none.

Dong et al. 2025, section 3.2. s is a document's helpful logit minus the unhelpful one. torch is imported only when a
loss is computed.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...generation import devices, model_cache
from ..reranker import Encoded, Reranker, seeded
from ..training import TrainingMemoryError
from ..uplift_labels import LabelledQuery
from .protocol import BaselineSettings

Floats = NDArray[np.float64]


def weights(gradients: Floats) -> Floats:
    """Compute the weights of the shortest convex combination; exact, for few objectives.

    Parameters
    ----------
    gradients : ndarray, shape (n_objectives, n_numbers)
        Finite. Only a few objectives, since all their subsets are tried.

    Returns
    -------
    ndarray, shape (n_objectives,)
        At least 0, with sum 1. An objective with gradient 0 gets all the weight; to weight the others, leave it out
        beforehand.

    Examples
    --------
    >>> weights(np.array([[1.0, 0.0], [0.0, 1.0]])).tolist()
    [0.5, 0.5]
    """
    products = gradients @ gradients.T
    best, shortest = np.zeros(len(gradients)), float("inf")
    for size in range(1, len(gradients) + 1):
        for subset in map(list, combinations(range(len(gradients)), size)):
            inner_weights = _inside(products[np.ix_(subset, subset)])
            if inner_weights is None:
                continue
            length = float(inner_weights @ products[np.ix_(subset, subset)] @ inner_weights)
            if length < shortest * (1 - 1e-12):
                best = np.zeros(len(gradients))
                best[subset], shortest = inner_weights, length
    return best


def _inside(products: Floats) -> Floats | None:
    """Return the shortest affine combination (products times weights is constant); None if a weight is negative."""
    n = len(products)
    system = np.block([[products, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    solution = np.linalg.lstsq(system, np.append(np.zeros(n), 1.0), rcond=None)[0][:n]
    return solution if solution.min() >= -1e-12 and abs(solution.sum() - 1) < 1e-9 else None


if TYPE_CHECKING:
    import torch

_EQUAL = 1e-9


def losses(logits: torch.Tensor, uplift: torch.Tensor, sizes: Sequence[int]) -> list[torch.Tensor]:
    """Compute the losses of a batch, each a mean; a loss without terms is left out.

    Parameters
    ----------
    logits : Tensor, shape (n_documents, 2)
        Documents of one query after another.
    uplift : Tensor, shape (n_documents,)
        Above 0 for aligned knowledge, below 0 for unaligned, 0 for neither.
    sizes : sequence of int
        Number of documents of each query.

    Returns
    -------
    list of Tensor
        Point-wise: cross-entropy of aligned against unaligned documents. Pair-wise: -log sigmoid(s_i - s_j) over a
        query's pairs of unequal uplift. Contrastive: for each document of a query's highest uplift, against all
        documents of lower uplift, -log softmax. Empty if all uplifts of all queries are 0.
    """
    import torch
    from torch.nn import functional

    s = logits[:, 1] - logits[:, 0]
    point, pair, contrast = [], [], []
    decided = uplift.abs() > _EQUAL
    if decided.any():
        aligned = (uplift[decided] > 0).to(s.dtype)
        point.append(functional.binary_cross_entropy_with_logits(s[decided], aligned, reduction="none"))
    for score, gain in zip(torch.split(s, list(sizes)), torch.split(uplift, list(sizes)), strict=True):
        higher = gain[:, None] - gain[None, :] > _EQUAL
        if not higher.any():
            continue
        pair.append(-functional.logsigmoid(score[:, None] - score[None, :])[higher])
        first = gain >= gain.max() - _EQUAL
        behind = torch.logsumexp(score[~first], dim=0)
        contrast.append(torch.logaddexp(score[first], behind) - score[first])
    return [torch.cat(terms).mean() for terms in (point, pair, contrast) if terms]


def weigh(parts: Sequence[torch.Tensor], logits: torch.Tensor) -> list[float]:
    """Compute weights with which no objective gets worse, from the gradients at the logits (MGDA-UB).

    Parameters
    ----------
    parts : sequence of Tensor
        Losses of the same logits.
    logits : Tensor
        The shared representation of the objectives. The method's upper bound comes from stopping here instead of
        propagating back through all weights.

    Returns
    -------
    list of float
        Their sum is 1. A loss at its minimum (gradient 0) has weight 0; if all are, each has weight 1 / n.
    """
    import torch

    slopes = [torch.autograd.grad(part, logits, retain_graph=True)[0].detach().flatten() for part in parts]
    gradients = np.array([slope.double().cpu().numpy() for slope in slopes])
    lengths = np.linalg.norm(gradients, axis=1)
    weighting = np.zeros(len(parts))
    moving = lengths > 0
    if not moving.any():
        return [1 / len(parts)] * len(parts)
    # Normalise the gradients to one length. Otherwise an objective that has nearly converged would get all the weight,
    # and the others would not improve.
    weighting[moving] = weights(gradients[moving] / lengths[moving, None]) / lengths[moving]
    return [float(item) for item in weighting / weighting.sum()]


Report = Callable[[int, int, str], None]
_CLIP = 1.0


@dataclass(frozen=True)
class Example:
    """A query's documents as token ids, with their uplift."""

    pairs: list[Encoded]
    uplift: list[float]


def train(
    reranker: Reranker,
    labelled: Sequence[LabelledQuery],
    settings: BaselineSettings,
    *,
    held_out: Sequence[LabelledQuery],
    rng: np.random.Generator,
    report: Report,
) -> None:
    """Train a reranker in place.

    Parameters
    ----------
    reranker : Reranker
    labelled : sequence of LabelledQuery
        Each with at least one document whose uplift is not 0.
    settings : BaselineSettings
        Epochs, learning rate with its warm-up, queries per step, patience.
    held_out : sequence of LabelledQuery
        If there are any and the settings have a patience, training ends after that many epochs without a lower loss on
        them, and uses the weights of the best epoch.
    rng : numpy.random.Generator
        Determines the order of queries and dropout.
    report : callable

    Raises
    ------
    TrainingMemoryError
        If the documents of a single query do not fit into memory.
    """
    examples, watched = ([_example(reranker, example) for example in queries] for queries in (labelled, held_out))
    watched = watched if settings.patience else []
    learning = _Learning(reranker, settings, steps=settings.epochs * -(-len(examples) // settings.batch))
    best, best_state, epochs_since = np.inf, None, 0
    with seeded(rng, str(reranker.device)):
        for epoch in range(settings.epochs):
            reranker.model.train()
            order = rng.permutation(len(examples))
            for i in range(0, len(order), settings.batch):
                learning.step([examples[index] for index in order[i : i + settings.batch]])
            reranker.model.eval()
            report(epoch + 1, settings.epochs, "preference alignment")
            if not watched:
                continue
            now = loss(reranker, watched)
            if now < best:
                best, best_state, epochs_since = now, copy.deepcopy(reranker.model.state_dict()), 0
            else:
                epochs_since += 1
            if epochs_since >= (settings.patience or 0):
                break
    if best_state is not None:
        reranker.model.load_state_dict(best_state)


def loss(reranker: Reranker, examples: Sequence[Example]) -> float:
    """Return the sum of the three losses over all examples together, without dropout."""
    logits = reranker.logits_without_gradients(_pairs(examples))
    return float(sum(map(float, _losses(reranker, examples, logits))))


class _Learning:
    """The training steps of a reranker; the learning rate rises and falls as in uplift's training."""

    def __init__(self, reranker: Reranker, settings: BaselineSettings, *, steps: int) -> None:
        import torch
        from transformers import get_linear_schedule_with_warmup

        self._torch = torch
        self.reranker = reranker
        self.parameters = list(reranker.model.parameters())
        self.optimizer = torch.optim.AdamW(self.parameters, lr=settings.learning_rate, weight_decay=0.0)
        warm = round(steps * settings.warm_up)
        self.rate = get_linear_schedule_with_warmup(self.optimizer, warm, steps)
        self.at_once = settings.batch

    def step(self, batch: Sequence[Example]) -> None:
        """Take one optimiser step on the weighted losses of some queries, in smaller parts if memory is short."""
        with model_cache.one_job(self.reranker.device):
            while True:
                self.optimizer.zero_grad(set_to_none=True)
                if self._has_gradients(batch):
                    break
            self._torch.nn.utils.clip_grad_norm_(self.parameters, _CLIP)
            self.optimizer.step()
        self.rate.step()

    def _has_gradients(self, batch: Sequence[Example]) -> bool:
        """Compute the gradients. Return whether they fitted into memory; if not, later parts are smaller."""
        try:
            if self.at_once >= len(batch):
                self._whole(batch)
            else:
                self._in_parts(batch)
        except (RuntimeError, MemoryError) as error:
            if not devices.is_memory_short(self._torch, error):
                raise
            if min(self.at_once, len(batch)) == 1:
                raise TrainingMemoryError(
                    f"the documents of one query do not fit into the memory of {self.reranker.device} while training: "
                    "use fewer documents per query, fewer tokens per document (longest), or a smaller encoder"
                ) from error
            self.at_once = min(self.at_once, len(batch)) // 2
        else:
            return True
        devices.release(self._torch, self.reranker.device)
        return False

    def _whole(self, batch: Sequence[Example]) -> None:
        logits = self.reranker.logits(_pairs(batch))
        self._weighed(batch, logits).backward()

    def _in_parts(self, batch: Sequence[Example]) -> None:
        """Compute the same gradient with fewer queries in memory: first all logits and their gradients, then each part.

        Objectives are weighted over all queries of a step, so all logits must be known first.
        """
        parts = [batch[i : i + self.at_once] for i in range(0, len(batch), self.at_once)]
        chances, logits_of_parts = [], []
        for part in parts:
            chances.append(self._chance())
            with self._torch.no_grad():
                logits_of_parts.append(self.reranker.logits(_pairs(part)))
        logits = self._torch.cat(logits_of_parts).requires_grad_()
        (slope,) = self._torch.autograd.grad(self._weighed(batch, logits), logits)
        offset = 0
        for part, chance in zip(parts, chances, strict=True):
            self._torch.set_rng_state(chance[0])  # repeat the same dropout as before
            if chance[1] is not None:
                self._torch.cuda.set_rng_state(chance[1], self.reranker.device)
            recomputed = self.reranker.logits(_pairs(part))
            recomputed.backward(slope[offset : offset + len(recomputed)])
            offset += len(recomputed)

    def _chance(self) -> tuple[Any, Any]:
        on_device = self.reranker.device.type == "cuda"
        return self._torch.get_rng_state(), self._torch.cuda.get_rng_state(self.reranker.device) if on_device else None

    def _weighed(self, batch: Sequence[Example], logits: Any) -> Any:
        parts = _losses(self.reranker, batch, logits)
        return sum(weight * part for weight, part in zip(weigh(parts, logits), parts, strict=True))


def _losses(reranker: Reranker, batch: Sequence[Example], logits: Any) -> list[Any]:
    import torch

    uplift = torch.tensor([value for item in batch for value in item.uplift], device=reranker.device)
    return losses(logits, uplift, [len(item.pairs) for item in batch])


def _pairs(batch: Sequence[Example]) -> list[Encoded]:
    return [pair for item in batch for pair in item.pairs]


def _example(reranker: Reranker, labelled: LabelledQuery) -> Example:
    return Example(reranker.encode(labelled.query.question, labelled.documents), labelled.uplift.tolist())
