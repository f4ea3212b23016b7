"""What judges read before they judge."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from crowdrag.studies.models import Versioned


class Instructions(Versioned):
    """Instructions of a campaign in one version."""

    text = models.TextField(_("text, in Markdown"))

    class Meta(Versioned.Meta):
        verbose_name_plural = "instructions"
