"""One response to be written."""

from django.db import models

from crowdrag.studies.models import Participant, Study

from ..enums import TaskState
from .style import Style
from .topic import Topic


class WritingTask(models.Model):
    """A slot: one topic in one style, to be written by one participant."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="writing_tasks")
    external_id = models.CharField(max_length=200)
    topic = models.ForeignKey(Topic, models.PROTECT, related_name="tasks")
    style = models.ForeignKey(Style, models.PROTECT, related_name="tasks")
    participant = models.ForeignKey(Participant, models.PROTECT, null=True, blank=True, related_name="writing_tasks")
    state = models.CharField(max_length=10, choices=TaskState.choices, default=TaskState.OPEN)
    created_at = models.DateTimeField()
    claimed_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    # The text while it is being written; a draft is never thrown away when its lease ends.
    draft = models.TextField(blank=True)
    # What others collected need not follow our rules: in the published corpus some people wrote twice on a topic.
    is_imported = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "external_id"], name="task_external_id_unique_per_study"),
            models.UniqueConstraint(
                fields=["topic", "participant"],
                condition=models.Q(is_imported=False) & ~models.Q(state__in=[TaskState.RETURNED, TaskState.REJECTED]),
                name="task_nobody_writes_twice_on_a_topic",
            ),
            models.CheckConstraint(condition=models.Q(state__in=TaskState.values), name="task_state_known"),
            models.CheckConstraint(
                condition=models.Q(state=TaskState.OPEN) | models.Q(participant__isnull=False),
                name="task_taken_has_a_participant",
            ),
        ]
        indexes = [models.Index(fields=["study", "state"], name="task_by_state")]
