"""Prompts of model judges, their answers, and trials of injection tests."""

from django.db import models

from crowdrag.jobs.models import Run
from crowdrag.studies.models import Participant, Versioned

from ..campaigns.models import Dimension, Item, Pair
from ..enums import Inference, JudgingOutcome, Spot


class JudgingPrompt(Versioned):
    """One version of a prompt, with placeholders in braces for the item and the questions."""

    text = models.TextField("text")

    class Meta(Versioned.Meta):
        pass


class JudgingAnswer(models.Model):
    """A model's answer to one request, with its outcome. The judgments are stored as `Judgment` rows.

    The answer's text is not stored here, because it may quote the judged texts. It is part of the call, which is erased
    with them; `digest` identifies the call.
    """

    # The run that asked; None after the import of an archive, which contains only runs of analyses.
    run = models.ForeignKey(Run, models.SET_NULL, null=True, blank=True, related_name="judging_answers")
    participant = models.ForeignKey(Participant, models.PROTECT, related_name="judging_answers")
    item = models.ForeignKey(Item, models.PROTECT, related_name="judging_answers")
    # None if all dimensions were asked at once.
    dimension = models.ForeignKey(Dimension, models.PROTECT, null=True, blank=True, related_name="judging_answers")
    repeat = models.PositiveSmallIntegerField(default=0)
    outcome = models.CharField("outcome", max_length=10, choices=JudgingOutcome.choices)
    # Number of times that the question was sent, up to this outcome.
    attempts = models.PositiveIntegerField("attempts", default=1)
    digest = models.CharField("call", max_length=64)
    # The same model wrote one of the responses. It may judge them; analyses of self-preference use this mark.
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
            # For a page of a run's answers in order.
            models.Index(fields=["run", "id"], name="judging_answer_of_run"),
        ]


class InjectionTrial(models.Model):
    """A pair of an injection test, judged by a model in up to six conditions. None: no usable answer.

    `plain` is the verdict on the unchanged pair. `attacked` is the verdict after a text that asks for `target` was
    inserted into the target response, `neutral` after a neutral text of the same length at the same position. The three
    `bare_…` verdicts are the same without delimiters. Verdicts are as presented: -1 is A.
    """

    # The key of the test run, equal for all of its trials.
    measurement = models.UUIDField()
    participant = models.ForeignKey(Participant, models.PROTECT, related_name="injection_trials")
    pair = models.ForeignKey(Pair, models.PROTECT, related_name="injection_trials")
    dimension = models.ForeignKey(Dimension, models.PROTECT, related_name="injection_trials")
    inference = models.CharField("inference", max_length=10, choices=Inference.choices)
    # Id and kind of the injected text (annotation/llm_judges/attacks.json).
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
    # The majority's answer on the unchanged pair, if more than half agree.
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
