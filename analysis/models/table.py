"""A table of results by its name."""

import pgtrigger
from django.db import models

from crowdrag.runs.models import Run


class Table(models.Model):
    """One result table of a run, named as in docs/results.md: a list of objects, one a row."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="tables")
    name = models.CharField(max_length=50)
    rows = models.JSONField(default=list)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "name"], name="table_once_per_run")]
        triggers = [pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update)]
