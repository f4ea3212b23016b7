"""One live task for each slot that the plan asks for: per topic and style as many as it says."""

from collections.abc import Iterable
from datetime import datetime
from uuid import uuid4

from django.db import transaction

from ...enums import TaskState
from ...models import Style, Topic, WritingPlan, WritingTask
from ...models.task import PAST

BATCH = 1000
# A slot by the topic's own id, since a topic's new version counts as the topic; by style's key, and number.
Key = tuple[str, int, int]


@transaction.atomic
def ensure(plan: WritingPlan, now: datetime) -> tuple[int, int]:
    """Make the open tasks that are missing and remove those that are asked for no more; count both.

    Called again it changes nothing, and any number may call it at once. What somebody has claimed stays.
    """
    plan = hold(plan)
    topics = _topics(plan)
    styles = list(Style.objects.filter(plan_styles__plan=plan).order_by("plan_styles__position", "id"))
    wanted: dict[Key, tuple[Topic, Style, int]] = {
        (topic.external_id, style.pk, slot): (topic, style, slot)
        for slot in range(plan.slots)
        for topic in topics
        for style in styles
    }
    removed = _remove(plan, wanted)
    live = WritingTask.objects.filter(study=plan.study_id, slot__isnull=False).exclude(state__in=PAST)
    taken = set(live.values_list("topic__external_id", "style_id", "slot"))
    missing = [row(plan, *wanted[key], now=now) for key in wanted if key not in taken]
    WritingTask.objects.bulk_create(missing, batch_size=BATCH, ignore_conflicts=True)
    return len(missing), removed


def ensure_open(now: datetime) -> None:
    """Make what is missing in every study that takes writers: topics come in by imports that know no plan."""
    for plan in WritingPlan.objects.filter(is_open=True).order_by("id"):
        if not complete(plan):
            ensure(plan, now)


def complete(plan: WritingPlan) -> bool:
    """Say whether there is a live task for every slot that the plan asks for; cheap, so without a look at each."""
    styles = list(plan.plan_styles.values_list("style_id", flat=True))
    trial = list(plan.trial_topics.values_list("external_id", flat=True))
    topics = Topic.objects.filter(study=plan.study_id).exclude(external_id__in=trial)
    live = WritingTask.objects.filter(study=plan.study_id, style__in=styles, slot__lt=plan.slots)
    there = live.exclude(state__in=PAST).exclude(topic__external_id__in=trial).count()
    return there >= topics.values("external_id").distinct().count() * len(styles) * plan.slots


@transaction.atomic
def refill(task: WritingTask, now: datetime) -> None:
    """Make the slot free again that this task has just left, if the plan still asks for it."""
    if task.slot is None or (plan := hold_of(task)) is None:
        return
    topic = _topics(plan, only=[task.topic.external_id])
    asked = task.slot < plan.slots and plan.plan_styles.filter(style=task.style_id).exists()
    if topic and asked and holder(task) is None:
        # Whoever slips in between has the slot; then there is nothing to refill.
        fresh = row(plan, topic[0], task.style, task.slot, now=now)
        WritingTask.objects.bulk_create([fresh], ignore_conflicts=True)


def holder(task: WritingTask) -> WritingTask | None:
    """Return the live task of this task's slot, whatever version of the topic it is on; other than the task itself."""
    if task.slot is None:
        return None
    return (
        WritingTask.objects.filter(
            study=task.study_id, topic__external_id=task.topic.external_id, style=task.style_id, slot=task.slot
        )
        .exclude(state__in=PAST)
        .exclude(pk=task.pk)
        .order_by("id")
        .first()
    )


@transaction.atomic
def take_over(task: WritingTask) -> bool:
    """Remove the open task of this task's slot, so that the task can live in it again; False if there is none."""
    found = holder(task)
    if found is None:
        return False
    open_ = WritingTask.objects.select_for_update().filter(pk=found.pk, state=TaskState.OPEN).first()
    if open_ is None:
        return False
    open_.delete()
    return True


def row(plan: WritingPlan, topic: Topic, style: Style, slot: int | None, *, now: datetime) -> WritingTask:
    """Return a new open task, unsaved."""
    return WritingTask(
        study_id=plan.study_id, topic=topic, style=style, slot=slot, external_id=uuid4().hex, created_at=now
    )


def hold(plan: WritingPlan) -> WritingPlan:
    """Return the plan as it is now, held until the transaction ends: slots are made by one at a time."""
    return WritingPlan.objects.select_for_update(no_key=True).get(pk=plan.pk)


def hold_of(task: WritingTask) -> WritingPlan | None:
    """Hold the plan of the task's study, where it has one."""
    plan = WritingPlan.objects.filter(study=task.study_id).first()
    return plan and hold(plan)


def _topics(plan: WritingPlan, only: Iterable[str] | None = None) -> list[Topic]:
    """Return the topics to be written on, in their latest version, trial topics left out."""
    trial = plan.trial_topics.values_list("external_id", flat=True)
    topics = Topic.objects.filter(study=plan.study_id).current().exclude(external_id__in=list(trial))
    if only is not None:
        topics = topics.filter(external_id__in=list(only))
    return list(topics.order_by("id"))


def _remove(plan: WritingPlan, wanted: dict[Key, tuple[Topic, Style, int]]) -> int:
    """Remove open tasks that nobody asks for any more, and those on an old version of their topic."""
    # Rows that somebody is claiming right now are passed by: claimed tasks stay.
    open_ = (
        WritingTask.objects.select_for_update(of=("self",), skip_locked=True)
        .select_related("topic")
        .filter(study=plan.study_id, state=TaskState.OPEN, slot__isnull=False)
    )
    gone = []
    for task in open_:
        asked = wanted.get((task.topic.external_id, task.style_id, task.slot or 0))
        if asked is None or asked[0].pk != task.topic_id:
            gone.append(task.pk)
    WritingTask.objects.filter(pk__in=gone).delete()
    return len(gone)
