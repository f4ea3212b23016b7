"""What the editor's page shows: a topic, its passages, the instructions, and what is asked for."""

from dataclasses import dataclass

from crowdrag.studies.models import Participant

from ..models import RetrievedPassage, WritingTask
from .tasks import steps


@dataclass(frozen=True)
class Desk:
    """A task and its passages, in the order of their ranks, which count from 0 as markers do."""

    task: WritingTask
    passages: list[RetrievedPassage]

    @property
    def instructions(self) -> str:
        """The study's instructions in the version that held when the task was claimed; Markdown."""
        return self.task.instructions.text if self.task.instructions else ""


class NotDueError(Exception):
    """The task is not to be written now: questions come first, or it is done, or it is not theirs."""


def desk(*, participant: Participant, task: str) -> Desk:
    """Return what the page shows to whoever writes this task.

    Raises
    ------
    NotDueError
        if writing is not what is due of the task.
    """
    related = ("study", "topic", "style", "instructions")
    found = WritingTask.objects.select_related(*related).filter(participant=participant, external_id=task).first()
    if found is None or steps.due(found) is not steps.Step.WRITE:
        raise NotDueError
    passages = found.topic.retrieved.select_related("passage").order_by("rank", "id")
    return Desk(task=found, passages=list(passages))
