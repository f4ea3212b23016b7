"""Tables of judging, one model a file."""

from .assignment import Assignment, AssignmentDecision, AssignmentTransition
from .campaign import Campaign, CampaignDimension
from .dimension import Dimension
from .instructions import Instructions
from .item import Item
from .judgment import Judgment
from .pair import Pair
from .questionnaire import Questionnaire, QuestionnaireItem
from .submission import PlatformSubmission

__all__ = [
    "Assignment",
    "AssignmentDecision",
    "AssignmentTransition",
    "Campaign",
    "CampaignDimension",
    "Dimension",
    "Instructions",
    "Item",
    "Judgment",
    "Pair",
    "PlatformSubmission",
    "Questionnaire",
    "QuestionnaireItem",
]
