"""Live figures of a campaign, recomputed as judgments come in."""

from django.db import models

from crowdrag.studies.models import Participant

from ..campaigns.models import Campaign, Dimension


class LiveAgreement(models.Model):
    """Krippendorff's alpha of one dimension so far, with its 95 % interval; NaN is stored as NULL."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="live_agreement")
    dimension = models.ForeignKey(Dimension, models.CASCADE, related_name="+")
    alpha = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    items = models.PositiveIntegerField()
    judgments = models.PositiveIntegerField()
    computed_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "dimension"], name="live_agreement_once")]


class LiveCompetence(models.Model):
    """A judge's spam probability (MACE) on a dimension so far, with its interval."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="live_competence")
    participant = models.ForeignKey(Participant, models.CASCADE, related_name="+")
    dimension = models.ForeignKey(Dimension, models.CASCADE, related_name="+")
    spam_probability = models.FloatField()
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    judgments = models.PositiveIntegerField()
    computed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "participant", "dimension"], name="live_competence_once"),
        ]
