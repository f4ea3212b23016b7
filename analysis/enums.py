"""Words of results, as they stand in the tables (docs/results.md)."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Coders(models.TextChoices):
    """Whose judgments an agreement is of."""

    CROWD = "crowd", _("crowd")
    CORRECTED = "corrected", _("corrected crowd")
    CORRECTED_QUARTER = "corrected_quarter", _("without the least competent quarter")
    EXPERT = "expert", _("experts")
    MODEL = "model", _("language models")
    POINTWISE = "pointwise", _("pointwise")
    POINTWISE_CORRECTED = "pointwise_corrected", _("pointwise, corrected")


class Split(models.TextChoices):
    """Which presented pairs an agreement is over."""

    COMPLETE = "complete", _("all pairs")
    DIFFERENTIABLE = "differentiable", _("differentiable")
    MINIMAL = "minimal", _("minimally differentiable")
    EXPERT_PAIRS = "expert_pairs", _("pairs that experts judged")


class Label(models.TextChoices):
    """A gold label of a presented pair: a is the left response."""

    A = "a", _("left")
    N = "n", _("neither")
    B = "b", _("right")
