"""Training an encoder's weights down a loss, as all baselines do it whose loss is a mean over examples."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...generation import devices, warm
from ..reranker import seeded
from ..training import TrainingMemoryError
from .protocol import Settings

if TYPE_CHECKING:
    import torch

_CLIP = 1.0


def fine_tune(
    model: Any,
    n: int,
    loss: Callable[[Sequence[int]], torch.Tensor],
    settings: Settings,
    *,
    rng: np.random.Generator,
    report: Callable[[int, int, str], None],
    message: str,
    held_out: Callable[[], float] | None = None,
    before_epoch: Callable[[], None] = lambda: None,
) -> None:
    """Train all weights of a model in place, by AdamW with a rate that rises over the warm-up and falls to 0.

    Parameters
    ----------
    model : torch.nn.Module
        On its device.
    n : int
        Examples: one or more.
    loss : callable
        The mean loss of examples by their places, with gradients.
    settings : Settings
        Epochs, learning rate with its warm-up, examples a step, patience.
    rng : numpy.random.Generator
        Source of the order of examples and of dropout.
    report : callable
        Called after each epoch; it may raise to stop.
    message : str
        What is trained, for `report`.
    held_out : callable, optional
        The loss of what is held out, without dropout. If the settings have a patience, training ends when so many
        epochs have not lowered it, and takes the best epoch's weights.
    before_epoch : callable, optional
        What is to be done between epochs, without dropout.

    Raises
    ------
    TrainingMemoryError
        If a step's examples do not fit into memory.
    """
    import torch
    from transformers import get_linear_schedule_with_warmup

    parameters = [each for each in model.parameters() if each.requires_grad]
    device = parameters[0].device
    optimizer = torch.optim.AdamW(parameters, lr=settings.learning_rate, weight_decay=0.0)
    steps = settings.epochs * -(-n // settings.batch)
    rate = get_linear_schedule_with_warmup(optimizer, round(steps * settings.warm_up), steps)  # type: ignore[no-untyped-call]
    best, kept, since = np.inf, None, 0
    with seeded(rng, str(device)):
        for epoch in range(settings.epochs):
            model.eval()
            before_epoch()
            model.train()
            order = rng.permutation(n)
            for i in range(0, n, settings.batch):
                with warm.one_job(device):
                    _step(torch, loss, order[i : i + settings.batch].tolist(), parameters, optimizer, device)
                rate.step()
            model.eval()
            report(epoch + 1, settings.epochs, message)
            if held_out is None or not settings.patience:
                continue
            now = held_out()
            if now < best:
                best, kept, since = now, copy.deepcopy(model.state_dict()), 0
            else:
                since += 1
            if since >= settings.patience:
                break
    if kept is not None:
        model.load_state_dict(kept)


def _step(torch: Any, loss: Any, batch: list[int], parameters: Any, optimizer: Any, device: Any) -> None:
    optimizer.zero_grad(set_to_none=True)
    try:
        loss(batch).backward()
    except (RuntimeError, MemoryError) as error:
        if not devices.is_memory_short(torch, error):
            raise
        raise TrainingMemoryError(
            f"a training step does not fit into the memory of {device}: take fewer questions a step (batch), fewer "
            "tokens (longest), or a smaller encoder"
        ) from error
    torch.nn.utils.clip_grad_norm_(parameters, _CLIP)
    optimizer.step()
