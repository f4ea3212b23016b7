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


class AnswerTally(models.Model):
    """The number of answers of a campaign with very many judgments, as last counted.

    `counts` lists dimension, value, whether they count in the agreement, and their number. `mark` is the sums of the
    judgments at that time, by which a change is noticed.
    """

    campaign = models.OneToOneField(Campaign, models.CASCADE, primary_key=True, related_name="answer_tally")
    counts = models.JSONField()
    mark = models.JSONField()
    counted_at = models.DateTimeField()


class ProgressFigures(models.Model):
    """What the pages of a campaign with very many questionnaires show of them, as last computed (`figures.py`).

    `judges` are the keys of its judges, lowest competence first (64-bit integers), `hourly_pay` the known hourly pay of
    its questionnaires in ascending order (64-bit floats), both little-endian. `mark` shows whether anything changed.
    """

    campaign = models.OneToOneField(Campaign, models.CASCADE, primary_key=True, related_name="progress_figures")
    figures = models.JSONField()
    checks = models.JSONField()
    judges = models.BinaryField()
    hourly_pay = models.BinaryField()
    mark = models.JSONField()
    computed_at = models.DateTimeField()


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
