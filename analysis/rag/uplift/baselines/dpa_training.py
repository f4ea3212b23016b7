"""Training of DPA-RAG's reranker: three objectives, weighed anew at every step."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...generation import devices, warm
from ..labels import Labelled
from ..reranker import Encoded, Reranker, seeded
from ..training import TrainingMemoryError
from . import dpa_losses
from .protocol import Settings

Report = Callable[[int, int, str], None]
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
        Epochs, learning rate with its warm-up, queries a step, patience.
    held_out : sequence of Labelled
        If there are any and the settings have patience, training ends when so many epochs have not lowered their loss,
        and takes the best epoch's weights.
    rng : numpy.random.Generator
        Source of the order of queries and of dropout.
    report : callable

    Raises
    ------
    TrainingMemoryError
        If one query's documents do not fit into memory.
    """
    examples, watched = ([_example(reranker, each) for each in some] for some in (labelled, held_out))
    watched = watched if settings.patience else []
    learning = _Learning(reranker, settings, steps=settings.epochs * -(-len(examples) // settings.batch))
    best, kept, since = np.inf, None, 0
    with seeded(rng, str(reranker.device)):
        for epoch in range(settings.epochs):
            reranker.model.train()
            order = rng.permutation(len(examples))
            for i in range(0, len(order), settings.batch):
                learning.step([examples[place] for place in order[i : i + settings.batch]])
            reranker.model.eval()
            report(epoch + 1, settings.epochs, "preference alignment")
            if not watched:
                continue
            now = loss(reranker, watched)
            if now < best:
                best, kept, since = now, copy.deepcopy(reranker.model.state_dict()), 0
            else:
                since += 1
            if since >= (settings.patience or 0):
                break
    if kept is not None:
        reranker.model.load_state_dict(kept)


def loss(reranker: Reranker, examples: Sequence[Example]) -> float:
    """The sum of the three losses over all examples together, without dropout."""
    logits = reranker.said(_pairs(examples))
    return float(sum(map(float, _losses(reranker, examples, logits))))


class _Learning:
    """An optimiser over a reranker's weights, with a rate that rises and falls as uplift's does."""

    def __init__(self, reranker: Reranker, settings: Settings, *, steps: int) -> None:
        import torch
        from transformers import get_linear_schedule_with_warmup

        self._torch = torch
        self.reranker = reranker
        self.parameters = list(reranker.model.parameters())
        self.optimizer = torch.optim.AdamW(self.parameters, lr=settings.learning_rate, weight_decay=0.0)
        warm = round(steps * settings.warm_up)
        self.rate = get_linear_schedule_with_warmup(self.optimizer, warm, steps)  # type: ignore[no-untyped-call]
        self.at_once = settings.batch

    def step(self, batch: Sequence[Example]) -> None:
        """One step down the weighed losses of some queries, fewer of them at a time where memory is short."""
        with warm.one_job(self.reranker.device):
            while True:
                self.optimizer.zero_grad(set_to_none=True)
                if self._has_gradients(batch):
                    break
            self._torch.nn.utils.clip_grad_norm_(self.parameters, _CLIP)
            self.optimizer.step()
        self.rate.step()

    def _has_gradients(self, batch: Sequence[Example]) -> bool:
        """Whether they fitted; if not, with fewer at a time from now on."""
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
                    "take fewer documents a query, fewer tokens a document (longest), or a smaller encoder"
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
        """The same gradient with fewer queries in memory: what the losses want of all logits, then back part by part.

        Objectives are weighed over all queries of a step, so that all logits must be known first.
        """
        parts = [batch[i : i + self.at_once] for i in range(0, len(batch), self.at_once)]
        chances, found = [], []
        for part in parts:
            chances.append(self._chance())
            with self._torch.no_grad():
                found.append(self.reranker.logits(_pairs(part)))
        logits = self._torch.cat(found).requires_grad_()
        (slope,) = self._torch.autograd.grad(self._weighed(batch, logits), logits)
        done = 0
        for part, chance in zip(parts, chances, strict=True):
            self._torch.set_rng_state(chance[0])  # the same units drop out as before
            if chance[1] is not None:
                self._torch.cuda.set_rng_state(chance[1], self.reranker.device)
            again = self.reranker.logits(_pairs(part))
            again.backward(slope[done : done + len(again)])  # type: ignore[no-untyped-call]
            done += len(again)

    def _chance(self) -> tuple[Any, Any]:
        on_device = self.reranker.device.type == "cuda"
        return self._torch.get_rng_state(), self._torch.cuda.get_rng_state(self.reranker.device) if on_device else None

    def _weighed(self, batch: Sequence[Example], logits: Any) -> Any:
        parts = _losses(self.reranker, batch, logits)
        return sum(weight * part for weight, part in zip(dpa_losses.weigh(parts, logits), parts, strict=True))


def _losses(reranker: Reranker, batch: Sequence[Example], logits: Any) -> list[Any]:
    import torch

    uplift = torch.tensor([value for each in batch for value in each.uplift], device=reranker.device)
    return dpa_losses.losses(logits, uplift, [len(each.pairs) for each in batch])


def _pairs(batch: Sequence[Example]) -> list[Encoded]:
    return [pair for each in batch for pair in each.pairs]


def _example(reranker: Reranker, labelled: Labelled) -> Example:
    return Example(reranker.encode(labelled.query.question, labelled.documents), labelled.uplift.tolist())
