"""What came of asking a model to judge: each question once, whether it led to judgments or not."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from crowdrag.jobs.models import Run
from crowdrag.studies.models import Participant

from ..enums import JudgingOutcome
from .dimension import Dimension
from .item import Item


class JudgingAnswer(models.Model):
    """One question to a model that judges, and its outcome. The judgments themselves are rows like anyone's.

    What the model said is not here: it may quote the texts that were judged, and stands with the call, which goes when
    a text is erased. `digest` finds the call while it is there.
    """

    # Which run asked; none after an archive was imported, to which only analyses' runs belong.
    run = models.ForeignKey(Run, models.SET_NULL, null=True, blank=True, related_name="judging_answers")
    participant = models.ForeignKey(Participant, models.PROTECT, related_name="judging_answers")
    item = models.ForeignKey(Item, models.PROTECT, related_name="judging_answers")
    # Empty where all dimensions were asked at once.
    dimension = models.ForeignKey(Dimension, models.PROTECT, null=True, blank=True, related_name="judging_answers")
    repeat = models.PositiveSmallIntegerField(default=0)
    outcome = models.CharField(_("outcome"), max_length=10, choices=JudgingOutcome.choices)
    # How often the question was sent until it came to this.
    attempts = models.PositiveIntegerField(_("times asked"), default=1)
    digest = models.CharField(_("call"), max_length=64)
    # The same model wrote one of the responses: it may judge, and whoever analyses self-preference looks here.
    is_own = models.BooleanField(_("the model wrote one of the responses"), default=False)
    answered_at = models.DateTimeField(_("answered"))

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["participant", "item", "dimension", "repeat"],
                name="judging_answer_once_per_question",
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                condition=models.Q(outcome__in=JudgingOutcome.values), name="judging_answer_outcome_known"
            ),
            models.CheckConstraint(
                condition=models.Q(digest__regex=r"^[0-9a-f]{64}$"), name="judging_answer_digest_is_sha256"
            ),
        ]
        indexes = [
            models.Index(fields=["run", "outcome"], name="judging_answer_by_run"),
            # A page of a run's answers in their order, however many there are of it and of others.
            models.Index(fields=["run", "id"], name="judging_answer_of_run"),
        ]
