"""What a study has spent on models: a counter that is changed only together with the attempts it counts."""

from decimal import Decimal

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from crowdrag.studies.models import Study


class Spend(models.Model):
    """The sum of a study's attempts: `settled` for known outcomes, `held` for those on their way or unknown.

    A counter beside the sum, because a budget can be kept under concurrency only by a conditional update of one row.
    `ledger.audit` compares the two.
    """

    study = models.OneToOneField(Study, models.CASCADE, related_name="spend")
    held = models.DecimalField(_("held (minor units)"), max_digits=30, decimal_places=10, default=0)
    settled = models.DecimalField(_("settled (minor units)"), max_digits=30, decimal_places=10, default=0)

    class Meta:
        verbose_name_plural = "spend"
        constraints = [
            models.CheckConstraint(condition=Q(held__gte=0, settled__gte=0), name="spend_not_negative"),
        ]

    @property
    def total(self) -> Decimal:
        """What the study has spent at most."""
        return Decimal(self.held + self.settled)
