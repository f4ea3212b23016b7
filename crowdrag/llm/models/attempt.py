"""One sending of a question: written before it is sent, so that nothing which may be billed goes unseen."""

from datetime import datetime

import pgtrigger
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from crowdrag.studies.models import Study

from ..enums import ATTEMPT_MOVES, AttemptState, Fault
from .call import Call
from .endpoint import Endpoint


class AttemptQuerySet(models.QuerySet["Attempt"]):
    """What can be said of attempts."""

    def in_flight(self, now: datetime) -> "AttemptQuerySet":
        """Keep those on their way whose sender is still known to live."""
        return self.filter(state=AttemptState.INTENDED, call__claimed_until__gte=now)

    def lost(self, now: datetime) -> "AttemptQuerySet":
        """Keep those on their way whose sender let its lease run out, or whose call somebody else claimed since."""
        alive = Call.objects.filter(
            pk=models.OuterRef("call_id"), fence=models.OuterRef("fence"), claimed_until__gte=now
        )
        return self.filter(~models.Exists(alive), state=AttemptState.INTENDED)

    def unsettled(self) -> "AttemptQuerySet":
        """Keep those that are charged at their upper bound because their outcome is not known."""
        return self.filter(state=AttemptState.UNKNOWN)

    def failed(self) -> "AttemptQuerySet":
        """Keep those that brought no usable answer."""
        return self.exclude(fault=Fault.NONE)


class Attempt(models.Model):
    """What was sent once, for which study, and what came of it. The sum of `cost` is the ledger.

    While the outcome is not known `cost` is the upper bound `bound`; afterwards what the server said it counted.
    """

    call = models.ForeignKey(Call, models.SET_NULL, null=True, related_name="attempts")
    # The study that pays; empty: an operator's check.
    study = models.ForeignKey(Study, models.CASCADE, null=True, blank=True, related_name="attempts")
    endpoint = models.ForeignKey(Endpoint, models.PROTECT, related_name="attempts")
    number = models.PositiveIntegerField(_("number"))
    fence = models.PositiveIntegerField()
    state = models.CharField(_("state"), max_length=10, choices=AttemptState.choices, default=AttemptState.INTENDED)
    fault = models.CharField(_("fault"), max_length=12, choices=Fault.choices, blank=True, default=Fault.NONE)
    error = models.TextField(_("error"), blank=True, help_text=_("Keys are cut out."))
    # What the server said where that could not be used: the next question quotes it.
    reply = models.TextField(_("unusable reply"), null=True, blank=True)  # noqa: DJ001 - null: none, or erased
    http_status = models.PositiveSmallIntegerField(_("HTTP status"), null=True, blank=True)
    retry_after = models.FloatField(_("asked to wait (s)"), null=True, blank=True)
    prompt_tokens = models.PositiveBigIntegerField(_("input tokens"), null=True, blank=True)
    completion_tokens = models.PositiveBigIntegerField(_("output tokens"), null=True, blank=True)
    usage_estimated = models.BooleanField(_("tokens are an upper bound"), default=False)
    bound = models.DecimalField(_("cost at most (minor units)"), max_digits=30, decimal_places=10)
    cost = models.DecimalField(_("cost (minor units)"), max_digits=30, decimal_places=10)
    currency = models.CharField(_("currency"), max_length=3)
    started_at = models.DateTimeField(_("sent"))
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)
    latency = models.FloatField(_("seconds"), null=True, blank=True)

    objects = AttemptQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["call", "number"], name="attempt_number_unique_per_call"),
            models.CheckConstraint(condition=Q(state__in=AttemptState.values), name="attempt_state_known"),
            models.CheckConstraint(condition=Q(fault__in=Fault.values), name="attempt_fault_known"),
            models.CheckConstraint(condition=Q(number__gte=1), name="attempt_number_positive"),
            models.CheckConstraint(condition=Q(cost__gte=0, bound__gte=0), name="attempt_cost_not_negative"),
            models.CheckConstraint(
                condition=~Q(state__in=[AttemptState.INTENDED, AttemptState.UNKNOWN]) | Q(cost=F("bound")),
                name="attempt_unknown_costs_its_bound",
            ),
            models.CheckConstraint(
                condition=Q(state=AttemptState.INTENDED) ^ Q(ended_at__isnull=False),
                name="attempt_ended_unless_on_its_way",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=[AttemptState.FAILED, AttemptState.UNKNOWN]) | ~Q(fault=Fault.NONE),
                name="attempt_failed_has_a_fault",
            ),
            models.CheckConstraint(condition=Q(currency__regex=r"^[A-Z]{3}$"), name="attempt_currency_is_a_code"),
        ]
        indexes = [
            models.Index(fields=["endpoint"], condition=Q(state=AttemptState.INTENDED), name="attempt_on_its_way"),
            models.Index(fields=["study", "state"], name="attempt_study_state"),
        ]
        triggers = [
            pgtrigger.FSM(
                name="state_moves_forward", field="state", transitions=[(str(a), str(b)) for a, b in ATTEMPT_MOVES]
            ),
            pgtrigger.Protect(
                name="bound_stays",
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__bound__df=pgtrigger.F("new__bound")),
            ),
            pgtrigger.Protect(
                name="settled_cost_stays",
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(
                    old__state__in=[str(AttemptState.ANSWERED), str(AttemptState.FAILED)],
                    old__cost__df=pgtrigger.F("new__cost"),
                ),
            ),
        ]
