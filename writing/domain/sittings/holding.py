"""The task to which a sitting belongs: its row is the lock of all that happens to its log."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection

from ...enums import TaskState
from ...models import WritingPlan, WritingTask
from ..incoming import RefusedError

# Another row's update only for a gain that is worth it.
LEAST_GAIN = timedelta(seconds=60)
# While a task is in one of these states its log grows: what was typed before a lease ran out is not lost.
GROWING = (TaskState.CLAIMED, TaskState.RETURNED)

_HOLD = """
    SELECT task.state, task.lease_until, plan.lease_hours, task.finished_at,
        person.id IS NULL OR person.withdrawn_at IS NOT NULL OR person.erased_at IS NOT NULL
    FROM writing_writingtask task
    LEFT JOIN studies_participant person ON person.id = task.participant_id
    LEFT JOIN writing_writingplan plan ON plan.study_id = task.study_id
    WHERE task.id = %s FOR NO KEY UPDATE OF task
"""


class ClosedError(RefusedError):
    """The task is not being written: submitted, given back, withdrawn, or something comes first."""

    problem = "closed"


@dataclass(slots=True)
class Held:
    """What counts of a task while its row is locked: nothing else is opened, received or submitted meanwhile."""

    pk: int
    state: str
    lease_until: datetime | None
    lease_hours: int | None
    finished_at: datetime | None = None
    has_left: bool = False

    @property
    def is_being_written(self) -> bool:
        """Whether its writer may open it."""
        return self.state == TaskState.CLAIMED and not self.has_left

    @property
    def grows(self) -> bool:
        """Whether events are still taken in: never after the writer withdrew."""
        return self.state in GROWING and not self.has_left

    def extend_lease(self, now: datetime) -> None:
        """Hold a claimed task for its writer as long as the plan says, from now on."""
        if self.state != TaskState.CLAIMED:
            return
        hours = self.lease_hours or WritingPlan._meta.get_field("lease_hours").default
        until = now + timedelta(hours=hours)
        if self.lease_until is None or until - self.lease_until >= LEAST_GAIN:
            self.lease_until = until
            WritingTask.objects.filter(pk=self.pk, state=TaskState.CLAIMED).update(lease_until=until)

    def take_back(self) -> None:
        """Take a task back from the questions after writing: finished means that the text has not changed since."""
        if self.finished_at is not None:
            self.finished_at = None
            WritingTask.objects.filter(pk=self.pk).update(finished_at=None)


def hold(pk: int) -> Held | None:
    """Lock a task's row and return what counts of it; None if there is no such task. References may still be made."""
    with connection.cursor() as cursor:
        cursor.execute(_HOLD, [pk])
        row = cursor.fetchone()
    if row is None:
        return None
    return Held(pk, *row)
