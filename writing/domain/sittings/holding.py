"""The task to which a sitting belongs: its row is the lock of all that happens to its log."""

from datetime import datetime, timedelta

from django.db.models import F

from ...enums import TaskState
from ...models import WritingPlan, WritingTask
from ..incoming import RefusedError

# Another row's update only for a gain that is worth it.
LEAST_GAIN = timedelta(seconds=60)
# While a task is in one of these states its log grows: what was typed before a lease ran out is not lost.
GROWING = (TaskState.CLAIMED, TaskState.RETURNED)


class ClosedError(RefusedError):
    """The task is not being written: submitted, given back, withdrawn, or something comes first."""

    problem = "closed"


def hold(pk: int) -> WritingTask | None:
    """Return a task with its row locked, so that nothing else is opened, received, finished or submitted meanwhile.

    References to the row may still be made.
    """
    tasks = WritingTask.objects.select_for_update(of=("self",), no_key=True).select_related("participant")
    tasks = tasks.annotate(lease_hours=F("study__writing_plan__lease_hours"))
    return tasks.defer("draft").filter(pk=pk).order_by().first()


def grows(task: WritingTask) -> bool:
    """Say whether events of a task's log are still taken in: never after the writer withdrew."""
    person = task.participant
    return task.state in GROWING and person is not None and person.withdrawn_at is None and person.erased_at is None


def extend_lease(task: WritingTask, now: datetime) -> None:
    """Hold a claimed task for its writer as long as the plan says, from now on; `hold` has locked it."""
    if task.state != TaskState.CLAIMED:
        return
    hours = task.lease_hours or WritingPlan._meta.get_field("lease_hours").default  # type: ignore[attr-defined]
    until = now + timedelta(hours=hours)
    if task.lease_until is None or until - task.lease_until >= LEAST_GAIN:
        task.lease_until = until
        WritingTask.objects.filter(pk=task.pk, state=TaskState.CLAIMED).update(lease_until=until)
