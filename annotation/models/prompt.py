"""What a model is told that judges."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from crowdrag.studies.models import Versioned


class JudgingPrompt(Versioned):
    """A prompt in one version, with places in braces for what is judged and asked."""

    text = models.TextField(_("text"))

    class Meta(Versioned.Meta):
        pass
