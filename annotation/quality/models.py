"""Attention checks, known labels, training items and answers, and flags shown to reviewers."""

from django.db import models

from crowdrag.studies.models import Participant

from ..campaigns.models import Campaign, Dimension, Item, Questionnaire
from ..judging.models import Assignment


class AttentionCheck(models.Model):
    """An additional question below an item that says which answer to select, so that everyone who reads it can pass.

    `options` are objects {"value": int, "label": str}; `expected` is the value that the text asks for.
    """

    questionnaire = models.ForeignKey(Questionnaire, models.CASCADE, related_name="checks")
    # Position in the questionnaire of the item that it is placed below.
    position = models.PositiveSmallIntegerField()
    text = models.TextField("text")
    options = models.JSONField("options", default=list)
    expected = models.SmallIntegerField("expected answer")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["questionnaire", "position"], name="check_once_per_position"),
            models.CheckConstraint(condition=~models.Q(text=""), name="check_has_a_text"),
        ]


class CheckAnswer(models.Model):
    """An answer to an attention check; changeable until the questionnaire is submitted."""

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="check_answers")
    check_asked = models.ForeignKey(AttentionCheck, models.CASCADE, related_name="answers")
    value = models.SmallIntegerField()
    revision = models.PositiveIntegerField(default=1)
    answered_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assignment", "check_asked"], name="check_answered_once"),
        ]


class KnownLabel(models.Model):
    """A label of an item that is known in advance. Its explanation is shown in training."""

    item = models.ForeignKey(Item, models.CASCADE, related_name="known_labels")
    dimension = models.ForeignKey(Dimension, models.PROTECT, related_name="known_labels")
    value = models.SmallIntegerField("label")
    explanation = models.TextField("explanation", blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "dimension"], name="gold_label_once_per_question")]


class TrainingItem(models.Model):
    """An item with feedback that new judges of a campaign see before their first questionnaire."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="training")
    item = models.ForeignKey(Item, models.PROTECT, related_name="training")
    position = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "item"], name="training_item_once"),
            models.UniqueConstraint(fields=["campaign", "position"], name="training_position_once"),
        ]


class TrainingAnswer(models.Model):
    """A first answer to a training item. It cannot be changed and is not a judgment."""

    training_item = models.ForeignKey(TrainingItem, models.CASCADE, related_name="answers")
    participant = models.ForeignKey(Participant, models.CASCADE, related_name="training_answers")
    dimension = models.ForeignKey(Dimension, models.PROTECT, related_name="training_answers")
    value = models.SmallIntegerField()
    answered_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["training_item", "participant", "dimension"], name="training_answered_once"
            ),
        ]


class PracticeAnswer(models.Model):
    """A first answer to the practice pair. It cannot be changed and is not a judgment."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="practice_answers")
    participant = models.ForeignKey(Participant, models.CASCADE, related_name="practice_answers")
    dimension = models.ForeignKey(Dimension, models.PROTECT, related_name="practice_answers")
    value = models.SmallIntegerField()
    answered_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "participant", "dimension"], name="practice_answered_once"),
        ]


class ShownFlag(models.Model):
    """A signal as a reviewer first saw it. It is kept with the questionnaire."""

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="shown_flags")
    name = models.CharField(max_length=50)
    words = models.TextField()
    proposes = models.PositiveSmallIntegerField()
    evidence = models.JSONField(default=dict, blank=True)
    shown_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["assignment", "name"], name="shown_flag_once")]
