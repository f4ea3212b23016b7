"""The one training loop: optimiser, learning rate, early stopping, short memory, and checkpoints that survive a kill.

Uplift's reranker and the baselines that train a model (cross-encoder, DPA-RAG, AAR, Adaptive-RAG) give it a `Task`:
how the gradients of some examples come about. torch and transformers are imported only when a training runs.
"""

from __future__ import annotations

import copy
import hashlib
import json
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ... import durable_files
from ..generation import devices, model_cache
from .reranker import seeded

if TYPE_CHECKING:
    import torch

Floats = NDArray[np.float64]
Report = Callable[[int, int, str], None]
#: Seconds between two checkpoints within an epoch: what a killed process loses at most. Every epoch ends with one.
CHECKPOINT_SECONDS = 300.0
_log = logging.getLogger(__name__)


class TrainingMemoryError(MemoryError):
    """Not even a single example fits into the device's memory."""


@dataclass(frozen=True)
class Schedule:
    """How a model is trained.

    Attributes
    ----------
    epochs, learning_rate
        By default as in the paper of uplift RAG, for roberta-base.
    batch : int
        Examples per step. For rerankers, an example is a query with its documents. The paper does not state the number.
    warm_up : float
        Share of steps in which the learning rate rises from 0; afterwards it falls linearly to 0, as in the Trainer of
        transformers.
    weight_decay, clip : float
        Weight decay of AdamW, and the norm at which gradients are clipped.
    patience : int or None
        Stop after this many epochs without a lower loss on the held-out examples, and use the weights of the best
        epoch. None trains all epochs and uses the last weights.
    """

    epochs: int = 10
    learning_rate: float = 1e-5
    batch: int = 4
    warm_up: float = 0.0
    weight_decay: float = 0.0
    clip: float = 1.0
    patience: int | None = None

    def __post_init__(self) -> None:
        """Raise ValueError if a value is not valid."""
        if self.epochs < 1 or self.batch < 1 or self.learning_rate <= 0 or not 0 <= self.warm_up < 1:
            raise ValueError(f"training needs an epoch, an example a step and a learning rate above 0: {self}")
        if self.patience is not None and self.patience < 1:
            raise ValueError("patience is one epoch or more, or None")


@dataclass(frozen=True)
class Task:
    """What is trained.

    Attributes
    ----------
    model : torch.nn.Module
        On its device; all its weights that require gradients are trained, in place.
    n : int
        Number of examples, at least 1.
    gradients : callable(indices, at_once) -> ndarray of float64
        Adds the gradients of the mean loss of some examples, with at most `at_once` of them in memory. Returns the sum
        of each loss over these examples.
    advice : str
        What to do if a single example does not fit into memory; ends the error message.
    held_out : callable() -> float, optional
        The loss on held-out examples, without dropout. Called after each epoch.
    before_epoch : callable(), optional
        Called before each epoch, without dropout.
    state, restore : callable, optional
        What `before_epoch` made, as JSON values, and the way back: checkpoints store it.
    message : str
        What is trained, for reports.
    """

    model: Any
    n: int
    gradients: Callable[[Sequence[int], int], Floats]
    advice: str
    held_out: Callable[[], float] | None = None
    before_epoch: Callable[[], None] = lambda: None
    state: Callable[[], Any] = lambda: None
    restore: Callable[[Any], None] = lambda _state: None
    message: str = ""


@dataclass(frozen=True)
class Checkpoint:
    """Where a training stores how far it is, so that it goes on there after its process was killed.

    Attributes
    ----------
    path : Path
        A file that belongs to this training alone. It appears at once and complete.
    seconds : float
        Time between two checkpoints within an epoch.
    clock : callable() -> float
        Seconds from any start.
    """

    path: Path
    seconds: float = CHECKPOINT_SECONDS
    clock: Callable[[], float] = time.monotonic


@dataclass
class Course:
    """How far a training is.

    Attributes
    ----------
    losses : list of list of float
        Mean of each loss per example, by epoch.
    held_out : list of float or None
        Loss on the held-out examples, by epoch.
    best : int
        The epoch whose weights are used, from 0.
    """

    losses: list[list[float]] = field(default_factory=list)
    held_out: list[float | None] = field(default_factory=list)
    best: int = 0
    lowest: float = float("inf")
    order: list[int] = field(default_factory=list)
    position: int = 0
    sums: list[float] | None = None
    at_once: int = 1


