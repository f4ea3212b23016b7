"""The items that one person answers in one go."""

from django.db import models

from .campaign import Campaign
from .item import Item


class Questionnaire(models.Model):
    """A list of items, in the order in which they are shown."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="questionnaires")
    external_id = models.CharField(max_length=200)
    created_at = models.DateTimeField()
    # Which of the campaign's, from 0, in the order in which they are handed out; imported ones have none.
    position = models.PositiveIntegerField(null=True, blank=True)
    # Words to be read in it, all texts together; questionnaires of a campaign should be about equally long.
    words = models.PositiveIntegerField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "external_id"], name="questionnaire_external_id_unique"),
            models.UniqueConstraint(fields=["campaign", "position"], name="questionnaire_position_once_per_campaign"),
        ]


class QuestionnaireItem(models.Model):
    """An item at its position."""

    questionnaire = models.ForeignKey(Questionnaire, models.CASCADE, related_name="entries")
    item = models.ForeignKey(Item, models.PROTECT, related_name="entries")
    position = models.PositiveSmallIntegerField()
    # Its labels are known (GoldLabel): it is there to see how somebody judges, and looks like any other item.
    is_gold = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["questionnaire", "item"], name="questionnaire_holds_an_item_once"),
            models.UniqueConstraint(fields=["questionnaire", "position"], name="questionnaire_position_unique"),
        ]
