"""A question asked of each item, with its options."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from crowdrag.studies.models import Versioned


class Dimension(Versioned):
    """One dimension of utility in one version.

    `options` are objects {"value": int, "label": str}, from the lowest value up; -1, 0, 1 stand for A, N, B.
    """

    question = models.TextField(_("question"))
    label = models.CharField(_("label"), max_length=100)
    description = models.TextField(_("description"), blank=True)
    options = models.JSONField(_("options"), default=list)
    asks_justification = models.BooleanField(_("asks for a justification"), default=False)

    class Meta(Versioned.Meta):
        pass

    @property
    def values(self) -> list[int]:
        """The values that a judgment on this dimension may take."""
        return [option["value"] for option in self.options]
