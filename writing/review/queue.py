"""The review queue, and review locks of responses.

Opening a response for review locks it for some minutes, so that several reviewers do not read the same one at the same
time (`crowdrag.assignments.review_locks`).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import Count, Min, Prefetch, Q, QuerySet
from django.urls import reverse

from crowdrag.assignments import assignees, bulk, review_locks, undo
from crowdrag.assignments.bulk import Selection
from crowdrag.assignments.undo import RecentDecision
from crowdrag.studies.models import Study, User
from crowdrag.studies.navigation import InboxEntry

from ..enums import TaskState
from ..models import EditingSession, TaskTransition, WritingTask
from . import signal_display

REVIEW_LOCK: Final = review_locks.ReviewLock(WritingTask, frozenset({TaskState.SUBMITTED}))
HOLD: Final = review_locks.LOCK_TIME
# The lists of responses.
LISTS = {
    "waiting": TaskState.SUBMITTED,
    "accepted": TaskState.ACCEPTED,
    "rejected": TaskState.REJECTED,
    "revision": TaskState.REVISION,
    "erased": TaskState.SUBMITTED,
}
#: Responses that await review. Erased ones have their own list: they cannot be reviewed, but can still be paid.
_WAITS: Final = Q(state=TaskState.SUBMITTED, response__erased_at__isnull=True)
_ERASED: Final = Q(state=TaskState.SUBMITTED, response__erased_at__isnull=False)
# The data of a list's rows. The responses' texts are fetched later, only for signals that are not cached.
SHOWN_WITH: Final = ("topic", "style", "participant", "reviewer", "assignee", "response", "log")
SHOWN: Final = (
    "external_id", "state", "is_trial", "revises_id", "submitted_at", "reviewing_until", "topic__query",
    "style__label", "participant__external_id", "reviewer__name", "reviewer__email", "assignee__name",
    "assignee__email", "response__words",
    "response__is_included", "response__task_id", "log__task_id",
    "log__source", "log__started_at",
)  # fmt: skip


@dataclass(frozen=True)
class QueueFilter:
    """A reviewer's filter of the queue; empty fields match everything."""

    style: str = ""
    writer: str = ""
    trial: bool = False
    signals: bool = False
    assigned: Q = Q()  # noqa: RUF009 -- never mutated


@dataclass(frozen=True)
class QueueCounts:
    """The number of responses in each list."""

    waiting: int
    open: int
    accepted: int
    rejected: int
    revision: int
    erased: int = 0


def list_tasks(study: Study, name: str, filters: QueueFilter) -> QuerySet[WritingTask]:
    """Return the tasks of a list: waiting ones oldest first, decided ones latest first."""
    order = ("submitted_at", "id") if name == "waiting" else ("-submitted_at", "-id")
    tasks = _filtered(study, filters).filter(_is_in(name))
    return tasks.select_related(*SHOWN_WITH).only(*SHOWN).order_by(*order)


def transitions_of(study: Study) -> QuerySet[TaskTransition]:
    """Return the transitions of a study's tasks."""
    return TaskTransition.objects.filter(task__study=study)


def recent_decisions(study: Study, by: User, now: datetime) -> list[RecentDecision]:
    """Return the decisions of a reviewer in a study that can still be undone, latest first."""
    return undo.recent_decisions(transitions_of(study), "task", by=by, now=now)


def selected(study: Study, names: Collection[str], by: User, now: datetime) -> Selection:
    """Return the tasks with these names that await review, oldest first."""
    tasks = WritingTask.objects.filter(_is_in("waiting"), study=study, is_imported=False, external_id__in=names)
    related = tasks.select_related("topic", "style", "participant", "response", "reviewer")
    return bulk.select(related.order_by("submitted_at", "id")[: bulk.MOST], by, now)


def counts(study: Study, now: datetime) -> QueueCounts:
    """Count a study's responses by list."""
    sums = {name: Count("id", filter=_is_in(name)) for name in LISTS}
    held = Count("id", filter=_WAITS & Q(reviewing_until__gt=now))
    return QueueCounts(**WritingTask.objects.filter(study=study, is_imported=False).aggregate(**sums, open=held))


def inbox_entries(study: Study, member: User | None) -> list[InboxEntry]:
    """Return the number of responses that await review, for the study's inbox; one query."""
    figures = WritingTask.objects.filter(study=study, is_imported=False, state=TaskState.SUBMITTED).aggregate(
        n=Count("id", filter=_WAITS),
        assigned=Count("id", filter=_WAITS & assignees.of(member)),
        oldest=Min("submitted_at", filter=_WAITS),
        erased=Count("id", filter=_ERASED),
    )
    erased = figures["erased"]
    notices = (f"In addition, {erased} erased before review and not paid yet",) if erased else ()
    url = reverse("review_queue", args=[study.slug])
    assigned_url, oldest = f"{url}?assigned={assignees.MINE}", figures["oldest"]
    if not figures["n"]:
        url = f"{url}?list=erased"
    return [
        InboxEntry("Responses to review", figures["n"], url, "", figures["assigned"], assigned_url, oldest, notices)
    ]


def filter_by_signals(tasks: Sequence[WritingTask], filters: QueueFilter) -> list[WritingTask]:
    """Keep only tasks with signals if the filter requires this."""
    if not filters.signals:
        return list(tasks)
    flagged = signal_display.flag_titles(tasks)
    return [task for task in tasks if task.pk in flagged]


def take_next(
    *, study: Study, by: User, now: datetime, filters: QueueFilter | None = None, after: WritingTask | None = None
) -> WritingTask | None:
    """Lock and return the next response for a reviewer: the one that they already hold, else the oldest free one.

    `after` is the response that they have just skipped: the search starts behind it and wraps around.
    """
    filters = filters or QueueFilter()
    candidates = with_log(_filtered(study, filters).filter(response__erased_at__isnull=True))
    candidates = candidates.filter(assignees.not_of_others(study, by))
    return REVIEW_LOCK.take_next(candidates, by, now, after=after, fits=lambda tasks: filter_by_signals(tasks, filters))


def hold(*, task: WritingTask, by: User, now: datetime) -> bool:
    """Lock a response for review, or extend the lock; return whether the reviewer has it now."""
    return REVIEW_LOCK.hold(task, by, now)


def take_over(*, task: WritingTask, by: User, now: datetime) -> bool:
    """Take over another reviewer's lock; return whether the response still awaits a decision."""
    return REVIEW_LOCK.take_over(task, by, now)


def release(*, task: WritingTask, by: User) -> None:
    """Release a reviewer's lock."""
    REVIEW_LOCK.let_go(task, by)


def with_log(tasks: QuerySet[WritingTask]) -> QuerySet[WritingTask]:
    """Fetch logs with their sessions, which signals are computed from."""
    sessions = Prefetch("log__sessions", EditingSession.objects.order_by("number", "id"))
    return tasks.select_related("topic", "log").prefetch_related(sessions)


def _is_in(name: str) -> Q:
    return {"waiting": _WAITS, "erased": _ERASED}.get(name, Q(state=LISTS[name]))


def _filtered(study: Study, filters: QueueFilter) -> QuerySet[WritingTask]:
    tasks = WritingTask.objects.filter(study=study, is_imported=False, response__isnull=False)
    if filters.style:
        tasks = tasks.filter(style__name=filters.style)
    if filters.writer:
        tasks = tasks.filter(participant__external_id=filters.writer)
    tasks = tasks.filter(filters.assigned)
    return tasks.filter(is_trial=True) if filters.trial else tasks
