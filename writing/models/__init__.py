"""Tables of writing, one model a file."""

from .log import LogBatch, WritingLog
from .passage import Passage
from .response import Response, ResponseDecision
from .retrieval import RetrievedPassage
from .statement import Citation, Statement
from .style import Style
from .survey import Survey, SurveyAnswers
from .task import WritingTask
from .topic import Topic

__all__ = [
    "Citation",
    "LogBatch",
    "Passage",
    "Response",
    "ResponseDecision",
    "RetrievedPassage",
    "Statement",
    "Style",
    "Survey",
    "SurveyAnswers",
    "Topic",
    "WritingLog",
    "WritingTask",
]
