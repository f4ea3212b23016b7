"""Figures of a campaign that are kept: sums by the database, live figures by the sweep."""

from django.db import models

from crowdrag.studies.models import Participant

from ..campaigns.models import Campaign, Dimension
from ..enums import AssignmentState
from ..judging.models import Assignment


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
