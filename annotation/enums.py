"""Enumerations of judging."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class CampaignKind(models.TextChoices):
    """What is judged in one step, and by whom."""

    PAIRWISE = "PAIRWISE", "pairwise"
    POINTWISE = "POINTWISE", "pointwise"
    EXPERT = "EXPERT", "expert"
    SUPPORT = "SUPPORT", "support"


class Judges(models.TextChoices):
    """Whose judgments a campaign collects. Each is analysed separately."""

    CROWD = "CROWD", "crowd"
    EXPERT = "EXPERT", "experts"
    MODEL = "MODEL", "language model"


class Inference(models.TextChoices):
    """How a model was asked."""

    COMBINED = "COMBINED", "all dimensions at once"
    INDIVIDUAL = "INDIVIDUAL", "one dimension at a time"


class CampaignState(models.TextChoices):
    """State of a campaign."""

    DRAFT = "DRAFT", "draft"
    OPEN = "OPEN", "open"
    PAUSED = "PAUSED", "paused"
    CLOSED = "CLOSED", "closed"


class GoalKind(models.TextChoices):
    """What a campaign is to find out; the values are those of `analysis.stats.goals`."""

    BEST = "best", "Which of these systems is best?"
    BETTER = "better", "Is one system better than another by more than a margin?"
    RANKING = "ranking", "How do these systems rank?"
    WIDTH = "width", "What are their mean grades, to a given width?"


class GoalOutcome(models.TextChoices):
    """What is known about a goal; the values are those of `analysis.stats.sequential`."""

    DECIDED = "decided", "decided"
    UNDECIDED = "undecided", "undecided"
    OUT_OF_REACH = "out_of_reach", "out of reach"


class AssignmentState(models.TextChoices):
    """State of one questionnaire assigned to one participant."""

    ASSIGNED = "ASSIGNED", _("assigned")
    SUBMITTED = "SUBMITTED", _("submitted")
    ACCEPTED = "ACCEPTED", _("accepted")
    REJECTED = "REJECTED", _("rejected")
    RETURNED = "RETURNED", _("returned")
    TIMED_OUT = "TIMED_OUT", _("timed out")
    WITHDRAWN = "WITHDRAWN", _("withdrawn")
    SURPLUS = "SURPLUS", _("surplus")


# An assignment holds a slot in these states only.
HOLDING = (AssignmentState.ASSIGNED, AssignmentState.SUBMITTED, AssignmentState.ACCEPTED)


class AssignmentPolicy(models.TextChoices):
    """How the next questionnaire is chosen (`analysis.stats.policies`)."""

    FIXED = "FIXED", "fixed order"
    RANDOM = "RANDOM", "balanced random"
    INFORMATION = "INFORMATION", "information gain"
    COMPETENCE = "COMPETENCE", "competence-aware routing"


class Arm(models.TextChoices):
    """Who chose a questionnaire: the policy, its random control, or the fixed order if no slot had a position."""

    POLICY = "POLICY", "policy"
    CONTROL = "CONTROL", "control"
    ORDER = "ORDER", "fixed order"


class Choice(models.IntegerChoices):
    """A vote on a pair, as presented: A is the left response."""

    A = -1, "A"
    N = 0, "N"
    B = 1, "B"


class JudgingOutcome(models.TextChoices):
    """Outcome of a request to a model about one item."""

    JUDGED = "JUDGED", "judged"
    REFUSED = "REFUSED", "refused"
    EMPTY = "EMPTY", "empty"
    CUT = "CUT", "cut off"
    INVALID = "INVALID", "not in the requested format"
    FAILED = "FAILED", "the server did not accept it"


class Spot(models.TextChoices):
    """Position of an injected text in a response."""

    START = "START", "before the text"
    MIDDLE = "MIDDLE", "between two sentences"
    END = "END", "after the text"
