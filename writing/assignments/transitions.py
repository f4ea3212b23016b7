"""Every change of a task's state goes through here, and leaves a row with its cause; and what is due next of a task."""

from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from typing import Any, Final

from django.db import transaction

from crowdrag.studies.models import Participant, User

from ..enums import SurveyKind, TaskState
from ..models import TaskTransition, WritingTask
from ..plans import surveys
from . import problems
from .problems import NotAllowed

S = TaskState
# What may follow on what. A slot that is free again is a new row; the old row keeps its text and its log.
ALLOWED: Final[Mapping[str, frozenset[str]]] = {
    S.OPEN: frozenset({S.CLAIMED}),
    S.CLAIMED: frozenset({S.SUBMITTED, S.RETURNED}),
    # The writer came back: in time they go on, too late they may hand in what they have.
    S.RETURNED: frozenset({S.CLAIMED, S.SUBMITTED}),
    S.SUBMITTED: frozenset({S.ACCEPTED, S.REJECTED, S.REVISION}),
    # A rejection that was contested, and reversed.
    S.REJECTED: frozenset({S.ACCEPTED}),
    S.ACCEPTED: frozenset(),
    S.REVISION: frozenset(),
}


@transaction.atomic
def move(
    task: WritingTask,
    after: TaskState,
    cause: str,
    *,
    note: str = "",
    by: User | None = None,
    now: datetime,
    **changes: Any,
) -> WritingTask:
    """Put a task into another state, with whatever else changes along, and write down why.

    The state that the caller has seen is compared with the row's in the same statement: of two who saw the same,
    one succeeds. `note` is for the writer to read.

    Raises
    ------
    NotAllowed
        if this state does not follow on the task's, or the task has left the state in which the caller saw it.
    """
    before = TaskState(task.state)
    if after not in ALLOWED[before]:
        raise NotAllowed(task, after)
    if not WritingTask.objects.filter(pk=task.pk, state=before).update(state=after, **changes):
        task.refresh_from_db()
        raise NotAllowed(task, after)
    task.state = after
    for name, value in changes.items():
        setattr(task, name, value)
    record(task, before, cause, note=note, by=by, now=now)
    return task


def record(
    task: WritingTask, before: str, cause: str, *, note: str = "", by: User | None = None, now: datetime
) -> None:
    """Write down that a task has come into its state; `before` is empty for a task that begins in it."""
    TaskTransition.objects.create(
        task=task, before=before, after=task.state, cause=cause[:200], note=note, by=by, at=now
    )


def lock(task: WritingTask) -> WritingTask:
    """Return the task as it is now, held until the transaction ends; its writer is held before it.

    What is stored about a task refers to its writer, and whoever lets somebody withdraw holds the writer first.
    """
    if task.participant_id is not None:
        Participant.objects.select_for_update(no_key=True).filter(pk=task.participant_id).order_by().first()
    return (
        WritingTask.objects.select_for_update(of=("self",), no_key=True)
        .select_related("study", "topic", "style", "participant")
        .get(pk=task.pk)
    )


class Step(Enum):
    """A step of a task, named after its page."""

    ENTRY = "writing_entry"
    WRITE = "writing_editor"
    EXIT = "writing_exit"
    DONE = "writing_done"
    RETURNED = "writing_task"


def next_step(task: WritingTask) -> Step:
    """Return the step that is due."""
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
    """Store the answers to the questions before writing, once; sent again they change nothing."""
    task = lock(task)
    if task.state in {TaskState.OPEN, TaskState.RETURNED}:
        raise problems.NotAllowed(task, TaskState.CLAIMED)
    surveys.answer(task=task, kind=SurveyKind.ENTRY, answers=answers, now=now)
    return task


@transaction.atomic
def reopen_text(*, task: WritingTask) -> WritingTask:
    """Open a finished text again, for its writer to go on; what is submitted stays so."""
    task = lock(task)
    if task.state == TaskState.CLAIMED and task.finished_at is not None:
        WritingTask.objects.filter(pk=task.pk).update(finished_at=None)
        task.finished_at = None
    return task
