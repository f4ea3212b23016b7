"""Writing tasks, their transitions and payments."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from crowdrag.assignments.models import PaidWork, Payment, Transition, WorkTexts
from crowdrag.studies.models import Participant, Study

from ..corpus.models import Style, Topic
from ..enums import TaskState
from ..plans.models import WritingInstructions

# A task in one of these states holds neither its slot nor its topic any longer.
PAST = [TaskState.RETURNED, TaskState.REJECTED, TaskState.REVISION]


class WritingTask(PaidWork):
    """A slot: one topic in one style, to be written by one participant.

    A slot that is free again (returned, rejected, sent back) gets a new task; the old one stays with its text and log.
    """

    RELATED: ClassVar[tuple[str, ...]] = ("study", "topic", "style", "participant")
    TEXTS: ClassVar[WorkTexts] = WorkTexts(
        not_allowed=_("This task is %(state)s, so you cannot do this now."),
        left_study=_("You withdrew from this study, so there are no more tasks for you."),
        blocked=_("The researchers give you no more tasks here. Their reason: “%(reason)s” You can ask them about it."),
        nothing_left=_(
            "All topics that you can write on are taken at the moment. Check again later, some may become free."
        ),
        under_review=_("Another reviewer has this response open. Review the next one."),
        erased=_(
            "The writer had this response erased. It stays excluded from the analysis. You can still pay what is owed."
        ),
        needs_reason=_("Give a reason. The writer can read it."),
    )

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
    created_at = models.DateTimeField()
    claimed_at = models.DateTimeField(null=True, blank=True)
    # The writer said that the text is done, and the log rebuilt it; the exit survey is what is left.
    finished_at = models.DateTimeField(null=True, blank=True)
    # The text while it is being written; a draft is never thrown away when its lease ends.
    draft = models.TextField(blank=True)
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

    @property
    def currency(self) -> str:
        """The currency of what it pays: the study's."""
        return self.study.currency


class TaskTransition(Transition):
    """A change of a task's state. The note is for the writer to read."""

    task = models.ForeignKey(WritingTask, models.CASCADE, related_name="transitions")
    before = models.CharField(max_length=10, choices=TaskState.choices, blank=True)
    after = models.CharField(max_length=10, choices=TaskState.choices)

    class Meta(Transition.Meta):
        pass


class TaskPayment(Payment):
    """Money that a writer is owed for a task."""

    task = models.ForeignKey(WritingTask, models.CASCADE, related_name="payments")

    class Meta(Payment.Meta):
        constraints = [
            *Payment.Meta.constraints,
            models.UniqueConstraint(fields=["task", "reason"], name="task_payment_once_per_reason"),
        ]
