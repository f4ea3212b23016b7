"""Somebody is given no further work in a study."""

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from .participant import Participant


class Bar(models.Model):
    """From here on a participant gets nothing new, until it is lifted. What they have in hand they may finish.

    The record stays: a bar is lifted, never deleted or rewritten.
    """

    participant = models.ForeignKey(Participant, models.CASCADE, related_name="bars")
    reason = models.CharField(_("reason, for them to read"), max_length=500)
    at = models.DateTimeField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    lifted_at = models.DateTimeField(null=True, blank=True)
    lifted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["participant"], condition=Q(lifted_at__isnull=True), name="bar_once_per_participant"
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="bar_has_a_reason"),
        ]
        triggers = [
            pgtrigger.Protect(
                name="only_lifted",
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__lifted_at__isnull=False)
                | pgtrigger.Q(old__reason__df=pgtrigger.F("new__reason"))
                | pgtrigger.Q(old__participant__df=pgtrigger.F("new__participant")),
            )
        ]
