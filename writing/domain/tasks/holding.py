"""What somebody has in hand, and for how long it is theirs."""

from datetime import timedelta

from django.db.models import F

from crowdrag.studies.models import Participant

from ...enums import TaskState
from ...models import WritingPlan, WritingTask

# Where a study has no plan any more.
DEFAULT = timedelta(hours=24)
# Who has had a response sent back is not at the page just now: so many leases pass before the slot is free.
REVISION_LEASES = 3


def in_hand(participant: Participant) -> WritingTask | None:
    """Return the task that somebody is writing now: what they began before what was sent back to them."""
    mine = WritingTask.objects.filter(participant=participant, state=TaskState.CLAIMED, is_imported=False)
    order = (F("revises_id").asc(nulls_first=True), "claimed_at", "id")
    return mine.select_related("study", "topic", "style").order_by(*order).first()


def written(participant: Participant) -> int:
    """Return how many responses somebody has written or is writing, trial apart; a revision is no further one."""
    tasks = WritingTask.objects.filter(participant=participant, is_imported=False, is_trial=False)
    return tasks.exclude(state__in=[TaskState.RETURNED, TaskState.REVISION]).count()


def lease(study_id: int) -> timedelta:
    """Return how long a claim holds after the last sign of life."""
    return lease_of(WritingPlan.objects.filter(study=study_id).only("lease_hours").first())


def lease_of(plan: WritingPlan | None) -> timedelta:
    """Return how long a claim of a plan holds, or of a study without one."""
    return DEFAULT if plan is None else timedelta(hours=plan.lease_hours)
