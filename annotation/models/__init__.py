"""Tables of judging, one model a file."""

from .answered import JudgingAnswer
from .assignment import Assignment, AssignmentDecision, AssignmentPayment, AssignmentTransition
from .campaign import Campaign, CampaignDimension
from .checks import AttentionCheck, CheckAnswer, GoldLabel, TrainingAnswer, TrainingItem
from .dimension import Dimension
from .flag import ShownFlag
from .instructions import Instructions
from .item import Item
from .judgment import Judgment
from .live import LiveAgreement, LiveCompetence
from .pair import Pair
from .place import Place
from .planted import InjectionTrial
from .prompt import JudgingPrompt
from .questionnaire import Questionnaire, QuestionnaireItem
from .submission import PlatformSubmission
from .timing import ItemTime

__all__ = [
    "Assignment",
    "AssignmentDecision",
    "AssignmentPayment",
    "AssignmentTransition",
    "AttentionCheck",
    "Campaign",
    "CampaignDimension",
    "CheckAnswer",
    "Dimension",
    "GoldLabel",
    "InjectionTrial",
    "Instructions",
    "Item",
    "ItemTime",
    "JudgingAnswer",
    "JudgingPrompt",
    "Judgment",
    "LiveAgreement",
    "LiveCompetence",
    "Pair",
    "Place",
    "PlatformSubmission",
    "Questionnaire",
    "QuestionnaireItem",
    "ShownFlag",
    "TrainingAnswer",
    "TrainingItem",
]
