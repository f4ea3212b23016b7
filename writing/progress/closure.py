"""Reasons in the writing app why a study cannot be archived or deleted."""

from collections.abc import Iterator

from crowdrag.studies.models import Study

from ..enums import TaskState
from ..models import TaskPayment, WritingPlan, WritingTask


def work_in_progress(study: Study) -> Iterator[str]:
    """Yield a reason if people can begin, or have begun, to write."""
    if WritingPlan.objects.filter(study=study, is_open=True).exists():
        yield "The writing plan is open. Close it first."
    tasks = WritingTask.objects.filter(study=study, is_imported=False)
    if claimed := tasks.filter(state=TaskState.CLAIMED).count():
        yield f"Responses being written: {claimed}. Wait until they are submitted or returned, or their time is over."


def payments(study: Study) -> Iterator[str]:
    """Yield a reason if writers have earned money, because payment records must be kept."""
    paid = TaskPayment.objects.filter(task__study=study, amount__gt=0, task__participant__is_simulated=False)
    if paid.exists():
        yield "Writers have earned money, so their payment records must be kept. Archive the study instead."
