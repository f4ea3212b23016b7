"""Enumerations of runs and their units."""

from django.db import models


class RunState(models.TextChoices):
    """The state of a run."""

    PLANNED = "PLANNED", "planned"
    RUNNING = "RUNNING", "running"
    DONE = "DONE", "done"
    FAILED = "FAILED", "failed"
    CANCELLED = "CANCELLED", "cancelled"


class UnitState(models.TextChoices):
    """The state of a unit of a run."""

    PENDING = "PENDING", "pending"
    CLAIMED = "CLAIMED", "claimed"
    DONE = "DONE", "done"
    FAILED = "FAILED", "failed"
    CANCELLED = "CANCELLED", "cancelled"


class Queue(models.TextChoices):
    """Queues of work: what a worker must have to serve one."""

    DEFAULT = "default", "default"
    LLM = "llm", "language models"
    GPU = "gpu", "GPU"

    @property
    def work(self) -> str:
        """What kind of work is in it, for operators."""
        return _WORK[self]


_WORK = {
    Queue.DEFAULT: "Imports, analyses, exports and all other work",
    Queue.LLM: "Calls to language models",
    Queue.GPU: "Neural models",
}

ACTIVE = (RunState.PLANNED, RunState.RUNNING)
OPEN = (UnitState.PENDING, UnitState.CLAIMED)
