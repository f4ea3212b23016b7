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

# Tasks in these states occupy neither a slot nor, for their writer, a topic.
PAST = [TaskState.RETURNED, TaskState.REJECTED, TaskState.REVISION]


class WritingTask(PaidWork):
    """A task to write on one topic in one style, for one participant.

    If a slot becomes free (task returned, rejected or to be revised), it gets a new task. The old task keeps its text
    and log.
    """

    RELATED: ClassVar[tuple[str, ...]] = ("study", "topic", "style", "participant")
    TEXTS: ClassVar[WorkTexts] = WorkTexts(
        not_allowed=_("The status of this task is “%(state)s”, so you cannot do this now."),
        left_study=_("You withdrew from this study, so there are no more tasks for you."),
        blocked=_(
            "You cannot get more tasks in this study. The researchers' reason: “%(reason)s” You can ask them about it."
        ),
        nothing_left=_("All tasks that you can do are taken at the moment. Check again later: some may become free."),
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
    # The number of the slot for this topic and style, from 0; null for trials and imported tasks.
    slot = models.PositiveSmallIntegerField(null=True, blank=True)
    is_trial = models.BooleanField(default=False)
    # The task that this one revises.
    revises = models.OneToOneField("self", models.PROTECT, null=True, blank=True, related_name="revision")
    participant = models.ForeignKey(Participant, models.PROTECT, null=True, blank=True, related_name="writing_tasks")
    instructions = models.ForeignKey(WritingInstructions, models.PROTECT, null=True, blank=True, related_name="tasks")
    state = models.CharField(max_length=10, choices=TaskState.choices, default=TaskState.OPEN)
    created_at = models.DateTimeField()
    claimed_at = models.DateTimeField(null=True, blank=True)
    # When the writer finished the text and it matched the log; only the exit survey is left.
    finished_at = models.DateTimeField(null=True, blank=True)
    # The text in progress. It is kept when the lease ends.
    draft = models.TextField(blank=True)
    # Imported tasks need not follow CrowdRAG's rules: in the published corpus, some people wrote twice on a topic.
    is_imported = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "external_id"], name="task_external_id_unique_per_study"),
            models.UniqueConstraint(
                fields=["topic", "participant"],
                condition=Q(is_imported=False) & ~Q(state__in=PAST),
                name="task_nobody_writes_twice_on_a_topic",
            ),
            # This covers only one version of topic and style. Across versions, the lock on the plan ensures one live
            # task per slot (writing/assignments/slots.py), and the invariant `writing.slots` checks it.
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
        """The study's currency."""
        return self.study.currency


class TaskTransition(Transition):
    """A change of a task's state, with a note for the writer."""

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
