"""Tables of writing, one model a file."""

from .generated import ModelAnswer, WritingPrompt
from .instructions import WritingInstructions
from .log import LogBatch, Sitting, WritingLog
from .passage import Passage
from .plan import PlanStyle, PlanTrialTopic, WritingPlan
from .response import Response, ResponseDecision
from .retrieval import RetrievedPassage
from .statement import Citation, Statement
from .style import Style
from .survey import Survey, SurveyAnswers
from .task import TaskPayment, TaskTransition, WritingTask
from .topic import Topic

__all__ = [
    "Citation",
    "LogBatch",
    "ModelAnswer",
    "Passage",
    "PlanStyle",
    "PlanTrialTopic",
    "Response",
    "ResponseDecision",
    "RetrievedPassage",
    "Sitting",
    "Statement",
    "Style",
    "Survey",
    "SurveyAnswers",
    "TaskPayment",
    "TaskTransition",
    "Topic",
    "WritingInstructions",
    "WritingLog",
    "WritingPlan",
    "WritingPrompt",
    "WritingTask",
]
