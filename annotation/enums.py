"""Enumerations of judging."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class CampaignKind(models.TextChoices):
    """What is judged at once, and by whom."""

    PAIRWISE = "PAIRWISE", _("pairwise")
    POINTWISE = "POINTWISE", _("pointwise")
    EXPERT = "EXPERT", _("expert")


class Judges(models.TextChoices):
    """Whose judgments a campaign collects; each is a pool of its own."""

    CROWD = "CROWD", _("crowd")
    EXPERT = "EXPERT", _("experts")
    MODEL = "MODEL", _("language model")


class Inference(models.TextChoices):
    """How a model was asked."""

    COMBINED = "COMBINED", _("all dimensions at once")
    INDIVIDUAL = "INDIVIDUAL", _("one dimension at a time")


class CampaignState(models.TextChoices):
    """Where a campaign stands."""

    DRAFT = "DRAFT", _("draft")
    OPEN = "OPEN", _("open")
    PAUSED = "PAUSED", _("paused")
    CLOSED = "CLOSED", _("closed")


class AssignmentState(models.TextChoices):
    """Where one questionnaire given to one participant stands."""

    ASSIGNED = "ASSIGNED", _("assigned")
    SUBMITTED = "SUBMITTED", _("submitted")
    ACCEPTED = "ACCEPTED", _("accepted")
    REJECTED = "REJECTED", _("rejected")
    RETURNED = "RETURNED", _("returned")
    TIMED_OUT = "TIMED_OUT", _("timed out")
    WITHDRAWN = "WITHDRAWN", _("withdrawn")
    SURPLUS = "SURPLUS", _("surplus")


# An assignment in one of these states holds a place; in the others it holds none.
HOLDING = (AssignmentState.ASSIGNED, AssignmentState.SUBMITTED, AssignmentState.ACCEPTED)


class Choice(models.IntegerChoices):
    """A vote on a pair, as presented: A is the left response."""

    A = -1, "A"
    N = 0, "N"
    B = 1, "B"


class JudgingOutcome(models.TextChoices):
    """What came of asking a model about one item."""

    JUDGED = "JUDGED", _("judged")
    REFUSED = "REFUSED", _("refused")
    EMPTY = "EMPTY", _("empty")
    CUT = "CUT", _("cut off")
    INVALID = "INVALID", _("not in the requested format")
    FAILED = "FAILED", _("the server did not accept it")


class Spot(models.TextChoices):
    """Where in a response a text was planted."""

    START = "START", _("before the text")
    MIDDLE = "MIDDLE", _("between two sentences")
    END = "END", _("after the text")
