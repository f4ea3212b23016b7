"""The content of the editor's page: topic, passages, instructions, terms."""

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Exists, OuterRef

from crowdrag.studies.models import Participant

from ..assignments import steps
from ..assignments.leases import plan_lease_length
from ..models import RetrievedPassage, TaskTransition, WritingLog, WritingPlan, WritingTask


@dataclass(frozen=True)
class EditorPage:
    """A task and its passages by rank. Ranks start at 0, like citation markers.

    `note` is the reviewer's message if a revision was requested. `is_new`: the editor was never opened on this task,
    and it is not a revision.
    """

    task: WritingTask
    passages: list[RetrievedPassage]
    note: str = ""
    is_new: bool = False

    @property
    def lease_minutes(self) -> int:
        """The length of the lease after each activity, in minutes."""
        return plan_lease_length(getattr(self.task.study, "writing_plan", None)) // timedelta(minutes=1)

    @property
    def copied_words(self) -> int:
        """The least number of consecutive copied words that the editor shows to the writer; 0 to show none."""
        plan = getattr(self.task.study, "writing_plan", None)
        return (plan.copied_words or 0) if plan else WritingPlan._meta.get_field("copied_words").default

    @property
    def instructions(self) -> str:
        """The study's instructions when the task was claimed, as Markdown."""
        return self.task.instructions.text if self.task.instructions else ""


class NotDueError(Exception):
    """The task cannot be written now: another step comes first, it is done, or it belongs to someone else."""


def load_page(*, participant: Participant, task: str) -> EditorPage:
    """Return the content of the page for the writer of a task.

    Raises
    ------
    NotDueError
        If writing is not the next step of the task.
    """
    related = ("study__writing_plan", "topic", "style", "instructions")
    tasks = WritingTask.objects.select_related(*related).filter(participant=participant, external_id=task)
    task_begun = tasks.annotate(is_begun=Exists(WritingLog.objects.filter(task=OuterRef("pk")))).first()
    if task_begun is None or steps.next_step(task_begun) is not steps.Step.WRITE:
        raise NotDueError
    passages = task_begun.topic.retrieved.select_related("passage").order_by("rank", "id")
    if task_begun.revises_id:
        return EditorPage(task=task_begun, passages=list(passages), note=_revision_note(task_begun))
    return EditorPage(task=task_begun, passages=list(passages), is_new=not task_begun.is_begun)


def _revision_note(task: WritingTask) -> str:
    """Return the reviewer's message of a revision, which is stored with its task's creation."""
    transitions = TaskTransition.objects.filter(task=task, before="").exclude(note="").order_by("pk")
    return transitions.values_list("note", flat=True).first() or ""
