"""One questionnaire given to one participant, with its state."""

import pgtrigger
from django.conf import settings
from django.db import models

from crowdrag.studies.models import Decision, Participant

from ..enums import AssignmentState
from .questionnaire import Questionnaire


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    """What can be said of assignments."""

    def counted(self) -> "AssignmentQuerySet":
        """Keep those whose judgments count: accepted, and included in the analysis."""
        return self.filter(state=AssignmentState.ACCEPTED, is_included=True)


class Assignment(models.Model):
    """Who answers which questionnaire, and how far they are."""

    questionnaire = models.ForeignKey(Questionnaire, models.CASCADE, related_name="assignments")
    participant = models.ForeignKey(Participant, models.PROTECT, related_name="assignments")
    external_id = models.CharField(max_length=200, blank=True)
    state = models.CharField(max_length=10, choices=AssignmentState.choices, default=AssignmentState.ASSIGNED)
    is_included = models.BooleanField(default=True)
    assigned_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    seconds = models.FloatField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["questionnaire", "participant"], name="assignment_nobody_twice_on_a_questionnaire"
            ),
            models.CheckConstraint(condition=models.Q(state__in=AssignmentState.values), name="assignment_state_known"),
            models.CheckConstraint(
                condition=models.Q(seconds__isnull=True) | models.Q(seconds__gte=0),
                name="assignment_seconds_not_negative",
            ),
        ]
        indexes = [models.Index(fields=["questionnaire", "state"], name="assignment_by_state")]


class AssignmentTransition(models.Model):
    """A change of state with its cause; the record is append-only."""

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="transitions")
    before = models.CharField(max_length=10, choices=AssignmentState.choices, blank=True)
    after = models.CharField(max_length=10, choices=AssignmentState.choices)
    cause = models.CharField(max_length=200)
    at = models.DateTimeField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        triggers = [pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update)]


class AssignmentDecision(Decision):
    """A decision about an assignment."""

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="decisions")

    class Meta(Decision.Meta):
        pass
