"""Two decisions about a piece of work, each with reason, evidence, who and when (docs/adr/0007)."""

import pgtrigger
from django.conf import settings
from django.db import models

from ..enums import Verdict


class Decision(models.Model):
    """Paid or not, included or not: what somebody decided, once; the latest one on a question holds."""

    about = models.CharField(max_length=10, choices=Verdict.choices)
    holds = models.BooleanField()
    reason = models.TextField()
    evidence = models.JSONField(default=dict, blank=True)
    decided_at = models.DateTimeField()
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        abstract = True
        constraints = [
            models.CheckConstraint(condition=models.Q(about__in=Verdict.values), name="%(class)s_about_known"),
            models.CheckConstraint(condition=~models.Q(reason=""), name="%(class)s_has_a_reason"),
        ]
        triggers = [pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update)]
