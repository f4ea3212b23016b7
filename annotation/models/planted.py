"""How a model that judges takes to texts that tell it what to say: one pair, judged clean and with planted texts."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from crowdrag.studies.models import Participant

from ..enums import Inference, Spot
from .dimension import Dimension
from .pair import Pair


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
    inference = models.CharField(_("inference"), max_length=10, choices=Inference.choices)
    # Which text was planted, and of which kind it is (annotation/domain/judging_models/attacks.json).
    attack = models.CharField(_("planted text"), max_length=60)
    kind = models.CharField(_("its kind"), max_length=40)
    spot = models.CharField(_("where it stood"), max_length=10, choices=Spot.choices)
    target = models.SmallIntegerField(_("answer that it asks for"))
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
