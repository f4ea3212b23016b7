"""The three objectives that a reranker learns from (section 2.4), as printed: all of them on p, the helpful part.

torch is imported when a loss is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    there = _rows(torch.ones_like(log_p[:, 1]), sizes) > 0
    higher = (gain[:, :, None] - gain[:, None, :] > EQUAL) & there[:, :, None] & there[:, None, :]
    pair = -functional.logsigmoid(p[:, :, None] - p[:, None, :])[higher].sum()

    log_ideal = _log_softmax(gain, there)  # equation 4
    log_predicted = _log_softmax(p, there)  # equation 5
    divergence = log_ideal.exp() * (log_ideal - log_predicted)
    return Losses(point, pair, divergence[there].sum())


def _rows(values: torch.Tensor, sizes: Sequence[int]) -> torch.Tensor:
    from torch.nn.utils.rnn import pad_sequence

    rows = values.split(list(sizes))  # type: ignore[no-untyped-call]
    return pad_sequence(list(rows), batch_first=True)


def _log_softmax(values: torch.Tensor, there: torch.Tensor) -> torch.Tensor:
    """Over what is there of each row; 0 where nothing is, which no sum takes."""
    import torch

    masked = values.masked_fill(~there, -torch.inf)
    return torch.log_softmax(masked, dim=1).masked_fill(~there, 0.0)