def run(
    task: Task,
    schedule: Schedule,
    *,
    rng: np.random.Generator,
    report: Report = lambda _done, _total, _message: None,
    checkpoint: Checkpoint | None = None,
) -> Course:
    """Train a model in place by AdamW.

    Parameters
    ----------
    task : Task
    schedule : Schedule
        Its patience applies if the task has held-out examples.
    rng : numpy.random.Generator
        Determines the order of examples and dropout. With equal inputs, equal `rng` and the same number of threads, a
        CPU gives equal weights, whether or not the training was interrupted.
    report : callable
        Called with (steps done, steps, message) after each step; it may raise to stop.
    checkpoint : Checkpoint, optional
        A training of the same task, schedule and `rng` goes on where the file was written. Any other file is ignored
        and replaced. The file stays after the training.

    Returns
    -------
    Course

    Raises
    ------
    TrainingMemoryError
        If a single example does not fit into memory. As long as one does, steps take fewer examples at a time to the
        same gradient.
    """
    device = str(next(task.model.parameters()).device)
    mark = _mark(task, schedule, rng) if checkpoint else ""
    try:
        with seeded(rng, device):
            return _Loop(task, schedule, rng, report, checkpoint, mark).run()
    finally:
        task.model.eval()


def in_parts(loss: Callable[[Sequence[int]], torch.Tensor]) -> Callable[[Sequence[int], int], Floats]:
    """Return `Task.gradients` for a loss that is a mean over examples, from a function of their indices."""

    def gradients(batch: Sequence[int], at_once: int) -> Floats:
        total = 0.0
        for start in range(0, len(batch), at_once):
            part = batch[start : start + at_once]
            share = loss(part) * (len(part) / len(batch))
            share.backward()
            total += float(share.detach())
        return np.array([total * len(batch)])

    return gradients


