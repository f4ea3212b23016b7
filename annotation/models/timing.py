"""How long somebody looked at each item of a questionnaire."""

from django.db import models
from django.db.models import Q

from .assignment import Assignment
from .item import Item


class ItemTime(models.Model):
    """Time at one item during one visit (one opening of the page), as the browser sums it up so far.

    The sums only grow, so a report that comes late or twice changes nothing. A person's time at an item is the sum over
    visits.
    """

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="item_times")
    item = models.ForeignKey(Item, models.PROTECT, related_name="item_times")
    visit = models.CharField(max_length=36)
    # Seconds with the item before one's eyes and the page in front; and with the page away from it.
    active_seconds = models.FloatField(default=0)
    away_seconds = models.FloatField(default=0)
    # How often the item was come to, the page was left at it, and an answer was changed.
    looks = models.PositiveIntegerField(default=0)
    leaves = models.PositiveIntegerField(default=0)
    changes = models.PositiveIntegerField(default=0)
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assignment", "item", "visit"], name="item_time_once_per_visit"),
            models.CheckConstraint(
                condition=Q(active_seconds__gte=0, away_seconds__gte=0), name="item_time_not_negative"
            ),
        ]
