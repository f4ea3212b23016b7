"""Payment lists: amounts that staff pay outside CrowdRAG, and what was done with each list.

A line's amount is fixed when the list is created, so that the paid file and the list always agree. While a list is open
or paid, its amounts are no longer owed. A cancelled list has no effect.
"""

import uuid

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import Q

from crowdrag.studies.models import Participant, Study

from .enums import ListEventKind, ListState, PaymentMethod


class PaymentListQuerySet(models.QuerySet["PaymentList"]):
    """Queries of payment lists."""

    def with_totals(self) -> "PaymentListQuerySet":
        """Annotate each list with its number of participants and its sum in minor units."""
        return self.annotate(people=models.Count("lines"), total=models.Sum("lines__amount"))


class PaymentList(models.Model):
    """Amounts for several participants, paid together. The key identifies the request: same key, same list."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="payment_lists")
    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    method = models.CharField(max_length=8, choices=PaymentMethod.choices)
    state = models.CharField(max_length=9, choices=ListState.choices, default=ListState.OPEN)
    reference = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    paid_at = models.DateTimeField(null=True, blank=True)
    paid_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")

    objects = PaymentListQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(method__in=PaymentMethod.values), name="payment_list_method_known"),
            models.CheckConstraint(condition=Q(state__in=ListState.values), name="payment_list_state_known"),
            models.CheckConstraint(
                condition=Q(state=ListState.PAID, paid_at__isnull=False, paid_by__isnull=False) & ~Q(reference="")
                | ~Q(state=ListState.PAID) & Q(paid_at__isnull=True, paid_by__isnull=True, reference=""),
                name="payment_list_paid_has_who_when_and_reference",
            ),
        ]
        indexes = [models.Index(fields=["study", "-created_at"], name="payment_list_newest")]

    def __str__(self) -> str:
        return f"{self.get_method_display()}, {self.created_at:%Y-%m-%d %H:%M}"


class PaymentListLine(models.Model):
    """One participant's amount on a list, in minor units of the study's currency."""

    list = models.ForeignKey(PaymentList, models.CASCADE, related_name="lines")
    participant = models.ForeignKey(Participant, models.CASCADE, related_name="payment_lines")
    amount = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["list", "participant"], name="payment_line_once_per_person"),
            models.CheckConstraint(condition=Q(amount__gte=1), name="payment_line_amount_positive"),
        ]
        triggers = [pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update)]


class PaymentListEvent(models.Model):
    """What a member of staff did with a list; the record is append-only."""

    list = models.ForeignKey(PaymentList, models.CASCADE, related_name="events")
    kind = models.CharField(max_length=10, choices=ListEventKind.choices)
    reference = models.CharField(max_length=200, blank=True)
    at = models.DateTimeField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=ListEventKind.values), name="payment_list_event_kind_known")
        ]
        triggers = [pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update)]
