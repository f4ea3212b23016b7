"""A study's tasks for the progress page, and their counts by style."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from django.db.models import Count, IntegerField, Min, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from crowdrag.studies.models import Study

from ..enums import TaskState
from ..models import TaskPayment, WritingTask

# The states in which a text was submitted.
HANDED_IN: Final = (TaskState.SUBMITTED, TaskState.ACCEPTED, TaskState.REJECTED, TaskState.REVISION)
FIELDS: Final = (
    "pk",
    "external_id",
    "topic__external_id",
    "style__name",
    "style__label",
    "participant_id",
    "participant__external_id",
    "state",
    "is_trial",
    "is_imported",
    "revises_id",
    "pay",
    "paid",
    "active_seconds",
    "submitted_at",
    "response__erased_at",
)


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """The facts of a task. Money in minor units; unknown values are None."""

    pk: int
    external_id: str
    topic: str
    style: str
    style_label: str
    participant_id: int | None
    participant: str | None
    state: str
    is_trial: bool
    is_imported: bool
    revises_id: int | None
    pay: int | None
    paid: int
    active_seconds: float | None
    submitted_at: datetime | None
    erased_at: datetime | None

    @property
    def is_erased(self) -> bool:
        """Whether the text was erased at the writer's request."""
        return self.erased_at is not None

    @property
    def is_handed_in(self) -> bool:
        """Whether its text was submitted."""
        return self.state in HANDED_IN


@dataclass(frozen=True, slots=True)
class TaskGroup:
    """The number of tasks of a style with the same state, and their pay. Money in minor units."""

    style: str
    style_label: str
    state: str
    is_trial: bool
    is_imported: bool
    is_erased: bool
    n: int
    # The total paid, and the number of tasks with payments.
    paid: int
    n_paid: int
    # The total promised, and the number of tasks with a known pay.
    pay: int
    n_with_pay: int


def load_tasks(study: Study, *, participants: Collection[int] | None = None) -> list[TaskFacts]:
    """Return the study's tasks in order of creation, all or those of some participants; always one query."""
    tasks = WritingTask.objects.filter(study=study)
    if participants is not None:
        tasks = tasks.filter(participant__in=participants)
    return [TaskFacts(*values) for values in with_paid(tasks).order_by("pk").values_list(*FIELDS)]


def count_groups(study: Study) -> list[TaskGroup]:
    """Count tasks by style and state in the database, in order of their first tasks; one query."""
    tasks = with_paid(WritingTask.objects.filter(study=study)).annotate(is_erased=Q(response__erased_at__isnull=False))
    alike = tasks.values("style__name", "style__label", "state", "is_trial", "is_imported", "is_erased")
    counted = alike.annotate(n=Count("pk"), first=Min("pk"), sum=Sum("paid"), n_paid=Count("pk", filter=Q(paid__gt=0)))
    return [
        TaskGroup(
            style=each["style__name"],
            style_label=each["style__label"],
            state=each["state"],
            is_trial=each["is_trial"],
            is_imported=each["is_imported"],
            is_erased=each["is_erased"],
            n=each["n"],
            paid=each["sum"],
            n_paid=each["n_paid"],
            pay=each["promised"],
            n_with_pay=each["n_with_pay"],
        )
        for each in counted.annotate(promised=Coalesce(Sum("pay"), 0), n_with_pay=Count("pay")).order_by("first")
    ]


def group_tasks(rows: Iterable[TaskFacts]) -> list[TaskGroup]:
    """Group tasks that are already loaded; same result as `count_groups`."""
    alike: dict[tuple[str, str, str, bool, bool, bool], list[TaskFacts]] = {}
    for row in rows:
        key = (row.style, row.style_label, row.state, row.is_trial, row.is_imported, row.is_erased)
        alike.setdefault(key, []).append(row)
    groups = []
    for key, these in alike.items():
        promised = [row.pay for row in these if row.pay is not None]
        paid = [row.paid for row in these]
        n_paid = sum(amount > 0 for amount in paid)
        groups.append(TaskGroup(*key, len(these), sum(paid), n_paid, sum(promised), len(promised)))
    return groups


def with_paid(tasks: QuerySet[WritingTask]) -> QuerySet[WritingTask]:
    """Annotate each task with the sum of its payments (`paid`)."""
    sums = TaskPayment.objects.filter(task=OuterRef("pk")).order_by().values("task").annotate(sum=Sum("amount"))
    paid = Coalesce(Subquery(sums.values("sum"), output_field=IntegerField()), 0)
    return tasks.annotate(paid=paid)


TRIAL = "trial"
NONE_YET = dict.fromkeys(TaskState.values, 0)


@dataclass
class StateCounts:
    """The number of a style's tasks in each state; `planned` is None if no plan has this style.

    Erased responses are counted only in `erased`, not in any state: they fill no slot and cannot be read.
    """

    name: str
    label: str
    planned: int | None = None
    counts: dict[str, int] = field(default_factory=NONE_YET.copy)
    erased: int = 0

    def add(self, group: TaskGroup) -> None:
        """Add the counts of a group."""
        if group.is_erased:
            self.erased += group.n
        else:
            self.counts[group.state] += group.n

    @property
    def done(self) -> int:
        """The number of filled slots: responses that are accepted or await review."""
        return self.counts[TaskState.ACCEPTED] + self.counts[TaskState.SUBMITTED]

    @property
    def missing(self) -> int | None:
        """The number of responses that are still to be written."""
        return None if self.planned is None else max(self.planned - self.done, 0)

    @property
    def share(self) -> float | None:
        """The share of planned responses that are done."""
        return min(self.done / self.planned, 1) if self.planned else None


def counts_by_style(groups: Iterable[TaskGroup], styles: Mapping[str, tuple[str, int]]) -> list[StateCounts]:
    """Return the state counts by style: first the plan's styles in order, then styles that are no longer planned.

    `styles` maps a style's name to its label and number of planned responses. All versions of a style are one entry.
    """
    counts = {name: StateCounts(name, label, number) for name, (label, number) in styles.items()}
    for group in groups:
        if not group.is_trial:
            counts.setdefault(group.style, StateCounts(group.style, group.style_label)).add(group)
    return list(counts.values())


def trial_counts(groups: Iterable[TaskGroup]) -> StateCounts | None:
    """Return the state counts of trial tasks; None if there are none."""
    tried = [group for group in groups if group.is_trial]
    if not tried:
        return None
    standing = StateCounts(TRIAL, "")
    for group in tried:
        standing.add(group)
    return standing


def total(standings: Iterable[StateCounts], label: str = "") -> StateCounts:
    """Return the sum over styles; `planned` is None only if it is None for all of them."""
    whole = StateCounts("", label)
    for each in standings:
        if each.planned is not None:
            whole.planned = (whole.planned or 0) + each.planned
        whole.erased += each.erased
        for state, number in each.counts.items():
            whole.counts[state] += number
    return whole