class _Loop:
    def __init__(self, task: Task, schedule: Schedule, rng: np.random.Generator, report: Report,
                 checkpoint: Checkpoint | None, mark: str) -> None:  # fmt: skip
        import torch
        from transformers import get_linear_schedule_with_warmup

        self._torch = torch
        self.task = task
        self.schedule = schedule
        self.rng = rng
        self.report = report
        self.checkpoint = checkpoint
        self.mark = mark
        self.parameters = [parameter for parameter in task.model.parameters() if parameter.requires_grad]
        self.device = self.parameters[0].device
        # A fused kernel is faster than six passes over each weight.
        self.optimizer = torch.optim.AdamW(
            self.parameters, lr=schedule.learning_rate, weight_decay=schedule.weight_decay, fused=True
        )
        self.steps_an_epoch = -(-task.n // schedule.batch)
        self.total = self.steps_an_epoch * schedule.epochs
        self.rate = get_linear_schedule_with_warmup(self.optimizer, round(self.total * schedule.warm_up), self.total)
        self.course = Course(at_once=schedule.batch)
        self.best_state: dict[str, Any] | None = None

    def run(self) -> Course:
        self._resume()
        course = self.course
        while len(course.losses) < self.schedule.epochs and not self._is_patience_over():
            self._epoch()
        if self.best_state is not None:
            self.task.model.load_state_dict(self.best_state)
        return course

    def _is_patience_over(self) -> bool:
        course = self.course
        watches = self.schedule.patience is not None and self.task.held_out is not None and course.losses
        return bool(watches) and len(course.losses) - 1 - course.best >= (self.schedule.patience or 0)

    def _epoch(self) -> None:
        """Run an epoch over all examples in random order, or the rest of one."""
        course, task = self.course, self.task
        epoch, size = len(course.losses), self.schedule.batch
        if not course.position:
            task.model.eval()
            task.before_epoch()
            course.order, course.sums = self.rng.permutation(task.n).tolist(), None
        task.model.train()
        message = ", ".join(part for part in (task.message, f"epoch {epoch + 1} of {self.schedule.epochs}") if part)
        saved = self._now()
        while course.position < task.n:
            sums = self._step(course.order[course.position : course.position + size])
            course.sums = sums.tolist() if course.sums is None else (np.array(course.sums) + sums).tolist()
            course.position += size
            if self.checkpoint and course.position < task.n and self._now() - saved >= self.checkpoint.seconds:
                self._save()
                saved = self._now()
            try:
                self.report(epoch * self.steps_an_epoch + -(-course.position // size), self.total, message)
            except BaseException:
                self._save()  # whoever stops a training, or lets another run go first, may take it up later
                raise
        task.model.eval()
        self._conclude(epoch)
        self._save()

    def _conclude(self, epoch: int) -> None:
        """Note an epoch's losses, and its weights if they are the best so far."""
        course = self.course
        held_out = self.task.held_out() if self.task.held_out else None
        course.losses.append([total / self.task.n for total in course.sums or []])
        course.held_out.append(held_out)
        course.position, course.order, course.sums = 0, [], None
        if self.schedule.patience is None or held_out is None:
            course.best = epoch
        elif held_out < course.lowest:
            course.best, course.lowest = epoch, held_out
            self.best_state = copy.deepcopy(self.task.model.state_dict())

    def _step(self, batch: Sequence[int]) -> Floats:
        """Take one optimiser step on the mean loss of some examples; return the sum of each loss over them.

        The device is locked only during the step: training takes long, and other jobs can run in between.
        """
        with model_cache.one_job(self.device):
            sums = None
            while sums is None:
                self.optimizer.zero_grad(set_to_none=True)
                sums = self._gradients(batch)
            self._torch.nn.utils.clip_grad_norm_(self.parameters, self.schedule.clip)
            self.optimizer.step()
        self.rate.step()
        return sums

    def _gradients(self, batch: Sequence[int]) -> Floats | None:
        """Compute the gradients of a step. Return None if they did not fit; later parts are then smaller."""
        drawn = self.rng.bit_generator.state
        at_once = min(self.course.at_once, len(batch))
        try:
            return self.task.gradients(batch, at_once)
        except (RuntimeError, MemoryError) as error:
            if not devices.is_memory_short(self._torch, error):
                raise
            if at_once == 1:
                raise TrainingMemoryError(
                    f"one training example does not fit into the memory of {self.device}: {self.task.advice}"
                ) from error
        # Outside the handler, because the error holds the memory of the failed step.
        self.course.at_once = at_once // 2
        self.rng.bit_generator.state = drawn
        devices.release(self._torch, self.device)
        return None

    def _now(self) -> float:
        return self.checkpoint.clock() if self.checkpoint else 0.0

    def _save(self) -> None:
        """Write a checkpoint. If the disk takes none, the training goes on without."""
        if self.checkpoint is None:
            return
        torch = self._torch
        on_cuda = self.device.type == "cuda"
        about = {"mark": self.mark, "course": asdict(self.course), "rng": self.rng.bit_generator.state,
                 "task": self.task.state()}  # fmt: skip
        state = {
            "about": json.dumps(about),
            "model": self.task.model.state_dict(),
            "best": self.best_state,
            "optimizer": self.optimizer.state_dict(),
            "rate": self.rate.state_dict(),
            "torch_rng": torch.get_rng_state(),
            "cuda_rng": torch.cuda.get_rng_state(self.device) if on_cuda else None,
        }
        try:
            self.checkpoint.path.parent.mkdir(parents=True, exist_ok=True)
            with durable_files.written_at_once(self.checkpoint.path) as file:
                torch.save(state, file)
        except (OSError, RuntimeError) as error:  # torch reports a full disk as the latter
            _log.warning("no checkpoint of the training could be written to %s: %s", self.checkpoint.path, error)
            self.checkpoint = None

    def _resume(self) -> None:
        """Go on from the checkpoint, if it is one of this training."""
        if self.checkpoint is None:
            return
        path = self.checkpoint.path
        for left in path.parent.glob(f".{path.name}.*.part"):  # by a process that was killed while it wrote
            left.unlink(missing_ok=True)
        if not path.is_file():
            return
        torch = self._torch
        try:
            state = torch.load(path, map_location="cpu", weights_only=True)
            about = json.loads(state["about"])
        except Exception as error:  # noqa: BLE001 -- whatever a damaged file leads to, the training begins anew
            _log.warning(
                "the checkpoint %s cannot be read, so the training begins anew: %s", self.checkpoint.path, error
            )
            return
        if about["mark"] != self.mark:
            return
        self.course = Course(**about["course"])
        self.task.model.load_state_dict(state["model"])
        self.best_state = state["best"]
        self.optimizer.load_state_dict(state["optimizer"])
        self.rate.load_state_dict(state["rate"])
        self.rng.bit_generator.state = about["rng"]
        torch.set_rng_state(state["torch_rng"])
        if state["cuda_rng"] is not None and self.device.type == "cuda":
            torch.cuda.set_rng_state(state["cuda_rng"], self.device)
        self.task.restore(about["task"])


def _mark(task: Task, schedule: Schedule, rng: np.random.Generator) -> str:
    """Return a digest of what a training starts from: schedule, number of examples, initial weights, random state."""
    digest = hashlib.sha256()
    digest.update(json.dumps([asdict(schedule), task.n, rng.bit_generator.state], sort_keys=True).encode())
    for name, weights in task.model.state_dict().items():
        digest.update(name.encode())
        digest.update(weights.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()
