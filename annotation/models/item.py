"""What is judged at once: a pair, or in pointwise campaigns a response."""

from django.db import models

from writing.models import Response, Topic

from .campaign import Campaign
from .pair import Pair


class Item(models.Model):
    """A thing that a campaign has judged.

    A pointwise item imported from a corpus that does not name the response carries its topic and its id alone.
    """

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="items")
    pair = models.ForeignKey(Pair, models.PROTECT, null=True, blank=True, related_name="items")
    response = models.ForeignKey(Response, models.PROTECT, null=True, blank=True, related_name="items")
    topic = models.ForeignKey(Topic, models.PROTECT, related_name="items")
    external_id = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "pair"], name="item_pair_once_per_campaign"),
            models.UniqueConstraint(fields=["campaign", "response"], name="item_response_once_per_campaign"),
            models.UniqueConstraint(
                fields=["campaign", "external_id"],
                condition=~models.Q(external_id=""),
                name="item_external_id_once_per_campaign",
            ),
            models.CheckConstraint(
                condition=models.Q(pair__isnull=False, response__isnull=True)
                | models.Q(pair__isnull=True, response__isnull=False)
                | (models.Q(pair__isnull=True, response__isnull=True) & ~models.Q(external_id="")),
                name="item_is_a_pair_or_a_response",
            ),
        ]
