"""Choices of questionnaires with their probabilities, and the state of a campaign's policy."""

from django.db import models

from ..campaigns.models import Campaign
from ..enums import Arm, AssignmentPolicy
from ..judging.models import Assignment


class AssignmentChoice(models.Model):
    """How a questionnaire was chosen for an assignment. There is none where the order is fixed."""

    assignment = models.OneToOneField(Assignment, models.CASCADE, related_name="choice")
    policy = models.CharField(max_length=20, choices=AssignmentPolicy.choices)
    # Number of the layout of slots that was in force, see `PolicyState`.
    epoch = models.PositiveIntegerField()
    arm = models.CharField(max_length=10, choices=Arm.choices)
    tier = models.CharField(max_length=10)
    # Probability with which this claim, given everything before it, got this questionnaire from either arm. NULL if it
    # is not known, because no slot had a position.
    probability = models.FloatField(null=True)
    # Free slots of the questionnaire just before.
    free_slots = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(arm__in=Arm.values), name="assignment_choice_arm_known"),
            models.CheckConstraint(
                condition=models.Q(probability__isnull=True) | models.Q(probability__gt=0, probability__lte=1),
                name="assignment_choice_probability",
            ),
        ]


class PolicyState(models.Model):
    """When a campaign's policy last looked at the judgments, and what it expects of its next choices."""

    campaign = models.OneToOneField(Campaign, models.CASCADE, primary_key=True, related_name="policy_state")
    policy = models.CharField(max_length=20, choices=AssignmentPolicy.choices)
    # Counts how often the slots have been laid out.
    epoch = models.PositiveIntegerField()
    # Slots that were held, and questionnaires that were submitted, at that time.
    taken = models.PositiveIntegerField()
    submitted = models.PositiveIntegerField()
    judgments = models.PositiveIntegerField()
    trusted_judges = models.PositiveIntegerField()
    # Expected score of a questionnaire chosen by the policy over that of a random one; NULL if nothing can be scored.
    advantage = models.FloatField(null=True)
    # By arm: questionnaires assigned and collected, and the mean competence of the collected ones' judges.
    arms = models.JSONField(default=list)
    # How many random questionnaires have the same variance as the collected ones with their weights.
    effective = models.FloatField(null=True)
    computed_at = models.DateTimeField()
