"""What the log of a response says of its writing, computed once: a submitted log never changes."""

from django.db import models

from writing.models import WritingLog


class LogMeasures(models.Model):
    """The figures of one log by the version of the method; they go when the log goes (an erasure)."""

    log = models.OneToOneField(WritingLog, models.CASCADE, related_name="measures")
    version = models.PositiveSmallIntegerField()
    values = models.JSONField(default=dict)
