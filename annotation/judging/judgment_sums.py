"""Sums over the judgments of assignments, which the database keeps (docs/adr/0042-sums-of-judgments.md)."""

from django.db import models

from ..campaigns.models import Campaign
from ..enums import AssignmentState
from .models import Assignment


class JudgmentSumsQuerySet(models.QuerySet["JudgmentSums"]):
    """Queries of sums over judgments."""

    def counted(self) -> "JudgmentSumsQuerySet":
        """Keep those of assignments whose judgments count."""
        return self.filter(state=AssignmentState.ACCEPTED, is_included=True)


class JudgmentSums(models.Model):
    """Sums over the judgments of one assignment, so that a study of millions need not be counted for a page.

    The database keeps them (triggers of `Assignment` and `Judgment`). Assignments in progress have none, because their
    judgments change with every answer.
    """

    assignment = models.OneToOneField(Assignment, models.CASCADE, primary_key=True, related_name="judgment_sums")
    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="+", db_index=False)
    state = models.CharField(max_length=10)
    is_included = models.BooleanField()
    # With repeats and without; the sums are without.
    stored = models.PositiveIntegerField()
    judgments = models.PositiveIntegerField()
    id_sum = models.BigIntegerField()
    # Of id times value: any changed answer changes it.
    answer_sum = models.BigIntegerField()

    objects = JudgmentSumsQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(
                fields=["campaign", "state", "is_included"],
                include=["stored", "judgments", "id_sum", "answer_sum"],
                name="judgment_sums_by_campaign",
            )
        ]
