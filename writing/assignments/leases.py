"""Leases of writing tasks: how long a writer keeps a claimed task.

A lease lasts for hours after the last activity, so that a laptop may sleep. Late writers may resume if the slot is
free.
"""

import logging
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction
from django.db.models import F

from crowdrag.assignments.lifecycle import LEASE_OVER, LEAST_RENEWAL
from crowdrag.assignments.problems import LeftStudy, NotAllowed, WorkProblem
from crowdrag.studies.models import Participant

from ..editor import logs
from ..enums import TaskState
from ..models import WritingPlan, WritingTask
from . import problems, slots, submission
from .lifecycle import TASKS

if TYPE_CHECKING:
    from ..editor.sessions import LockedTask

# For studies that no longer have a plan.
DEFAULT = timedelta(hours=24)
# The lease of a revision, as a multiple of the normal one: its writer is not on the page when it is requested.
REVISION_LEASES = 3


def task_in_hand(participant: Participant) -> WritingTask | None:
    """Return a participant's current task: tasks that they began come before requested revisions."""
    tasks = WritingTask.objects.filter(participant=participant, state=TaskState.CLAIMED, is_imported=False)
    order = (F("revises_id").asc(nulls_first=True), "claimed_at", "id")
    return tasks.select_related("study", "topic", "style").order_by(*order).first()


def count_written(participant: Participant) -> int:
    """Return the number of responses of a participant, with those in progress; trials and revisions do not count."""
    tasks = WritingTask.objects.filter(participant=participant, is_imported=False, is_trial=False)
    return tasks.exclude(state__in=[TaskState.RETURNED, TaskState.REVISION]).count()


def lease_length(study_id: int) -> timedelta:
    """Return the length of a study's leases, counted from the last activity."""
    return plan_lease_length(WritingPlan.objects.filter(study=study_id).only("lease_hours").first())


def plan_lease_length(plan: WritingPlan | None) -> timedelta:
    """Return the length of a plan's leases, or the default without a plan."""
    return DEFAULT if plan is None else timedelta(hours=plan.lease_hours)


def renew(task: "LockedTask", *, now: datetime) -> None:
    """Extend a claimed task's lease to the plan's length from now; the editor does so with everything it stores."""
    if task.state != TaskState.CLAIMED:
        return
    hours = task.lease_hours or WritingPlan._meta.get_field("lease_hours").default
    until = now + timedelta(hours=hours)
    if task.lease_until is None or until - task.lease_until >= LEAST_RENEWAL:
        task.lease_until = until
        WritingTask.objects.filter(pk=task.pk, state=TaskState.CLAIMED).update(lease_until=until)


log = logging.getLogger(__name__)


def expire(*, now: datetime) -> int:
    """Return tasks with expired leases (keep their texts), but submit finished texts; return the number of tasks."""

    def end(task: WritingTask) -> None:
        if task.finished_at is None or not _submit(task, now):
            release(task, cause=LEASE_OVER, now=now)

    return TASKS.expire(end, now=now)


def _submit(task: WritingTask, now: datetime) -> bool:
    """Submit a text that lacks only the exit survey, so that its writer does not lose the pay."""
    try:
        with transaction.atomic():
            submission.submit(task=task, answers=None, now=now)
    except WorkProblem:
        log.warning("Writing task %s was finished but cannot be submitted; it is returned", task.pk)
        return False
    return True


def release(task: WritingTask, *, cause: str, note: str = "", now: datetime) -> WritingTask:
    """Return a task that the caller has locked: keep its text, and free its slot."""
    TASKS.move(task, TaskState.RETURNED, cause, note=note, now=now, lease_until=None, draft=logs.current_text(task))
    slots.refill(task, now)
    return task


@transaction.atomic
def resume(*, task: WritingTask, now: datetime) -> WritingTask:
    """Let a late writer continue a returned task with the same log, if the slot is still free.

    Raises
    ------
    SlotTaken
        If somebody else has the slot, or it is no longer planned.
    AnotherInHand
        If the writer has begun another task.
    """
    assert task.participant_id is not None
    participant = Participant.objects.select_for_update(no_key=True).get(pk=task.participant_id)
    task = TASKS.lock(task)
    if task.state == TaskState.CLAIMED:
        return task
    if participant.withdrawn_at or participant.erased_at:
        raise LeftStudy(WritingTask)
    if task.state != TaskState.RETURNED:
        raise NotAllowed(task, TaskState.CLAIMED)
    other = task_in_hand(participant)
    if other is not None and other.revises_id is None:
        raise problems.AnotherInHand(other)
    if task.slot is None:
        if not (task.is_trial and _still_tried(task)):
            raise problems.SlotTaken
    elif not slots.take_over(task):
        raise problems.SlotTaken
    try:
        with transaction.atomic():
            return TASKS.move(
                task, TaskState.CLAIMED, "came back", now=now, lease_until=now + lease_length(task.study_id)
            )
    except IntegrityError as error:
        raise problems.SlotTaken from error


def on_withdraw(participant: Participant, now: datetime) -> None:
    """Return the tasks of a participant who withdraws; keep the texts. The caller must have locked the participant."""
    tasks = WritingTask.objects.filter(participant=participant, state=TaskState.CLAIMED, is_imported=False)
    for task in tasks.order_by("id"):
        held = TASKS.lock(task)
        if held.state == TaskState.CLAIMED:
            release(held, cause="withdrew", now=now)


def can_resume(task: WritingTask) -> bool:
    """Return whether a writer can probably resume a returned task; only `resume` can decide it."""
    if task.participant is None or task.participant.withdrawn_at:
        return False
    if task.slot is None:
        return task.is_trial and _still_tried(task)
    task_in_slot = slots.holder(task)
    return task_in_slot is not None and task_in_slot.state == TaskState.OPEN


def _still_tried(task: WritingTask) -> bool:
    plan = WritingPlan.objects.filter(study=task.study_id, is_open=True).first()
    return plan is not None and plan.trial_topics.filter(external_id=task.topic.external_id).exists()
