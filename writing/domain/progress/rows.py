"""A study's tasks as progress is reckoned from them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import Count, IntegerField, Min, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from crowdrag.studies.models import Study

from ...enums import TaskState
from ...models import TaskPayment, WritingTask

# A text was handed in.
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
class Row:
    """A task. Money in minor units; what is not known is None."""

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
        """Whether its writer had the text erased: it was paid, and it is no longer there."""
        return self.erased_at is not None

    @property
    def is_handed_in(self) -> bool:
        """Whether its text was handed in."""
        return self.state in HANDED_IN


@dataclass(frozen=True, slots=True)
class Group:
    """Tasks of a style that stand alike, and how many they are. Money in minor units."""

    style: str
    style_label: str
    state: str
    is_trial: bool
    is_imported: bool
    is_erased: bool
    n: int
    # What was paid for all of them, and for how many of them anything was.
    paid: int
    n_paid: int
    # What was promised for those whose pay is known, and how many these are.
    pay: int
    n_with_pay: int


def load(study: Study) -> list[Row]:
    """Return the study's tasks in the order in which they were made: one query, however many there are."""
    return [
        Row(*values)
        for values in with_paid(WritingTask.objects.filter(study=study)).order_by("pk").values_list(*FIELDS)
    ]


def groups(study: Study) -> list[Group]:
    """Return how many tasks stand where, in the order of their first tasks: one query, reckoned in the database."""
    tasks = with_paid(WritingTask.objects.filter(study=study)).annotate(is_erased=Q(response__erased_at__isnull=False))
    alike = tasks.values("style__name", "style__label", "state", "is_trial", "is_imported", "is_erased")
    counted = alike.annotate(n=Count("pk"), first=Min("pk"), sum=Sum("paid"), n_paid=Count("pk", filter=Q(paid__gt=0)))
    return [
        Group(
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


def grouped(rows: Iterable[Row]) -> list[Group]:
    """Return the same of tasks that are loaded already."""
    alike: dict[tuple[str, str, str, bool, bool, bool], list[Row]] = {}
    for row in rows:
        key = (row.style, row.style_label, row.state, row.is_trial, row.is_imported, row.is_erased)
        alike.setdefault(key, []).append(row)
    found = []
    for key, these in alike.items():
        promised = [row.pay for row in these if row.pay is not None]
        paid = [row.paid for row in these]
        n_paid = sum(amount > 0 for amount in paid)
        found.append(Group(*key, len(these), sum(paid), n_paid, sum(promised), len(promised)))
    return found


def with_paid(tasks: QuerySet[WritingTask]) -> QuerySet[WritingTask]:
    """Return tasks, each with what was paid for it (`paid`)."""
    sums = TaskPayment.objects.filter(task=OuterRef("pk")).order_by().values("task").annotate(sum=Sum("amount"))
    paid = Coalesce(Subquery(sums.values("sum"), output_field=IntegerField()), 0)
    return tasks.annotate(paid=paid)
