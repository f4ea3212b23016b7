"""Abstract models that writing tasks and judging assignments share."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import pgtrigger
from django.conf import settings
from django.db import models
from django.utils.functional import Promise

if TYPE_CHECKING:
    from crowdrag.studies.models import Participant

LONGEST_REASON = 200


@dataclass(frozen=True)
class WorkTexts:
    """What people are told of one kind of work; `%(state)s` and `%(reason)s` are filled in."""

    not_allowed: Promise
    left_study: Promise
    blocked: Promise
    nothing_left: Promise
    under_review: Promise
    erased: Promise
    needs_reason: Promise


class PaidWork(models.Model):
    """One piece of work that a participant has or had in hand, and is paid for.

    Each kind has states of its own; all have `SUBMITTED`, `ACCEPTED` and `REJECTED`.
    """

    TEXTS: ClassVar[WorkTexts]
    # What is read along with a row that is locked.
    RELATED: ClassVar[tuple[str, ...]]
    state: Any
    participant: "Participant | None"
    participant_id: int | None
    transitions: Any
    payments: Any
    if TYPE_CHECKING:

        @property
        def currency(self) -> str:
            """The currency of what it pays."""

    # What it pays, in minor units of the study's currency, as was said when it was claimed.
    pay = models.PositiveIntegerField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    # From claim (judging) or first event (writing) to submission, and without the time away from it.
    seconds = models.FloatField(null=True, blank=True)
    active_seconds = models.FloatField(null=True, blank=True)
    # Who has it open for review, and until when nobody else gets it.
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    reviewing_until = models.DateTimeField(null=True, blank=True)

    # Which reviewer is to decide about it. Others may decide as well: it says who takes care.
    assignee = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        abstract = True


class Transition(models.Model):
    """A change of state with its cause; the record is append-only. The note is for whoever does the work to read."""

    cause = models.CharField(max_length=200)
    note = models.TextField(blank=True)
    at = models.DateTimeField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        abstract = True
        triggers = [pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update)]


class Payment(models.Model):
    """Money that somebody is owed for a piece of work, in minor units of the currency. What was promised stays."""

    amount = models.PositiveIntegerField("amount (minor units)")
    reason = models.CharField("reason", max_length=LONGEST_REASON)
    at = models.DateTimeField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        abstract = True
        constraints = [models.CheckConstraint(condition=~models.Q(reason=""), name="%(class)s_has_a_reason")]
        triggers = [pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update)]
