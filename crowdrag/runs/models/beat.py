"""A sign of life of a worker."""

from datetime import timedelta
from typing import Any

from django.db import models

# A worker of which nothing was heard for so long is taken for gone.
FRESH = timedelta(seconds=20)


class WorkerBeatQuerySet(models.QuerySet["WorkerBeat"]):
    """What can be said of signs of life."""

    def fresh(self, moment: Any) -> "WorkerBeatQuerySet":
        """Keep those heard of lately, seen from `moment` (a time or an expression for it)."""
        return self.filter(at__gte=moment - FRESH)


class WorkerBeat(models.Model):
    """When a worker last took something from its queue, or was at work on a unit.

    It is written where work arrives, not by a timer beside it: a fresh beat proves the whole way from the database
    through the broker to the worker.
    """

    name = models.CharField(max_length=200)
    queue = models.CharField(max_length=20)
    at = models.DateTimeField()

    objects = WorkerBeatQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["name", "queue"], name="worker_beat_one_per_worker_and_queue")]

    def __str__(self) -> str:
        return self.name
