"""All models of judging, where Django finds them. They are defined in the feature packages."""

from .campaigns.models import (
    Campaign,
    CampaignDimension,
    CampaignGoal,
    Dimension,
    GoalLook,
    Instructions,
    Item,
    Pair,
    Questionnaire,
    QuestionnaireItem,
)
from .imports.models import PlatformSubmission
from .judging.models import (
    Assignment,
    AssignmentDecision,
    AssignmentPayment,
    AssignmentTransition,
    ItemConfidence,
    ItemTime,
    Judgment,
    Slot,
)
from .llm_judges.models import InjectionTrial, JudgingAnswer, JudgingPrompt
from .policies.models import AssignmentChoice, PolicyState
from .progress.models import AnswerTally, JudgmentSums, LiveAgreement, LiveCompetence, ProgressFigures
from .quality.models import (
    AttentionCheck,
    CheckAnswer,
    KnownLabel,
    PracticeAnswer,
    ShownFlag,
    TrainingAnswer,
    TrainingItem,
)

__all__ = [
    "AnswerTally",
    "Assignment",
    "AssignmentChoice",
    "AssignmentDecision",
    "AssignmentPayment",
    "AssignmentTransition",
    "AttentionCheck",
    "Campaign",
    "CampaignDimension",
    "CampaignGoal",
    "CheckAnswer",
    "Dimension",
    "GoalLook",
    "InjectionTrial",
    "Instructions",
    "Item",
    "ItemConfidence",
    "ItemTime",
    "JudgingAnswer",
    "JudgingPrompt",
    "Judgment",
    "JudgmentSums",
    "KnownLabel",
    "LiveAgreement",
    "LiveCompetence",
    "Pair",
    "PlatformSubmission",
    "PolicyState",
    "PracticeAnswer",
    "ProgressFigures",
    "Questionnaire",
    "QuestionnaireItem",
    "ShownFlag",
    "Slot",
    "TrainingAnswer",
    "TrainingItem",
]
