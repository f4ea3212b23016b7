"""Studies and submissions on the platform, actions to be sent there, and events received from it."""

from typing import ClassVar

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models

from crowdrag.jobs.delivery_queue import QueuedRow
from crowdrag.studies.models import EntryLink, Participant, Study

from .enums import ActionKind, ActionState, EventState, StudyStatus, SubmissionStatus


class PlatformStudy(models.Model):
    """A study advertised on the platform for one activity; its terms are as sent, since they cannot change there.

    The row is created before the request is sent: if the response is lost, the study is found again there by its
    `internal_name`, which nobody else uses.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="platform_studies")
    purpose = models.CharField("activity", max_length=50)
    link = models.OneToOneField(EntryLink, models.PROTECT, related_name="platform_study")
    external_id = models.CharField("ID on the platform", max_length=100, blank=True)
    name = models.CharField("public name", max_length=120)
    internal_name = models.CharField("internal name", max_length=120, unique=True)
    description = models.TextField("description")
    # In minor units of the study's currency.
    reward = models.PositiveIntegerField("reward (minor units)", validators=[MinValueValidator(1)])
    places = models.PositiveIntegerField("places", validators=[MinValueValidator(1)])
    minutes = models.PositiveSmallIntegerField("estimated time (minutes)", validators=[MinValueValidator(1)])
    most_minutes = models.PositiveSmallIntegerField("maximum time (minutes)", null=True, blank=True)
    devices = models.JSONField("devices", default=list, blank=True)
    eligibility = models.JSONField("eligibility", default=dict, blank=True)
    # Code type of the platform -> the code; the completion URLs are in the link.
    codes = models.JSONField("completion codes", default=dict, blank=True)
    screen_out_reward = models.PositiveIntegerField("screen-out payment (minor units)", null=True, blank=True)
    status = models.CharField("status on the platform", max_length=20, blank=True)
    places_taken = models.PositiveIntegerField("places taken on the platform", default=0)
    published_at = models.DateTimeField(null=True, blank=True)
    seen_at = models.DateTimeField("last refreshed", null=True, blank=True)
    listed_at = models.DateTimeField("submissions last listed", null=True, blank=True)
    problem = models.TextField("last problem", blank=True)
    created_at = models.DateTimeField("created")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        verbose_name_plural = "platform studies"
        constraints = [
            models.UniqueConstraint(
                fields=["external_id"], condition=~models.Q(external_id=""), name="platform_study_external_id_unique"
            ),
            models.CheckConstraint(
                condition=models.Q(reward__gte=1, places__gte=1, minutes__gte=1),
                name="platform_study_terms_positive",
            ),
            models.CheckConstraint(
                condition=models.Q(screen_out_reward__isnull=True)
                | models.Q(screen_out_reward__gte=1, screen_out_reward__lt=models.F("reward")),
                name="platform_study_screen_out_pays_less_than_the_reward",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def status_label(self) -> str:
        """The status in words; the platform's own word if we have none."""
        if not self.external_id:
            return "not created on the platform yet"
        return str(StudyStatus(self.status).label) if self.status in StudyStatus.values else self.status

    @property
    def is_published(self) -> bool:
        """Whether it was ever published: from then on only its internal name can be changed, and places added."""
        return self.published_at is not None


class Submission(models.Model):
    """One submission of a platform's study; its id is the session with which the participant came.

    IDs of the platform are used only for payment and are in no export (docs/adr/0003). Of the person only the keyed
    hash is stored.
    """

    platform_study = models.ForeignKey(PlatformStudy, models.CASCADE, related_name="submissions")
    external_id = models.CharField("ID on the platform", max_length=200)
    participant = models.ForeignKey(Participant, models.SET_NULL, null=True, blank=True, related_name="visits")
    identity_hash = models.BinaryField(max_length=32, null=True, blank=True)
    # Empty: they came here, and the platform has not reported them yet.
    status = models.CharField("status on the platform", max_length=20, blank=True, choices=SubmissionStatus.choices)
    status_at = models.DateTimeField("status as of", null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)
    # The code that the participant entered at the end; "NOCODE" if they finished without one.
    code = models.CharField("code entered", max_length=50, blank=True)
    # Each bonus paid, in minor units, as listed by the platform.
    bonuses = models.JSONField("bonuses paid", default=list, blank=True)
    first_heard_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["platform_study", "external_id"], name="submission_once_per_study"),
            models.CheckConstraint(
                condition=models.Q(status="") | models.Q(status__in=SubmissionStatus.values),
                name="submission_status_known",
            ),
            models.CheckConstraint(
                condition=models.Q(status="", status_at__isnull=True)
                | (~models.Q(status="") & models.Q(status_at__isnull=False)),
                name="submission_status_has_a_time",
            ),
        ]
        indexes = [models.Index(fields=["external_id"])]

    def __str__(self) -> str:
        return self.external_id


