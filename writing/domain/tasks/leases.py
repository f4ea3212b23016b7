"""How long a claim holds: hours after the last sign of life, so that a laptop may sleep; and who comes back late."""

import logging
from datetime import datetime

from django.db import IntegrityError, transaction

from crowdrag.studies.models import Participant

from ...enums import TaskState
from ...models import WritingPlan, WritingTask
from .. import sittings
from . import holding, moving, problems, slots, submitting

# One pass of the sweep takes so many; the next pass goes on.
AT_ONCE = 200
LAPSED = "lease over"
log = logging.getLogger(__name__)


def expire(*, now: datetime, at_once: int = AT_ONCE) -> int:
    """Return tasks whose lease ran out, with their text kept; submit those whose text was done. Count them."""
    due = WritingTask.objects.filter(state=TaskState.CLAIMED, is_imported=False, lease_until__lt=now)
    ended = 0
    for pk in due.order_by("lease_until").values_list("pk", flat=True)[:at_once]:
        try:
            ended += _expire(pk, now)
        except Exception:
            # One log that cannot be read must not keep the others' slots.
            log.exception("The lease of writing task %s is over, but it could not be returned", pk)
    return ended


@transaction.atomic
def _expire(pk: int, now: datetime) -> bool:
    # Looked at again under the locks: its writer may have come back in this moment.
    people = Participant.objects.select_for_update(no_key=True, skip_locked=True)
    if not people.filter(writing_tasks=pk):
        return False
    held = WritingTask.objects.select_for_update(of=("self",), no_key=True, skip_locked=True)
    task = (
        held.select_related("study", "topic", "style", "participant")
        .filter(pk=pk, state=TaskState.CLAIMED, lease_until__lt=now)
        .first()
    )
    if task is None:
        return False
    if task.finished_at is not None:
        try:
            # Only the questions after writing are missing: that must not cost anybody their pay.
            with transaction.atomic():
                submitting.submit(task=task, answers=None, now=now)
        except problems.TaskProblem:
            log.warning("Writing task %s was finished but cannot be submitted; it is returned", pk)
        else:
            return True
    let_go(task, cause=LAPSED, now=now)
    return True


def let_go(task: WritingTask, *, cause: str, note: str = "", now: datetime) -> WritingTask:
    """Return a task that the caller has locked: its text is kept, its slot is free."""
    moving.move(task, TaskState.RETURNED, cause, note=note, now=now, lease_until=None, draft=sittings.text(task))
    slots.refill(task, now)
    return task


@transaction.atomic
def resume(*, task: WritingTask, now: datetime) -> WritingTask:
    """Let a late owner go on where they stopped, while nobody else has the slot; the same log goes on.

    Raises
    ------
    TakenByAnother
        if somebody has it, or it is asked for no more.
    AnotherInHand
        if the person has begun something else.
    """
    assert task.participant_id is not None
    participant = Participant.objects.select_for_update(no_key=True).get(pk=task.participant_id)
    task = moving.locked(task)
    if task.state == TaskState.CLAIMED:
        return task
    if participant.withdrawn_at or participant.erased_at:
        raise problems.LeftStudy
    if task.state != TaskState.RETURNED:
        raise problems.NotAllowed(task, TaskState.CLAIMED)
    other = holding.in_hand(participant)
    if other is not None and other.revises_id is None:
        raise problems.AnotherInHand(other)
    if task.slot is None:
        if not (task.is_trial and _still_tried(task)):
            raise problems.TakenByAnother
    elif not slots.take_over(task):
        raise problems.TakenByAnother
    try:
        with transaction.atomic():
            return moving.move(
                task, TaskState.CLAIMED, "came back", now=now, lease_until=now + holding.lease(task.study_id)
            )
    except IntegrityError as error:
        raise problems.TakenByAnother from error


def leave(participant: Participant, now: datetime) -> None:
    """Give to others what somebody had begun who withdraws; their text is kept. The caller holds the participant."""
    mine = WritingTask.objects.filter(participant=participant, state=TaskState.CLAIMED, is_imported=False)
    for task in mine.order_by("id"):
        held = moving.locked(task)
        if held.state == TaskState.CLAIMED:
            let_go(held, cause="withdrew", now=now)


def can_resume(task: WritingTask) -> bool:
    """Say whether a returned task is still there for its owner; only `resume` itself can promise it."""
    if task.slot is None:
        return task.is_trial and _still_tried(task)
    found = slots.holder(task)
    return found is not None and found.state == TaskState.OPEN


def _still_tried(task: WritingTask) -> bool:
    plan = WritingPlan.objects.filter(study=task.study_id, is_open=True).first()
    return plan is not None and plan.trial_topics.filter(external_id=task.topic.external_id).exists()
