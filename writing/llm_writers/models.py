"""Answers of models that were asked for a response."""

from django.db import models

from crowdrag.jobs.models import Run
from crowdrag.studies.models import Participant, Versioned

from ..corpus.models import Response, Style, Topic
from ..enums import AnswerOutcome


class WritingPrompt(Versioned):
    """The prompt by which a model is asked to write, in one version."""

    text = models.TextField("prompt")

    class Meta(Versioned.Meta):
        pass


class ModelAnswer(models.Model):
    """One model's answer for one topic and style in one run: kept and marked, whether it became a response or not."""

    # Which run asked; none after an archive was imported, to which only analyses' runs belong.
    run = models.ForeignKey(Run, models.SET_NULL, null=True, blank=True, related_name="model_answers")
    participant = models.ForeignKey(Participant, models.PROTECT, related_name="model_answers")
    topic = models.ForeignKey(Topic, models.PROTECT, related_name="model_answers")
    style = models.ForeignKey(Style, models.PROTECT, related_name="model_answers")
    outcome = models.CharField("outcome", max_length=10, choices=AnswerOutcome.choices)
    text = models.TextField("model answer", blank=True)
    words = models.PositiveIntegerField("words", default=0)
    response = models.ForeignKey(Response, models.SET_NULL, null=True, blank=True, related_name="model_answers")
    answered_at = models.DateTimeField("answered at")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "topic", "style"], name="model_answer_once_per_run_and_slot"),
            models.CheckConstraint(
                condition=models.Q(outcome__in=AnswerOutcome.values), name="model_answer_outcome_known"
            ),
        ]
