"""One response to be written."""

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from crowdrag.studies.models import Participant, Study

from ..corpus.models import Style, Topic
from ..enums import TaskState
from ..plans.models import WritingInstructions

# A task in one of these states holds neither its slot nor its topic any longer.
PAST = [TaskState.RETURNED, TaskState.REJECTED, TaskState.REVISION]


class WritingTask(models.Model):
    """A slot: one topic in one style, to be written by one participant.

    A slot that is free again (returned, rejected, sent back) gets a new task; the old one stays with its text and log.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="writing_tasks")
    external_id = models.CharField(max_length=200)
    topic = models.ForeignKey(Topic, models.PROTECT, related_name="tasks")
    style = models.ForeignKey(Style, models.PROTECT, related_name="tasks")
    # Which of the topic's slots in this style, from 0; a trial and what was imported have none.
    slot = models.PositiveSmallIntegerField(null=True, blank=True)
    is_trial = models.BooleanField(default=False)
    # The task whose response was sent back, and which this one revises.
    revises = models.OneToOneField("self", models.PROTECT, null=True, blank=True, related_name="revision")
    participant = models.ForeignKey(Participant, models.PROTECT, null=True, blank=True, related_name="writing_tasks")
    instructions = models.ForeignKey(WritingInstructions, models.PROTECT, null=True, blank=True, related_name="tasks")
    state = models.CharField(max_length=10, choices=TaskState.choices, default=TaskState.OPEN)
    # What it pays, in minor units of the study's currency, as was said when it was claimed.
    pay = models.PositiveIntegerField(null=True, blank=True)
    created_at = models.DateTimeField()
    claimed_at = models.DateTimeField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    # The writer said that the text is done, and the log rebuilt it; the exit survey is what is left.
    finished_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    # From the log, at submission: from first to last event, and without pauses away from it.
    seconds = models.FloatField(null=True, blank=True)
    active_seconds = models.FloatField(null=True, blank=True)
    # The text while it is being written; a draft is never thrown away when its lease ends.
    draft = models.TextField(blank=True)
    # Who has it open for review, and until when nobody else gets it.
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    reviewing_until = models.DateTimeField(null=True, blank=True)
    # What others collected need not follow our rules: in the published corpus some people wrote twice on a topic.
    is_imported = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "external_id"], name="task_external_id_unique_per_study"),
            models.UniqueConstraint(
                fields=["topic", "participant"],
                condition=Q(is_imported=False) & ~Q(state__in=PAST),
                name="task_nobody_writes_twice_on_a_topic",
            ),
            # By rows, so of one version of topic and style. That one slot has one live task across versions is kept
            # by the lock on the plan (writing/assignments/slots.py) and looked for by the invariant writing.slots.
            models.UniqueConstraint(
                fields=["topic", "style", "slot"],
                condition=Q(slot__isnull=False) & ~Q(state__in=PAST),
                name="task_one_at_a_time_per_slot",
            ),
            models.CheckConstraint(condition=Q(state__in=TaskState.values), name="task_state_known"),
            models.CheckConstraint(
                condition=Q(state=TaskState.OPEN) | Q(participant__isnull=False),
                name="task_taken_has_a_participant",
            ),
            models.CheckConstraint(
                condition=Q(is_imported=True) | ~Q(state=TaskState.CLAIMED) | Q(lease_until__isnull=False),
                name="task_claimed_has_a_lease",
            ),
        ]
        indexes = [
            models.Index(fields=["study", "state"], name="task_by_state"),
            models.Index(fields=["study", "id"], condition=Q(state=TaskState.OPEN), name="task_open"),
            models.Index(fields=["lease_until"], condition=Q(state=TaskState.CLAIMED), name="task_by_lease"),
        ]


class TaskTransition(models.Model):
    """A change of a task's state with its cause; the record is append-only. The note is for the writer to read."""

    task = models.ForeignKey(WritingTask, models.CASCADE, related_name="transitions")
    before = models.CharField(max_length=10, choices=TaskState.choices, blank=True)
    after = models.CharField(max_length=10, choices=TaskState.choices)
    cause = models.CharField(max_length=200)
    note = models.TextField(blank=True)
    at = models.DateTimeField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        triggers = [pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update)]


class TaskPayment(models.Model):
    """Money that a writer is owed for a task, in minor units of the study's currency. What was promised stays."""

    task = models.ForeignKey(WritingTask, models.CASCADE, related_name="payments")
    amount = models.PositiveIntegerField(_("amount (minor units)"))
    reason = models.CharField(_("reason"), max_length=200)
    at = models.DateTimeField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(reason=""), name="task_payment_has_a_reason"),
            models.UniqueConstraint(fields=["task", "reason"], name="task_payment_once_per_reason"),
        ]
        triggers = [pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update)]
