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

# The notes of transitions to these states are messages to the writer. Notes of returns are the writer's own.
SUBMITTED = frozenset({TaskState.SUBMITTED, TaskState.ACCEPTED, TaskState.REJECTED, TaskState.REVISION})
TOLD = (TaskState.ACCEPTED, TaskState.REJECTED, TaskState.REVISION)


@dataclass(frozen=True)
class WriterTaskRow:
    """A task for its writer.

    `has_text`: of a returned task, whether anything was written. `can_hand_in`: the task is with somebody else now, but
    the writer's text can still be submitted.
    """

    task: WritingTask
    note: str
    paid: int
    payments: list[TaskPayment] = field(default_factory=list)
    can_resume: bool = False
    has_text: bool = False
    can_hand_in: bool = False

    @property
    def deadline(self) -> datetime | None:
        """The end of the lease if there is no further activity."""
        return self.task.lease_until if self.task.state == TaskState.CLAIMED else None

    @property
    def can_contest(self) -> bool:
        """Whether there is a decision that the writer can contest."""
        return self.task.state == TaskState.REJECTED


@dataclass(frozen=True)
class WriterOverview:
    """All tasks of a writer, latest first, and totals in minor units of the study's currency."""

    rows: list[WriterTaskRow]
    earned: int
    awaited: int
    in_hand: WritingTask | None
    trial: claims.TrialProgress

    @property
    def has_submitted(self) -> bool:
        """Whether the writer has submitted anything."""
        return any(row.task.state in SUBMITTED for row in self.rows)

    @property
    def listed(self) -> list[WriterTaskRow]:
        """The tasks without those whose revision is listed too: it has the same topic and the same note."""
        revised = {row.task.revises_id for row in self.rows}
        return [row for row in self.rows if row.paid or row.task.pk not in revised]


def writer_overview(participant: Participant) -> WriterOverview:
    """Return the overview of a writer's tasks."""
    tasks = (
        WritingTask.objects.filter(participant=participant, is_imported=False)
        .select_related("topic", "style", "study", "revision", "participant")
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
    """Return a task for its writer."""
    moves = undo.standing(sorted(task.transitions.all(), key=lambda each: each.pk))
    notes = [each.note for each in moves if each.note and (each.after in TOLD or not each.before)]
    payments = sorted(task.payments.all(), key=lambda each: each.pk)
    returned = task.state == TaskState.RETURNED and task.participant is not None and not task.participant.withdrawn_at
    can_resume = returned and leases.can_resume(task)
    # Unlike the draft, the log includes events that arrived after the end of the lease.
    has_text = returned and bool(logs.current_text(task).strip())
    return WriterTaskRow(
        task=task,
        note=notes[-1] if notes else "",
        paid=sum(payment.amount for payment in payments),
        payments=payments,
        can_resume=can_resume,
        has_text=has_text,
        can_hand_in=has_text and not can_resume,
    )
