"""A retrieved text with its source id."""

import pgtrigger
from django.db import models
from django.utils.translation import gettext_lazy as _

from crowdrag.studies.models import Study


class Passage(models.Model):
    """A text of the collection. Never updated: a changed text is a new version."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="passages")
    external_id = models.CharField(_("source id"), max_length=300)
    version = models.PositiveIntegerField(_("version"), default=1)
    text = models.TextField(_("text"))
    title = models.TextField(_("title"), blank=True)
    url = models.TextField(_("address"), blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "external_id", "version"], name="passage_version_unique"),
            models.CheckConstraint(condition=~models.Q(external_id=""), name="passage_external_id_not_empty"),
        ]
        triggers = [pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update)]

    def __str__(self) -> str:
        return self.external_id
