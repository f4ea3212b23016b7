"""What an operator had removed."""

import pgtrigger
from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class Removal(models.Model):
    """One removal of what is kept no longer, or one erasure on somebody's wish: who, when, by which rule, how much.

    Of an erasure it names the study and nothing of the person.
    """

    at = models.DateTimeField(_("when"))
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    rule = models.CharField(_("rule"), max_length=40)
    study_slug = models.CharField(_("study"), max_length=80, blank=True)
    rows = models.JSONField(_("rows by table"), default=dict)

    class Meta:
        constraints = [models.CheckConstraint(condition=~models.Q(rule=""), name="removal_rule_not_empty")]
        triggers = [pgtrigger.Protect(name="written_once", operation=pgtrigger.Update | pgtrigger.Delete)]

    def __str__(self) -> str:
        return f"{self.rule}, {self.at:%Y-%m-%d}"
