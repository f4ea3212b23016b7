"""A study's tasks as progress is reckoned from them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import IntegerField, OuterRef, Subquery, Sum
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


def load(study: Study) -> list[Row]:
    """Return the study's tasks in the order in which they were made: one query, however many there are."""
    sums = TaskPayment.objects.filter(task=OuterRef("pk")).order_by().values("task").annotate(sum=Sum("amount"))
    paid = Coalesce(Subquery(sums.values("sum"), output_field=IntegerField()), 0)
    tasks = WritingTask.objects.filter(study=study).annotate(paid=paid).order_by("pk")
    return [Row(*values) for values in tasks.values_list(*FIELDS).iterator(chunk_size=2000)]
