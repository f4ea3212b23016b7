"""Training of DPA-RAG's reranker with three objectives, reweighted at every step so that none gets worse.

Multiple-gradient descent (Desideri 2012; Sener and Koltun 2018): the shortest vector in the convex hull of the
gradients is a descent direction for all objectives at once, or 0 if there is none.

Dong et al. 2025, section 3.2. s is a document's helpful logit minus the unhelpful one. torch is imported only when a
loss is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import training_loop
from ..reranker import Encoded, Reranker
from ..training import ADVICE, Example, examples
from ..training_loop import Checkpoint, Report
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


def train(
    reranker: Reranker,
    labelled: Sequence[LabelledQuery],
    settings: BaselineSettings,
    *,
    held_out: Sequence[LabelledQuery],
    rng: np.random.Generator,
    report: Report,
    checkpoint: Checkpoint | None = None,
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
    rng, report, checkpoint
        See `training_loop.run`.

    Raises
    ------
    TrainingMemoryError
        If the documents of a single query do not fit into memory.
    """
    objectives = Objectives(reranker, examples(reranker, labelled))
    watched = examples(reranker, held_out) if settings.patience else []
    task = training_loop.Task(
        reranker.model, len(labelled), objectives.gradients, ADVICE,
        held_out=(lambda: loss(reranker, watched)) if watched else None, message="preference alignment",
    )  # fmt: skip
    training_loop.run(task, settings.schedule(), rng=rng, report=report, checkpoint=checkpoint)


def loss(reranker: Reranker, examples: Sequence[Example]) -> float:
    """Return the sum of the three losses over all examples together, without dropout."""
    logits = reranker.logits_without_gradients(_pairs(examples))
    return float(sum(map(float, _losses(reranker, examples, logits))))


class Objectives:
    """The three losses of a reranker's logits, weighted at every step."""

    def __init__(self, reranker: Reranker, examples: list[Example]) -> None:
        self.reranker = reranker
        self.examples = examples

    def gradients(self, batch: Sequence[int], at_once: int) -> Floats:
        """Add the gradients of some queries' weighted losses; return that loss. See `training_loop.Task.gradients`."""
        queries = [self.examples[index] for index in batch]
        if at_once >= len(batch):
            weighed = self._weighed(queries, self.reranker.logits(_pairs(queries)))
            weighed.backward()
        else:
            weighed = self._in_parts(queries, at_once)
        return np.array([float(weighed.detach()) * len(batch)])

    def _in_parts(self, batch: Sequence[Example], at_once: int) -> Any:
        """Compute the same gradient with fewer queries in memory: first all logits and their gradients, then each part.

        Objectives are weighted over all queries of a step, so all logits must be known first.
        """
        import torch

        parts = [batch[i : i + at_once] for i in range(0, len(batch), at_once)]
        chances, logits_of_parts = [], []
        for part in parts:
            chances.append(self._chance())
            with torch.no_grad():
                logits_of_parts.append(self.reranker.logits(_pairs(part)))
        logits = torch.cat(logits_of_parts).requires_grad_()
        weighed = self._weighed(batch, logits)
        (slope,) = torch.autograd.grad(weighed, logits)
        offset = 0
        for part, chance in zip(parts, chances, strict=True):
            torch.set_rng_state(chance[0])  # repeat the same dropout as before
            if chance[1] is not None:
                torch.cuda.set_rng_state(chance[1], self.reranker.device)
            recomputed = self.reranker.logits(_pairs(part))
            recomputed.backward(slope[offset : offset + len(recomputed)])
            offset += len(recomputed)
        return weighed

    def _chance(self) -> tuple[Any, Any]:
        import torch

        on_device = self.reranker.device.type == "cuda"
        return torch.get_rng_state(), torch.cuda.get_rng_state(self.reranker.device) if on_device else None

    def _weighed(self, batch: Sequence[Example], logits: Any) -> Any:
        parts = _losses(self.reranker, batch, logits)
        return sum(weight * part for weight, part in zip(weigh(parts, logits), parts, strict=True))


def _losses(reranker: Reranker, batch: Sequence[Example], logits: Any) -> list[Any]:
    import torch

    uplift = torch.tensor([value for item in batch for value in item.uplift], device=reranker.device)
    return losses(logits, uplift, [len(item.pairs) for item in batch])


def _pairs(batch: Sequence[Example]) -> list[Encoded]:
    return [pair for item in batch for pair in item.pairs]
