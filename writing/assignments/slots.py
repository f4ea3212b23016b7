"""Slots: one live task for each planned response.

A slot is a topic, a style and a number, independent of the versions of topic and style: a new version takes over the
slots of the old one. The unique index compares versions, so it cannot prevent two tasks with different versions in one
slot. The lock on the plan prevents this: code that adds a live task to a slot must hold the lock from the check to the
commit. The invariant `writing.slots` finds violations.
"""

from collections.abc import Iterable
from datetime import datetime
from uuid import uuid4

from django.db import transaction
from django.db.models import Q, QuerySet

from ..enums import TaskState
from ..models import Style, Topic, WritingPlan, WritingTask
from .models import PAST

BATCH = 1000
# A slot: the topic's external ID, the style's name, and the number.
Key = tuple[str, str, int | None]


@transaction.atomic
def ensure(plan: WritingPlan, now: datetime) -> tuple[int, int]:
    """Create missing open tasks, and remove those that are no longer planned; return both counts.

    Idempotent and safe to call concurrently. Claimed tasks stay.
    """
    plan = lock_plan(plan)
    topics = _topics(plan)
    styles = list(Style.objects.filter(plan_styles__plan=plan).order_by("plan_styles__position", "id"))
    needed: dict[Key, tuple[Topic, Style, int]] = {
        (topic.external_id, style.name, slot): (topic, style, slot)
        for slot in range(plan.slots)
        for topic in topics
        for style in styles
    }
    removed = _remove(plan, needed)
    taken = _keys(_live(plan))
    missing = [new_open_task(plan, *needed[key], now=now) for key in needed if key not in taken]
    WritingTask.objects.bulk_create(missing, batch_size=BATCH, ignore_conflicts=True)
    return len(missing), removed


def ensure_open(now: datetime) -> None:
    """Create missing tasks in all studies with an open plan, because imports of topics do not create tasks."""
    for plan in WritingPlan.objects.filter(is_open=True).order_by("id"):
        if not is_complete(plan):
            ensure(plan, now)


def is_complete(plan: WritingPlan) -> bool:
    """Return whether each planned slot has a live task, and open tasks have the current versions.

    This only counts tasks, so it is fast.
    """
    styles = list(Style.objects.filter(plan_styles__plan=plan))
    names = {style.name for style in styles}
    trial = list(plan.trial_topics.values_list("external_id", flat=True))
    topics = Topic.objects.filter(study=plan.study_id).exclude(external_id__in=trial)
    of_now = Q(style__in=styles, topic__in=topics.current())
    live = _live(plan).filter(style__name__in=names, slot__lt=plan.slots)
    live_count = live.exclude(topic__external_id__in=trial).filter(~Q(state=TaskState.OPEN) | of_now).count()
    return live_count >= topics.values("external_id").distinct().count() * len(names) * plan.slots


@transaction.atomic
def refill(task: WritingTask, now: datetime) -> None:
    """Free the slot that a task has just left, if it is still planned."""
    if task.slot is None or (plan := lock_plan_of(task)) is None:
        return
    topic = _topics(plan, only=[task.topic.external_id])
    style = plan.styles.filter(name=task.style.name).first()
    if topic and style and task.slot < plan.slots and holder(task) is None:
        # If another transaction fills the slot first, nothing needs to be done.
        fresh = new_open_task(plan, topic[0], style, task.slot, now=now)
        WritingTask.objects.bulk_create([fresh], ignore_conflicts=True)


def holder(task: WritingTask) -> WritingTask | None:
    """Return the other live task in this task's slot, in any version of topic and style; None if there is none."""
    if task.slot is None:
        return None
    return (
        WritingTask.objects.filter(
            study=task.study_id,
            topic__external_id=task.topic.external_id,
            style__name=task.style.name,
            slot=task.slot,
        )
        .exclude(state__in=PAST)
        .exclude(pk=task.pk)
        .order_by("id")
        .first()
    )


@transaction.atomic
def take_over(task: WritingTask) -> bool:
    """Remove the open task in this task's slot, so that the task can return to it; False if there is none.

    The plan stays locked until the caller's transaction ends, so that no new open task is created meanwhile.
    """
    lock_plan_of(task)
    earlier = holder(task)
    if earlier is None:
        return False
    open_ = WritingTask.objects.select_for_update().filter(pk=earlier.pk, state=TaskState.OPEN).first()
    if open_ is None:
        return False
    open_.delete()
    return True


def may_return(task: WritingTask) -> bool:
    """Return whether a task can return to its slot; an open task in the slot is removed."""
    if task.slot is None:
        return True
    return take_over(task) or holder(task) is None


def new_open_task(plan: WritingPlan, topic: Topic, style: Style, slot: int | None, *, now: datetime) -> WritingTask:
    """Return a new, unsaved open task."""
    return WritingTask(
        study_id=plan.study_id, topic=topic, style=style, slot=slot, external_id=uuid4().hex, created_at=now
    )


def lock_plan(plan: WritingPlan) -> WritingPlan:
    """Lock the plan until the transaction ends and return its current state, so that only one process creates slots."""
    return WritingPlan.objects.select_for_update(no_key=True).get(pk=plan.pk)


def lock_plan_of(task: WritingTask) -> WritingPlan | None:
    """Lock and return the plan of the task's study; None if it has none."""
    plan = WritingPlan.objects.filter(study=task.study_id).first()
    return plan and lock_plan(plan)


def _topics(plan: WritingPlan, only: Iterable[str] | None = None) -> list[Topic]:
    """Return the plan's topics in their latest versions, without trial topics."""
    trial = plan.trial_topics.values_list("external_id", flat=True)
    topics = Topic.objects.filter(study=plan.study_id).current().exclude(external_id__in=list(trial))
    if only is not None:
        topics = topics.filter(external_id__in=list(only))
    return list(topics.order_by("id"))


def _live(plan: WritingPlan) -> "QuerySet[WritingTask]":
    """Return the tasks that occupy a slot."""
    return WritingTask.objects.filter(study=plan.study_id, slot__isnull=False).exclude(state__in=PAST)


def _keys(tasks: "QuerySet[WritingTask]") -> set[Key]:
    return set(tasks.values_list("topic__external_id", "style__name", "slot"))


def _remove(plan: WritingPlan, needed: dict[Key, tuple[Topic, Style, int]]) -> int:
    """Remove open tasks that are no longer planned, or have old versions of topic or style."""
    taken = _keys(_live(plan).exclude(state=TaskState.OPEN))
    # Skip rows that are being claimed: claimed tasks stay.
    open_ = (
        WritingTask.objects.select_for_update(of=("self",), skip_locked=True)
        .select_related("topic", "style")
        .filter(study=plan.study_id, state=TaskState.OPEN, slot__isnull=False)
    )
    gone = []
    for task in open_:
        key = (task.topic.external_id, task.style.name, task.slot)
        topic, style, _slot = needed.get(key, (None, None, 0))
        if key in taken or topic != task.topic or style != task.style:
            gone.append(task.pk)
    WritingTask.objects.filter(pk__in=gone).delete()
    return len(gone)
