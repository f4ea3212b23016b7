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
    """A task and its passages, in the order of their ranks, which count from 0 as markers do.

    `note`: what the reviewer wrote when the response was sent back. `is_new`: nobody has sat at this task before, and
    it revises none.
    """

    task: WritingTask
    passages: list[RetrievedPassage]
    note: str = ""
    is_new: bool = False

    @property
    def lease_minutes(self) -> int:
        """How long the task is kept for its writer after each sign of life."""
        return plan_lease_length(getattr(self.task.study, "writing_plan", None)) // timedelta(minutes=1)

    @property
    def copied_words(self) -> int:
        """The study's rule on copying: the writer is shown so many equal words in a row; 0 for none."""
        plan = getattr(self.task.study, "writing_plan", None)
        return (plan.copied_words or 0) if plan else WritingPlan._meta.get_field("copied_words").default

    @property
    def instructions(self) -> str:
        """The study's instructions in the version that held when the task was claimed; Markdown."""
        return self.task.instructions.text if self.task.instructions else ""


class NotDueError(Exception):
    """The task is not to be written now: questions come first, or it is done, or it is not theirs."""


def load_page(*, participant: Participant, task: str) -> EditorPage:
    """Return what the page shows to whoever writes this task.

    Raises
    ------
    NotDueError
        if writing is not what is due of the task.
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
    """Return the words with which a revision was asked for: they stand where its task was made."""
    transitions = TaskTransition.objects.filter(task=task, before="").exclude(note="").order_by("pk")
    return transitions.values_list("note", flat=True).first() or ""
