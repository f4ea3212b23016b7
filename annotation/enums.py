"""Enumerations of judging."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class CampaignKind(models.TextChoices):
    """What is judged at once, and by whom."""

    PAIRWISE = "PAIRWISE", "pairwise"
    POINTWISE = "POINTWISE", "pointwise"
    EXPERT = "EXPERT", "expert"


class Judges(models.TextChoices):
    """Whose judgments a campaign collects; each is a pool of its own."""

    CROWD = "CROWD", "crowd"
    EXPERT = "EXPERT", "experts"
    MODEL = "MODEL", "language model"


class Inference(models.TextChoices):
    """How a model was asked."""

    COMBINED = "COMBINED", "all dimensions at once"
    INDIVIDUAL = "INDIVIDUAL", "one dimension at a time"


class CampaignState(models.TextChoices):
    """Where a campaign stands."""

    DRAFT = "DRAFT", "draft"
    OPEN = "OPEN", "open"
    PAUSED = "PAUSED", "paused"
    CLOSED = "CLOSED", "closed"


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

    JUDGED = "JUDGED", "judged"
    REFUSED = "REFUSED", "refused"
    EMPTY = "EMPTY", "empty"
    CUT = "CUT", "cut off"
    INVALID = "INVALID", "not in the requested format"
    FAILED = "FAILED", "the server did not accept it"


class Spot(models.TextChoices):
    """Where in a response a text was planted."""

    START = "START", "before the text"
    MIDDLE = "MIDDLE", "between two sentences"
    END = "END", "after the text"
