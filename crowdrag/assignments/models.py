"""Abstract models that writing tasks and judging assignments share."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import pgtrigger
from django.conf import settings
from django.db import models
from django.utils.functional import Promise

if TYPE_CHECKING:
    from crowdrag.studies.models import Participant

LONGEST_REASON = 200
#: What people read for recorded causes; empty if the state says it already.
DETAILS: Final = {
    "claimed": "",
    "claimed for the trial": "trial",
    "came back": "continued",
    "given back": "",
    "handed in late": "late, and its place was taken",
    "handed in late, while a place was free": "late, but a place was free",
    "handed in late, when its place was gone": "late, and its place was taken",
    "lease over": "time over",
    "sent back": "",
    "sent back for revision": "revision",
    "taken up": "counts now",
    "undone": "decision undone",
    "withdrew": "",
}


@dataclass(frozen=True)
class WorkTexts:
    """Messages to participants about one kind of work; `%(state)s` and `%(reason)s` are filled in."""

    not_allowed: Promise
    left_study: Promise
    blocked: Promise
    nothing_left: Promise
    under_review: Promise
    erased: Promise
    needs_reason: Promise


class PaidWork(models.Model):
    """One piece of paid work that is or was assigned to a participant.

    Each kind has states of its own; all have `SUBMITTED`, `ACCEPTED` and `REJECTED`.
    """

    TEXTS: ClassVar[WorkTexts]
    # Relations read together with a locked row.
    RELATED: ClassVar[tuple[str, ...]]
    state: Any
    participant: "Participant | None"
    participant_id: int | None
    transitions: Any
    payments: Any
    if TYPE_CHECKING:

        @property
        def currency(self) -> str:
            """The currency of the pay."""

    # The pay in minor units of the study's currency, as promised when the work was claimed.
    pay = models.PositiveIntegerField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    # From claim (judging) or first event (writing) to submission, without breaks.
    seconds = models.FloatField(null=True, blank=True)
    active_seconds = models.FloatField(null=True, blank=True)
    # The reviewer who has it open, and until when nobody else gets it.
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    reviewing_until = models.DateTimeField(null=True, blank=True)

    # The reviewer responsible for it. Others may decide as well.
    assignee = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        abstract = True

    @property
    def status(self) -> str:
        """The state in the participant's words."""
        return str(self.get_state_display())  # type: ignore[attr-defined]


class Transition(models.Model):
    """A state change with its cause; the record is append-only. The note is shown to the participant."""

    cause = models.CharField(max_length=200)
    note = models.TextField(blank=True)
    at = models.DateTimeField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        abstract = True
        triggers = [pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update)]

    @property
    def detail(self) -> str:
        """The cause for people to read; empty if it says no more than the state."""
        cause = DETAILS.get(self.cause, self.cause)
        return "" if cause == self.get_after_display() else cause  # type: ignore[attr-defined] # each kind has its states


class Payment(models.Model):
    """Money owed for a piece of work, in minor units of the currency. Promised amounts are never withdrawn."""

    amount = models.PositiveIntegerField("amount (minor units)")
    reason = models.CharField("reason", max_length=LONGEST_REASON)
    at = models.DateTimeField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        abstract = True
        constraints = [models.CheckConstraint(condition=~models.Q(reason=""), name="%(class)s_has_a_reason")]
        triggers = [pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update)]
