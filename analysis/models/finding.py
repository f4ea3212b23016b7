"""What a run found at one of its units, kept until its tables are made of all of them."""

import pgtrigger
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models

from crowdrag.jobs.models import Run


class Finding(models.Model):
    """One thing that an experiment found, under a key that is unique in its run (docs/methods/experiments.md).

    `usage` is what generators were asked for it: counts by the names of `analysis.rag.shapes.Usage`.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="findings")
    key = models.CharField(max_length=300)
    data = models.JSONField(encoder=DjangoJSONEncoder)
    usage = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "key"], name="finding_once_per_key")]
        triggers = [pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update)]
