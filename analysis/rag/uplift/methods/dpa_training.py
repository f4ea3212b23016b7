"""Training of DPA-RAG's reranker: three objectives, weighed anew at every step."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..labels import Labelled
from ..reranker import Encoded, Reranker, seeded
from . import dpa_losses
from .method import Settings

Report = Callable[[int, int, str], None]
#: Epochs that may pass without a lower loss of the held-out queries.
PATIENCE = 2
_CLIP = 1.0


@dataclass(frozen=True)
class Example:
    """A query's documents as tokens, with their uplift."""

    pairs: list[Encoded]
    uplift: list[float]


def train(
    reranker: Reranker,
    labelled: Sequence[Labelled],
    settings: Settings,
    *,
    held_out: Sequence[Labelled],
    rng: np.random.Generator,
    report: Report,
) -> None:
    """Train a reranker in place.

    Parameters
    ----------
    reranker : Reranker
    labelled : sequence of Labelled
        Each with a document whose uplift is not 0.
    settings : Settings
        Epochs, learning rate and queries a step.
    held_out : sequence of Labelled
        If there are any, training ends when `PATIENCE` epochs have not lowered their loss, and takes the best epoch's
        weights.
    rng : numpy.random.Generator
        Source of the order of queries and of dropout.
    report : callable
    """
    import torch

    examples, watched = ([_example(reranker, each) for each in some] for some in (labelled, held_out))
    optimizer = torch.optim.AdamW(reranker.model.parameters(), lr=settings.learning_rate, weight_decay=0.0)
    best, kept, since = np.inf, None, 0
    with seeded(rng, str(reranker.device)):
        for epoch in range(settings.epochs):
            reranker.model.train()
            order = rng.permutation(len(examples))
            for i in range(0, len(order), settings.batch):
                _step(reranker, [examples[place] for place in order[i : i + settings.batch]], optimizer)
            reranker.model.eval()
            report(epoch + 1, settings.epochs, "preference alignment")
            if not watched:
                continue
            now = loss(reranker, watched)
            if now < best:
                best, kept, since = now, copy.deepcopy(reranker.model.state_dict()), 0
            else:
                since += 1
            if since >= PATIENCE:
                break
    if kept is not None:
        reranker.model.load_state_dict(kept)


def loss(reranker: Reranker, examples: Sequence[Example]) -> float:
    """The sum of the three losses over all examples together, without dropout."""
    import torch

    with torch.inference_mode():
        return float(sum(map(float, _losses(reranker, examples)[0])))


def _step(reranker: Reranker, batch: Sequence[Example], optimizer: Any) -> None:
    import torch

    parts, logits = _losses(reranker, batch)
    total = sum(weight * part for weight, part in zip(dpa_losses.weigh(parts, logits), parts, strict=True))
    optimizer.zero_grad(set_to_none=True)
    total.backward()
    torch.nn.utils.clip_grad_norm_(reranker.model.parameters(), _CLIP)
    optimizer.step()


def _losses(reranker: Reranker, batch: Sequence[Example]) -> tuple[list[Any], Any]:
    import torch

    logits = reranker.logits([pair for each in batch for pair in each.pairs])
    uplift = torch.tensor([value for each in batch for value in each.uplift], device=reranker.device)
    return dpa_losses.losses(logits, uplift, [len(each.pairs) for each in batch]), logits


def _example(reranker: Reranker, labelled: Labelled) -> Example:
    return Example(reranker.encode(labelled.query.question, labelled.documents), labelled.uplift.tolist())
