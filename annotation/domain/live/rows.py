"""A campaign's assignments and questionnaires as its figures are reckoned from them: one query each."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import Count, F, IntegerField, OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce

from ...models import Assignment, AssignmentPayment, Campaign, Questionnaire

FIELDS: Final = (
    "pk",
    "external_id",
    "questionnaire_id",
    "participant_id",
    "participant__external_id",
    "state",
    "pay",
    "paid",
    "assigned_at",
    "submitted_at",
    "seconds",
    "active_seconds",
)


@dataclass(frozen=True, slots=True)
class Row:
    """An assignment. Money in minor units; what is not known is None."""

    pk: int
    external_id: str
    questionnaire: int
    participant_id: int
    participant: str
    state: str
    pay: int | None
    paid: int
    assigned_at: datetime | None
    submitted_at: datetime | None
    seconds: float | None
    active_seconds: float | None


@dataclass(frozen=True, slots=True)
class Sheet:
    """A questionnaire: `asked` is how many places it has."""

    pk: int
    name: str
    position: int | None
    asked: int


def load(campaign: Campaign) -> list[Row]:
    """Return the campaign's assignments in the order in which they were made."""
    sums = AssignmentPayment.objects.filter(assignment=OuterRef("pk")).order_by().values("assignment")
    paid = Coalesce(Subquery(sums.annotate(sum=Sum("amount")).values("sum"), output_field=IntegerField()), 0)
    found = Assignment.objects.filter(questionnaire__campaign=campaign).annotate(paid=paid).order_by("pk")
    return [Row(*values) for values in found.values_list(*FIELDS).iterator(chunk_size=2000)]


def sheets(campaign: Campaign) -> list[Sheet]:
    """Return the campaign's questionnaires in the order in which they are handed out."""
    found = Questionnaire.objects.filter(campaign=campaign).annotate(asked=Count("places"))
    order = (F("position").asc(nulls_last=True), "pk")
    return [Sheet(*row) for row in found.order_by(*order).values_list("pk", "external_id", "position", "asked")]
