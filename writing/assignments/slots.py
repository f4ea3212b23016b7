"""Slots: one live task for each response that the plan asks for.

A slot is a topic, a style and a number, whatever the versions of topic and style: a new wording takes over the slots of
the old one. The unique index goes by rows, so it cannot see that two tasks in two wordings stand in one slot. What
keeps them from it is the lock on the plan: whoever makes a task live in a slot holds it while they look and until they
have committed. The invariant `writing.slots` looks for what slipped through.
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
# A slot by the topic's own id, by the style's name, and its number.
Key = tuple[str, str, int | None]


@transaction.atomic
def ensure(plan: WritingPlan, now: datetime) -> tuple[int, int]:
    """Make the open tasks that are missing and remove those that are asked for no more; count both.

    Called again it changes nothing, and any number may call it at once. What somebody has claimed stays.
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
    """Make what is missing in every study that takes writers: topics come in by imports that know no plan."""
    for plan in WritingPlan.objects.filter(is_open=True).order_by("id"):
        if not is_complete(plan):
            ensure(plan, now)


def is_complete(plan: WritingPlan) -> bool:
    """Say whether there is a live task for every slot that the plan asks for, open ones in the wording of now.

    It is cheap: it counts, and does not look at each.
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
    """Make the slot free again that this task has just left, if the plan still asks for it."""
    if task.slot is None or (plan := lock_plan_of(task)) is None:
        return
    topic = _topics(plan, only=[task.topic.external_id])
    style = plan.styles.filter(name=task.style.name).first()
    if topic and style and task.slot < plan.slots and holder(task) is None:
        # Whoever slips in between has the slot; then there is nothing to refill.
        fresh = new_open_task(plan, topic[0], style, task.slot, now=now)
        WritingTask.objects.bulk_create([fresh], ignore_conflicts=True)


def holder(task: WritingTask) -> WritingTask | None:
    """Return the live task of this task's slot, whatever its wording of topic and style; other than the task itself."""
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
    """Remove the open task of this task's slot, so that the task can live in it again; False if there is none.

    The plan is held until the caller's transaction ends, so that nobody makes another one meanwhile.
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
    """Say whether a task can live in its slot again, after removing the open task that took its place."""
    if task.slot is None:
        return True
    return take_over(task) or holder(task) is None


def new_open_task(plan: WritingPlan, topic: Topic, style: Style, slot: int | None, *, now: datetime) -> WritingTask:
    """Return a new open task, unsaved."""
    return WritingTask(
        study_id=plan.study_id, topic=topic, style=style, slot=slot, external_id=uuid4().hex, created_at=now
    )


def lock_plan(plan: WritingPlan) -> WritingPlan:
    """Return the plan as it is now, held until the transaction ends: slots are made by one at a time."""
    return WritingPlan.objects.select_for_update(no_key=True).get(pk=plan.pk)


def lock_plan_of(task: WritingTask) -> WritingPlan | None:
    """Hold the plan of the task's study, where it has one."""
    plan = WritingPlan.objects.filter(study=task.study_id).first()
    return plan and lock_plan(plan)


def _topics(plan: WritingPlan, only: Iterable[str] | None = None) -> list[Topic]:
    """Return the topics to be written on, in their latest version, trial topics left out."""
    trial = plan.trial_topics.values_list("external_id", flat=True)
    topics = Topic.objects.filter(study=plan.study_id).current().exclude(external_id__in=list(trial))
    if only is not None:
        topics = topics.filter(external_id__in=list(only))
    return list(topics.order_by("id"))


def _live(plan: WritingPlan) -> "QuerySet[WritingTask]":
    """Return the tasks that stand in a slot."""
    return WritingTask.objects.filter(study=plan.study_id, slot__isnull=False).exclude(state__in=PAST)


def _keys(tasks: "QuerySet[WritingTask]") -> set[Key]:
    return set(tasks.values_list("topic__external_id", "style__name", "slot"))


def _remove(plan: WritingPlan, needed: dict[Key, tuple[Topic, Style, int]]) -> int:
    """Remove open tasks that nobody asks for any more, and those in an old wording of their topic or style."""
    taken = _keys(_live(plan).exclude(state=TaskState.OPEN))
    # Rows that somebody is claiming right now are passed by: claimed tasks stay.
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
