"""What somebody has in hand, and for how long it is theirs.

A claim holds for hours after the last sign of life, so that a laptop may sleep; and somebody may come back late.
"""

import logging
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import F

from crowdrag.studies.models import Participant

from ..editor import logs
from ..enums import TaskState
from ..models import WritingPlan, WritingTask
from . import problems, slots, submission, transitions

# Where a study has no plan any more.
DEFAULT = timedelta(hours=24)
# Who has had a response sent back is not at the page just now: so many leases pass before the slot is free.
REVISION_LEASES = 3


def task_in_hand(participant: Participant) -> WritingTask | None:
    """Return the task that somebody is writing now: what they began before what was sent back to them."""
    mine = WritingTask.objects.filter(participant=participant, state=TaskState.CLAIMED, is_imported=False)
    order = (F("revises_id").asc(nulls_first=True), "claimed_at", "id")
    return mine.select_related("study", "topic", "style").order_by(*order).first()


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
                submission.submit(task=task, answers=None, now=now)
        except problems.TaskProblem:
            log.warning("Writing task %s was finished but cannot be submitted; it is returned", pk)
        else:
            return True
    release(task, cause=LAPSED, now=now)
    return True


def release(task: WritingTask, *, cause: str, note: str = "", now: datetime) -> WritingTask:
    """Return a task that the caller has locked: its text is kept, its slot is free."""
    transitions.move(
        task, TaskState.RETURNED, cause, note=note, now=now, lease_until=None, draft=logs.current_text(task)
    )
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
    task = transitions.lock(task)
    if task.state == TaskState.CLAIMED:
        return task
    if participant.withdrawn_at or participant.erased_at:
        raise problems.LeftStudy
    if task.state != TaskState.RETURNED:
        raise problems.NotAllowed(task, TaskState.CLAIMED)
    other = task_in_hand(participant)
    if other is not None and other.revises_id is None:
        raise problems.AnotherInHand(other)
    if task.slot is None:
        if not (task.is_trial and _still_tried(task)):
            raise problems.TakenByAnother
    elif not slots.take_over(task):
        raise problems.TakenByAnother
    try:
        with transaction.atomic():
            return transitions.move(
                task, TaskState.CLAIMED, "came back", now=now, lease_until=now + lease_length(task.study_id)
            )
    except IntegrityError as error:
        raise problems.TakenByAnother from error


def on_withdraw(participant: Participant, now: datetime) -> None:
    """Give to others what somebody had begun who withdraws; their text is kept. The caller holds the participant."""
    mine = WritingTask.objects.filter(participant=participant, state=TaskState.CLAIMED, is_imported=False)
    for task in mine.order_by("id"):
        held = transitions.lock(task)
        if held.state == TaskState.CLAIMED:
            release(held, cause="withdrew", now=now)


def can_resume(task: WritingTask) -> bool:
    """Say whether a returned task is still there for its owner; only `resume` itself can promise it."""
    if task.slot is None:
        return task.is_trial and _still_tried(task)
    found = slots.holder(task)
    return found is not None and found.state == TaskState.OPEN


def _still_tried(task: WritingTask) -> bool:
    plan = WritingPlan.objects.filter(study=task.study_id, is_open=True).first()
    return plan is not None and plan.trial_topics.filter(external_id=task.topic.external_id).exists()
