"""The steps of a task: entry survey, editor, exit survey."""

from datetime import datetime
from enum import Enum

from django.db import transaction

from crowdrag.assignments.problems import NotAllowed

from ..enums import SurveyKind, TaskState
from ..models import WritingTask
from ..plans import surveys
from .lifecycle import TASKS


class Step(Enum):
    """A step of a task, named after its page."""

    ENTRY = "writing_entry"
    WRITE = "writing_editor"
    EXIT = "writing_exit"
    DONE = "writing_done"
    RETURNED = "writing_task"


def next_step(task: WritingTask) -> Step:
    """Return the next step of a task."""
    if task.state == TaskState.RETURNED:
        return Step.RETURNED
    if task.state != TaskState.CLAIMED:
        return Step.DONE
    if task.finished_at is not None:
        return Step.EXIT
    if surveys.current_survey(task, SurveyKind.ENTRY) is not None and not surveys.is_answered(task, SurveyKind.ENTRY):
        return Step.ENTRY
    return Step.WRITE


@transaction.atomic
def answer_entry(*, task: WritingTask, answers: dict[str, object], now: datetime) -> WritingTask:
    """Store the answers to the entry survey; repeating this has no effect."""
    task = TASKS.lock(task)
    if task.state in {TaskState.OPEN, TaskState.RETURNED}:
        raise NotAllowed(task, TaskState.CLAIMED)
    surveys.answer(task=task, kind=SurveyKind.ENTRY, answers=answers, now=now)
    return task


@transaction.atomic
def reopen_text(*, task: WritingTask) -> WritingTask:
    """Reopen a finished text for editing; submitted texts stay submitted."""
    task = TASKS.lock(task)
    if task.state == TaskState.CLAIMED and task.finished_at is not None:
        WritingTask.objects.filter(pk=task.pk).update(finished_at=None)
        task.finished_at = None
    return task
