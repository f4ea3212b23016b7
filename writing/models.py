"""All models of writing, imported from the features for Django."""

from .assignments.models import TaskPayment, TaskTransition, WritingTask
from .corpus.models import Citation, Passage, Response, ResponseDecision, RetrievedPassage, Statement, Style, Topic
from .editor.models import EditingSession, LogBatch, WritingLog
from .llm_writers.models import ModelAnswer, WritingPrompt
from .plans.models import PlanStyle, PlanTrialTopic, Survey, SurveyAnswers, WritingInstructions, WritingPlan

__all__ = [
    "Citation",
    "EditingSession",
    "LogBatch",
    "ModelAnswer",
    "Passage",
    "PlanStyle",
    "PlanTrialTopic",
    "Response",
    "ResponseDecision",
    "RetrievedPassage",
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
