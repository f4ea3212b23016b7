"""Prompts for models as writers, and their answers."""

from django.db import models

from crowdrag.jobs.models import Run
from crowdrag.studies.models import Participant, Versioned

from ..corpus.models import Response, Style, Topic
from ..enums import AnswerOutcome


class WritingPrompt(Versioned):
    """One version of the prompt for models as writers."""

    text = models.TextField("prompt")

    class Meta(Versioned.Meta):
        pass


class ModelAnswer(models.Model):
    """A model's answer for a topic and style in a run. It is kept even if it did not become a response."""

    # Null in imported archives, which contain only the runs of analyses.
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
