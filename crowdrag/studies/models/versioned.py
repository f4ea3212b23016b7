"""Texts that people answer to never change; a change makes a new version (docs/adr/0006)."""

import pgtrigger
from django.db import models
from django.utils.translation import gettext_lazy as _

from .study import Study


class Versioned(models.Model):
    """A text of a study in one version. A row is never updated: what points to it points to what was read."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="%(class)ss")
    name = models.CharField(_("name"), max_length=100)
    version = models.PositiveIntegerField(_("version"), default=1)
    created_at = models.DateTimeField(_("created"))

    class Meta:
        abstract = True
        constraints = [
            models.UniqueConstraint(fields=["study", "name", "version"], name="%(class)s_version_unique"),
            models.CheckConstraint(condition=models.Q(version__gte=1), name="%(class)s_version_positive"),
        ]
        triggers = [pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update)]

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"
