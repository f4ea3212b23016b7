"""A writer's own tasks: state, messages, earnings."""

from dataclasses import dataclass, field
from datetime import datetime

from crowdrag.assignments import undo
from crowdrag.studies.models import Participant

from ..editor import logs
from ..enums import TaskState
from ..models import TaskPayment, WritingPlan, WritingTask
from . import claims, leases
from .lifecycle import TASKS

# Words to a writer stand in these transitions' notes; what they themselves said when giving back does not.
SUBMITTED = frozenset({TaskState.SUBMITTED, TaskState.ACCEPTED, TaskState.REJECTED, TaskState.REVISION})
TOLD = (TaskState.ACCEPTED, TaskState.REJECTED, TaskState.REVISION)


@dataclass(frozen=True)
class WriterTaskRow:
    """A task as its writer sees it.

    `can_hand_in`: text is there of a task that went to somebody else meanwhile.
    """

    task: WritingTask
    note: str
    paid: int
    payments: list[TaskPayment] = field(default_factory=list)
    can_resume: bool = False
    can_hand_in: bool = False

    @property
    def deadline(self) -> datetime | None:
        """Until when the task is theirs without a sign of life."""
        return self.task.lease_until if self.task.state == TaskState.CLAIMED else None

    @property
    def can_contest(self) -> bool:
        """Whether there is a decision to be contested."""
        return self.task.state == TaskState.REJECTED


@dataclass(frozen=True)
class WriterOverview:
    """All of a writer's tasks, the latest first, and the sums: minor units of the study's currency."""

    rows: list[WriterTaskRow]
    earned: int
    awaited: int
    in_hand: WritingTask | None
    trial: claims.TrialProgress

    @property
    def has_submitted(self) -> bool:
        """Whether they handed anything in."""
        return any(row.task.state in SUBMITTED for row in self.rows)


def writer_overview(participant: Participant) -> WriterOverview:
    """Return what a writer reads of their tasks."""
    tasks = (
        WritingTask.objects.filter(participant=participant, is_imported=False)
        .select_related("topic", "style", "study", "revision")
        .prefetch_related("transitions", "payments")
        .order_by("-claimed_at", "-id")
    )
    plan = WritingPlan.objects.filter(study=participant.study_id).first()
    return WriterOverview(
        rows=[writer_task_row(task) for task in tasks],
        earned=TASKS.total_earned(participant),
        awaited=TASKS.total_awaited(participant),
        in_hand=leases.task_in_hand(participant),
        trial=claims.TrialProgress(claims.TrialStage.NONE)
        if plan is None
        else claims.trial_progress(plan, participant),
    )


def writer_task_row(task: WritingTask) -> WriterTaskRow:
    """Return a task as its writer sees it."""
    moves = undo.standing(sorted(task.transitions.all(), key=lambda each: each.pk))
    notes = [each.note for each in moves if each.note and (each.after in TOLD or not each.before)]
    payments = sorted(task.payments.all(), key=lambda each: each.pk)
    returned = task.state == TaskState.RETURNED
    can_resume = returned and leases.can_resume(task)
    return WriterTaskRow(
        task=task,
        note=notes[-1] if notes else "",
        paid=sum(payment.amount for payment in payments),
        payments=payments,
        can_resume=can_resume,
        # The log has what came in after the lease was over, too; the draft does not.
        can_hand_in=returned and not can_resume and bool(logs.current_text(task).strip()),
    )
