"""Leases of writing tasks: what a writer has in hand, and until when.

A claim holds for hours after the last sign of life, so that a laptop may sleep; and somebody may come back late.
The editor renews it: `LockedTask.extend_claim` in writing/editor/sessions.py.
"""

import logging
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import F

from crowdrag.assignments.lifecycle import LEASE_OVER
from crowdrag.assignments.problems import LeftStudy, NotAllowed, WorkProblem
from crowdrag.studies.models import Participant

from ..editor import logs
from ..enums import TaskState
from ..models import WritingPlan, WritingTask
from . import problems, slots, submission
from .lifecycle import TASKS

# Where a study has no plan any more.
DEFAULT = timedelta(hours=24)
# Who has had a response sent back is not at the page just now: so many leases pass before the slot is free.
REVISION_LEASES = 3


def task_in_hand(participant: Participant) -> WritingTask | None:
    """Return the task that somebody is writing now: what they began before what was sent back to them."""
    tasks = WritingTask.objects.filter(participant=participant, state=TaskState.CLAIMED, is_imported=False)
    order = (F("revises_id").asc(nulls_first=True), "claimed_at", "id")
    return tasks.select_related("study", "topic", "style").order_by(*order).first()


def count_written(participant: Participant) -> int:
    """Return how many responses somebody has written or is writing, trial apart; a revision is no further one."""
    tasks = WritingTask.objects.filter(participant=participant, is_imported=False, is_trial=False)
    return tasks.exclude(state__in=[TaskState.RETURNED, TaskState.REVISION]).count()


def lease_length(study_id: int) -> timedelta:
    """Return how long a claim holds after the last sign of life."""
    return plan_lease_length(WritingPlan.objects.filter(study=study_id).only("lease_hours").first())


def plan_lease_length(plan: WritingPlan | None) -> timedelta:
    """Return how long a claim of a plan holds, or of a study without one."""
    return DEFAULT if plan is None else timedelta(hours=plan.lease_hours)


log = logging.getLogger(__name__)


def expire(*, now: datetime) -> int:
    """Return tasks whose lease ran out, with their text kept; submit those whose text was done. Count them."""

    def end(task: WritingTask) -> None:
        if task.finished_at is None or not _submit(task, now):
            release(task, cause=LEASE_OVER, now=now)

    return TASKS.expire(end, now=now)


def _submit(task: WritingTask, now: datetime) -> bool:
    """Submit a text of which only the questions after writing are missing: that must not cost anybody their pay."""
    try:
        with transaction.atomic():
            submission.submit(task=task, answers=None, now=now)
    except WorkProblem:
        log.warning("Writing task %s was finished but cannot be submitted; it is returned", task.pk)
        return False
    return True


def release(task: WritingTask, *, cause: str, note: str = "", now: datetime) -> WritingTask:
    """Return a task that the caller has locked: its text is kept, its slot is free."""
    TASKS.move(task, TaskState.RETURNED, cause, note=note, now=now, lease_until=None, draft=logs.current_text(task))
    slots.refill(task, now)
    return task


@transaction.atomic
def resume(*, task: WritingTask, now: datetime) -> WritingTask:
    """Let a late owner go on where they stopped, while nobody else has the slot; the same log goes on.

    Raises
    ------
    SlotTaken
        if somebody has it, or it is asked for no more.
    AnotherInHand
        if the person has begun something else.
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
    """Give to others what somebody had begun who withdraws; their text is kept. The caller holds the participant."""
    tasks = WritingTask.objects.filter(participant=participant, state=TaskState.CLAIMED, is_imported=False)
    for task in tasks.order_by("id"):
        held = TASKS.lock(task)
        if held.state == TaskState.CLAIMED:
            release(held, cause="withdrew", now=now)


def can_resume(task: WritingTask) -> bool:
    """Say whether a returned task is still there for its owner; only `resume` itself can promise it."""
    if task.slot is None:
        return task.is_trial and _still_tried(task)
    task_in_slot = slots.holder(task)
    return task_in_slot is not None and task_in_slot.state == TaskState.OPEN


def _still_tried(task: WritingTask) -> bool:
    plan = WritingPlan.objects.filter(study=task.study_id, is_open=True).first()
    return plan is not None and plan.trial_topics.filter(external_id=task.topic.external_id).exists()
