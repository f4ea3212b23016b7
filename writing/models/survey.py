"""Questions before and after writing."""

from django.db import models

from crowdrag.studies.models import Versioned

from ..enums import SurveyKind
from .task import WritingTask


class Survey(Versioned):
    """A survey in one version: questions as JSON objects with name, text, options and whether one must answer."""

    kind = models.CharField(max_length=5, choices=SurveyKind.choices)
    questions = models.JSONField(default=list)

    class Meta(Versioned.Meta):
        constraints = [
            *Versioned.Meta.constraints,
            models.CheckConstraint(condition=models.Q(kind__in=SurveyKind.values), name="survey_kind_known"),
        ]


class SurveyAnswers(models.Model):
    """One person's answers to one survey: question name -> value; an unanswered question is absent."""

    task = models.ForeignKey(WritingTask, models.CASCADE, related_name="survey_answers")
    survey = models.ForeignKey(Survey, models.PROTECT, related_name="answers")
    answers = models.JSONField(default=dict)
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["task", "survey"], name="survey_answered_once_per_task")]
