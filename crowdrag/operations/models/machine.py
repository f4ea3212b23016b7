"""What a machine said of itself."""

from datetime import timedelta

from django.db import models
from django.utils.translation import gettext_lazy as _

# A machine says how it is about every minute.
SILENT = timedelta(minutes=3)


class Machine(models.Model):
    """One machine on which workers or the sweep run: the latest that one of them said of it.

    `facts`: cpus, load, memory and disk in bytes, and its devices with name, memory, use and temperature.
    """

    name = models.CharField(_("machine"), max_length=200, unique=True)
    at = models.DateTimeField(_("heard of"))
    facts = models.JSONField(default=dict)

    class Meta:
        constraints = [models.CheckConstraint(condition=~models.Q(name=""), name="machine_name_not_empty")]

    def __str__(self) -> str:
        return self.name
