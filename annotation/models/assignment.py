"""One questionnaire given to one participant, with its state."""

import pgtrigger
from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

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
    # What it pays, in minor units of the study's currency, as was said when it was claimed.
    pay = models.PositiveIntegerField(null=True, blank=True)
    # Time spent with the page before one's eyes; `seconds` is from claim to submission.
    active_seconds = models.FloatField(null=True, blank=True)
    comment = models.TextField(_("comment"), blank=True)
    # What the recruitment platform calls the visit: its own submission.
    session = models.CharField(max_length=200, blank=True)
    # Who has it open for review, and until when nobody else gets it.
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    reviewing_until = models.DateTimeField(null=True, blank=True)

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
        indexes = [
            models.Index(fields=["questionnaire", "state"], name="assignment_by_state"),
            models.Index(
                fields=["lease_until"],
                condition=models.Q(state=AssignmentState.ASSIGNED, lease_until__isnull=False),
                name="assignment_by_lease",
            ),
            models.Index(fields=["session"], condition=~models.Q(session=""), name="assignment_by_session"),
            models.Index(fields=["external_id"], condition=~models.Q(external_id=""), name="assignment_by_external_id"),
        ]
        triggers = [
            # Looked at when the transaction commits: state and place change together, one after the other.
            pgtrigger.Trigger(
                name="holds_a_place_or_not",
                when=pgtrigger.After,
                operation=pgtrigger.Insert | pgtrigger.UpdateOf("state"),  # type: ignore[no-untyped-call]
                timing=pgtrigger.Deferred,
                func="""
                    PERFORM 1 FROM annotation_assignment a
                        JOIN annotation_questionnaire q ON q.id = a.questionnaire_id
                        JOIN annotation_campaign c ON c.id = q.campaign_id
                        WHERE a.id = NEW.id AND c.has_places
                        AND (a.state IN ('ASSIGNED', 'SUBMITTED', 'ACCEPTED'))
                            <> EXISTS (SELECT 1 FROM annotation_place p WHERE p.holder_id = a.id);
                    IF FOUND THEN
                        RAISE EXCEPTION 'assignment_holds_a_place_or_not: state and place do not go together'
                            USING ERRCODE = 'check_violation';
                    END IF;
                    RETURN NULL;
                """,
            ),
        ]


class AssignmentTransition(models.Model):
    """A change of state with its cause; the record is append-only."""

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="transitions")
    before = models.CharField(max_length=10, choices=AssignmentState.choices, blank=True)
    after = models.CharField(max_length=10, choices=AssignmentState.choices)
    cause = models.CharField(max_length=200)
    # For the judge to read.
    note = models.TextField(blank=True)
    at = models.DateTimeField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        triggers = [pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update)]


class AssignmentDecision(Decision):
    """A decision about an assignment."""

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="decisions")

    class Meta(Decision.Meta):
        pass


class AssignmentPayment(models.Model):
    """Money that a judge is owed for an assignment, in minor units of the study's currency. What was promised stays."""

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="payments")
    amount = models.PositiveIntegerField(_("amount (minor units)"))
    reason = models.CharField(_("reason"), max_length=200)
    at = models.DateTimeField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~models.Q(reason=""), name="assignment_payment_has_a_reason"),
            models.UniqueConstraint(fields=["assignment", "reason"], name="assignment_payment_once_per_reason"),
        ]
        triggers = [pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update)]
