"""The objectives of DPA-RAG's reranker: point by point, pair by pair, by contrast; and their weights.

Dong et al. 2025, section 3.2. s is a document's helpful logit less the other one. torch is imported when a loss is
computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from . import min_norm

if TYPE_CHECKING:
    import torch

_EQUAL = 1e-9


def losses(logits: torch.Tensor, uplift: torch.Tensor, sizes: Sequence[int]) -> list[torch.Tensor]:
    """The three losses of a batch, each a mean, those that there is nothing for left out.

    Parameters
    ----------
    logits : Tensor, shape (n_documents, 2)
        One query's documents after the other's.
    uplift : Tensor, shape (n_documents,)
        Above 0 is aligned knowledge, below 0 unaligned, 0 neither.
    sizes : sequence of int
        How many documents each query has.

    Returns
    -------
    list of Tensor
        Point by point: cross-entropy of aligned against unaligned documents. Pair by pair: -log sigmoid(s_i - s_j)
        over a query's pairs of unequal uplift. By contrast: for each document of a query's highest uplift, against all
        documents of lower uplift, -log softmax. Empty if all of every query's uplifts are 0.
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
    return [torch.cat(each).mean() for each in (point, pair, contrast) if each]


def weigh(parts: Sequence[torch.Tensor], logits: torch.Tensor) -> list[float]:
    """The weights that let no objective grow, by its gradient at the logits (MGDA-UB).

    Parameters
    ----------
    parts : sequence of Tensor
        Losses of the same logits.
    logits : Tensor
        What the objectives share: the upper bound of the method is in stopping here instead of going back through all
        weights.

    Returns
    -------
    list of float
        Of sum 1. A loss that is as low as it gets (gradient 0) has weight 0; all 1 / n if all are.
    """
    import torch

    slopes = [torch.autograd.grad(each, logits, retain_graph=True)[0].detach().flatten() for each in parts]
    gradients = np.array([each.double().cpu().numpy() for each in slopes])
    lengths = np.linalg.norm(gradients, axis=1)
    found = np.zeros(len(parts))
    moving = lengths > 0
    if not moving.any():
        return [1 / len(parts)] * len(parts)
    # Gradients are brought to one length, or an objective that is all but done would have all the weight, and the
    # others would stay where they are.
    found[moving] = min_norm.weights(gradients[moving] / lengths[moving, None]) / lengths[moving]
    return [float(each) for each in found / found.sum()]
