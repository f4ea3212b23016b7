"""The items that one person answers in one go."""

from django.db import models

from .campaign import Campaign
from .item import Item


class Questionnaire(models.Model):
    """A list of items, in the order in which they are shown."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="questionnaires")
    external_id = models.CharField(max_length=200)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "external_id"], name="questionnaire_external_id_unique"),
        ]


class QuestionnaireItem(models.Model):
    """An item at its position."""

    questionnaire = models.ForeignKey(Questionnaire, models.CASCADE, related_name="entries")
    item = models.ForeignKey(Item, models.PROTECT, related_name="entries")
    position = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["questionnaire", "item"], name="questionnaire_holds_an_item_once"),
            models.UniqueConstraint(fields=["questionnaire", "position"], name="questionnaire_position_unique"),
        ]
