"""Snapshots of runs' inputs, judgments in columns, and stored measures of writing logs."""

import pgtrigger
from django.db import models

from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study
from writing.models import WritingLog


class Snapshot(models.Model):
    """A run's inputs: IDs and values, compressed, with their digest (docs/adr/0008).

    `mark` holds sums over the valid rows at that time. Comparing them with the present sums is a cheap check for
    changes.
    """

    run = models.OneToOneField(Run, models.CASCADE, related_name="snapshot")
    pool = models.CharField(max_length=100)
    digest = models.CharField(max_length=64)
    judgments = models.PositiveIntegerField()
    responses = models.PositiveIntegerField()
    mark = models.JSONField(default=dict)
    payload = models.BinaryField()
    created_at = models.DateTimeField()

    class Meta:
        triggers = [pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update)]


class JudgmentPart(models.Model):
    """Judgments of some assignments of a study in columns, so that a run need not read them from their table.

    Made and read by `judgment_columns`. `marks` says for which state of each assignment they are valid. Both are
    Parquet files; `digest` is the SHA-256 of the payload.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="+")
    judgments = models.PositiveIntegerField()
    marks = models.BinaryField()
    payload = models.BinaryField()
    digest = models.CharField(max_length=64)
    created_at = models.DateTimeField()

    class Meta:
        triggers = [pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update)]


class LogMeasures(models.Model):
    """Measures of one log by one version of the method; deleted with the log (erasure)."""

    log = models.OneToOneField(WritingLog, models.CASCADE, related_name="measures")
    version = models.PositiveSmallIntegerField()
    values = models.JSONField(default=dict)
