"""Submissions on a recruitment platform, as imported."""

from django.db import models

from crowdrag.studies.models import Participant

from ..campaigns.models import Campaign


class PlatformSubmission(models.Model):
    """A platform's record of one submission to a campaign.

    Imported records name a worker but no questionnaire, so they cannot be linked to an assignment.
    """

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="platform_submissions")
    external_id = models.CharField(max_length=200)
    participant = models.ForeignKey(
        Participant, models.PROTECT, null=True, blank=True, related_name="platform_submissions"
    )
    seconds = models.FloatField(null=True, blank=True)
    approvals = models.PositiveIntegerField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "external_id"], name="platform_submission_once_per_campaign"),
            models.CheckConstraint(
                condition=models.Q(seconds__isnull=True) | models.Q(seconds__gte=0),
                name="platform_submission_seconds_not_negative",
            ),
        ]
