"""A discourse style with its instructions."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from crowdrag.studies.models import Versioned


class Style(Versioned):
    """How a response is to be written: bullet, essay, news, or the study's own."""

    label = models.CharField(_("label"), max_length=100)
    instructions = models.TextField(_("instructions, in Markdown"), blank=True)
    target_words = models.PositiveIntegerField(_("words asked for"), default=250)

    class Meta(Versioned.Meta):
        pass
