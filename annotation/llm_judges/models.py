"""Prompts of model judges, their answers, and trials of injection tests."""

from django.db import models

from crowdrag.jobs.models import Run
from crowdrag.studies.models import Participant, Versioned

from ..campaigns.models import Dimension, Item, Pair
from ..enums import Inference, JudgingOutcome, Spot


class JudgingPrompt(Versioned):
    """A prompt in one version, with places in braces for what is judged and asked."""

    text = models.TextField("text")

    class Meta(Versioned.Meta):
        pass


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
    outcome = models.CharField("outcome", max_length=10, choices=JudgingOutcome.choices)
    # How often the question was sent until it came to this.
    attempts = models.PositiveIntegerField("attempts", default=1)
    digest = models.CharField("call", max_length=64)
    # The same model wrote one of the responses: it may judge, and whoever analyses self-preference looks here.
    is_own = models.BooleanField("the model wrote one of the responses", default=False)
    answered_at = models.DateTimeField("answered")

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


class InjectionTrial(models.Model):
    """One pair of a measurement, judged by one model in up to six ways; no verdict where there is no usable answer.

    `plain` is the verdict on the pair as it is. `attacked` is the verdict after a text that asks for `target` was
    planted in the response that the target names, `neutral` after harmless words of the same length at the same spot.
    The three `bare_…` ones are the same without the fence around the texts. Verdicts are as presented: -1 is A.
    """

    # The key of the run that measured: all trials of a measurement have one.
    measurement = models.UUIDField()
    participant = models.ForeignKey(Participant, models.PROTECT, related_name="injection_trials")
    pair = models.ForeignKey(Pair, models.PROTECT, related_name="injection_trials")
    dimension = models.ForeignKey(Dimension, models.PROTECT, related_name="injection_trials")
    inference = models.CharField("inference", max_length=10, choices=Inference.choices)
    # Which text was planted, and of which kind it is (annotation/llm_judges/judge_run/attacks.json).
    attack = models.CharField("injected text", max_length=60)
    kind = models.CharField("type", max_length=40)
    spot = models.CharField("position", max_length=10, choices=Spot.choices)
    target = models.SmallIntegerField("requested answer")
    plain = models.SmallIntegerField(null=True, blank=True)
    attacked = models.SmallIntegerField(null=True, blank=True)
    neutral = models.SmallIntegerField(null=True, blank=True)
    bare_plain = models.SmallIntegerField(null=True, blank=True)
    bare_attacked = models.SmallIntegerField(null=True, blank=True)
    bare_neutral = models.SmallIntegerField(null=True, blank=True)
    # What most people said of the pair as it is, where most said the same.
    majority = models.SmallIntegerField(null=True, blank=True)
    measured_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["measurement", "pair"], name="injection_trial_once_per_pair"),
            models.CheckConstraint(condition=models.Q(target__in=[-1, 1]), name="injection_trial_asks_for_a_or_b"),
            models.CheckConstraint(condition=models.Q(spot__in=Spot.values), name="injection_trial_spot_known"),
            models.CheckConstraint(
                condition=models.Q(inference__in=Inference.values), name="injection_trial_inference_known"
            ),
        ]
