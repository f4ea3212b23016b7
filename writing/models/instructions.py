"""What writers are told, whatever the style."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from crowdrag.studies.models import Versioned


class WritingInstructions(Versioned):
    """The study's instructions to writers in one version; a style adds its own."""

    text = models.TextField(_("instructions, in Markdown"))

    class Meta(Versioned.Meta):
        pass