class PlatformAction(QueuedRow):
    """One action on the platform. The same key is the same action."""

    # For unknown outcomes, the result is looked up.
    STATES_DUE: ClassVar[tuple[str, ...]] = (ActionState.WAITING, ActionState.UNKNOWN)

    platform_study = models.ForeignKey(PlatformStudy, models.CASCADE, related_name="actions")
    submission = models.ForeignKey(Submission, models.CASCADE, null=True, blank=True, related_name="actions")
    kind = models.CharField("action", max_length=12, choices=ActionKind.choices)
    key = models.CharField(max_length=200)
    # Parameters: category and message, amount and reason, or the number of places.
    details = models.JSONField("details", default=dict, blank=True)
    # Responses of the platform, and what was seen before: enough to tell afterwards whether it was done.
    progress = models.JSONField(default=dict, blank=True)
    state = models.CharField("state", max_length=8, choices=ActionState.choices, default=ActionState.WAITING)
    error = models.TextField("last problem", blank=True)
    created_at = models.DateTimeField("created")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    done_at = models.DateTimeField("done", null=True, blank=True)

    class Meta(QueuedRow.Meta):
        constraints = [
            *QueuedRow.Meta.constraints,
            models.UniqueConstraint(fields=["platform_study", "key"], name="platform_action_key_unique"),
            models.CheckConstraint(condition=models.Q(kind__in=ActionKind.values), name="platform_action_kind_known"),
            models.CheckConstraint(
                condition=models.Q(state__in=ActionState.values), name="platform_action_state_known"
            ),
            models.CheckConstraint(
                condition=models.Q(kind=ActionKind.PLACES, submission__isnull=True)
                | (~models.Q(kind=ActionKind.PLACES) & models.Q(submission__isnull=False)),
                name="platform_action_is_about_somebody_or_places",
            ),
            # Of two bonuses for one person, the second is sent when the outcome of the first is known, since payments
            # are told apart by the platform's list.
            models.UniqueConstraint(
                fields=["submission"],
                condition=models.Q(kind=ActionKind.BONUS, state__in=[ActionState.SENDING, ActionState.UNKNOWN]),
                name="platform_action_one_bonus_at_a_time",
            ),
        ]
        indexes = [models.Index(fields=["state", "due_at"])]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.key}"

    @property
    def may_be_paid(self) -> bool:
        """Whether a payment was sent without a response: only the platform's list, or a person, can tell."""
        return "paying" in self.progress and self.state != ActionState.DONE


class PlatformEvent(QueuedRow):
    """One webhook event. The same event delivered again is the same row."""

    event_id = models.CharField(max_length=200, unique=True)
    kind = models.CharField("kind", max_length=100)
    resource_id = models.CharField("subject", max_length=200)
    status = models.CharField("status", max_length=50, blank=True)
    identity_hash = models.BinaryField(max_length=32, null=True, blank=True)
    sent_at = models.DateTimeField("sent")
    received_at = models.DateTimeField("received")
    handled_at = models.DateTimeField("handled", null=True, blank=True)
    state = models.CharField("state", max_length=8, choices=EventState.choices, default=EventState.WAITING)
    note = models.CharField("outcome", max_length=300, blank=True)

    class Meta(QueuedRow.Meta):
        constraints = [
            *QueuedRow.Meta.constraints,
            models.CheckConstraint(condition=models.Q(state__in=EventState.values), name="platform_event_state_known"),
            models.CheckConstraint(
                condition=models.Q(handled_at__isnull=True, state__in=[EventState.WAITING, EventState.SENDING])
                | models.Q(handled_at__isnull=False, state__in=[EventState.DONE, EventState.FAILED]),
                name="platform_event_handled_has_a_time",
            ),
        ]
        indexes = [
            models.Index(
                fields=["due_at"], condition=models.Q(handled_at__isnull=True), name="platform_event_unhandled"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.status}".strip()
