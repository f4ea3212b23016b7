"""Enumerations of runs and their units."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class RunState(models.TextChoices):
    """Where a run stands."""

    PLANNED = "PLANNED", _("planned")
    RUNNING = "RUNNING", _("running")
    DONE = "DONE", _("done")
    FAILED = "FAILED", _("failed")
    CANCELLED = "CANCELLED", _("cancelled")


class UnitState(models.TextChoices):
    """Where a unit of a run stands."""

    PENDING = "PENDING", _("pending")
    CLAIMED = "CLAIMED", _("claimed")
    DONE = "DONE", _("done")
    FAILED = "FAILED", _("failed")
    CANCELLED = "CANCELLED", _("cancelled")


class Queue(models.TextChoices):
    """Queues of work: what a worker must have to serve one."""

    DEFAULT = "default", _("default")
    LLM = "llm", _("language models")
    GPU = "gpu", _("GPU")


ACTIVE = (RunState.PLANNED, RunState.RUNNING)
OPEN = (UnitState.PENDING, UnitState.CLAIMED)
