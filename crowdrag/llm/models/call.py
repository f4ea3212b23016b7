"""One question to a model, with its answer: stored once, whoever asks."""

from datetime import datetime
from uuid import UUID

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from crowdrag.studies.models import Study

from ..enums import CallState, Fault
from .endpoint import Endpoint


class CallQuerySet(models.QuerySet["Call"]):
    """What can be said of calls."""

    def settled(self) -> "CallQuerySet":
        """Keep those that are answered from the store: asking again would send nothing."""
        return self.filter(
            Q(state=CallState.ANSWERED) | Q(state=CallState.FAILED, fault=Fault.INVALID), erased_at__isnull=True
        )

    def claimable(self, token: UUID, now: datetime) -> "CallQuerySet":
        """Keep those that the holder of this token may ask now: not settled, and nobody else's lease is running."""
        unsettled = (
            Q(state=CallState.OPEN) | (Q(state=CallState.FAILED) & ~Q(fault=Fault.INVALID)) | Q(erased_at__isnull=False)
        )
        free = Q(claimed_by=token) | Q(claimed_until__isnull=True) | Q(claimed_until__lt=now)
        return self.filter(unsettled & free)


class Call(models.Model):
    """A question in all that decides its answer: endpoint, model, messages, parameters, schema, number of the sample.

    `digest` is the SHA-256 of these. While somebody asks, the row is claimed: `claimed_by` until `claimed_until`,
    with `fence` counting the claims, so that whoever was too slow cannot write. Erasing the texts leaves the digest.
    """

    digest = models.CharField(max_length=64, unique=True)
    endpoint = models.ForeignKey(Endpoint, models.PROTECT, related_name="calls")
    model = models.CharField(_("model"), max_length=200)
    sample = models.PositiveIntegerField(_("sample"), default=0)
    purpose = models.CharField(_("purpose"), max_length=100)
    # The study that asked first; its deletion takes the texts along. Empty: an operator's check.
    study = models.ForeignKey(Study, models.CASCADE, null=True, blank=True, related_name="calls")
    state = models.CharField(_("state"), max_length=10, choices=CallState.choices, default=CallState.OPEN)
    fault = models.CharField(_("fault"), max_length=12, choices=Fault.choices, blank=True, default=Fault.NONE)
    error = models.TextField(_("error"), blank=True)

    request = models.JSONField(_("request"), null=True, blank=True)
    text = models.TextField(_("answer"), null=True, blank=True)  # noqa: DJ001 - null: erased, or the model gave none
    data = models.JSONField(_("parsed answer"), null=True, blank=True)
    logprobs = models.JSONField(_("log probabilities"), null=True, blank=True)
    refusal = models.TextField(_("refusal"), null=True, blank=True)  # noqa: DJ001 - null: none, or erased
    finish_reason = models.CharField(_("why it ended"), max_length=40, blank=True)

    prompt_tokens = models.PositiveBigIntegerField(_("input tokens"), null=True, blank=True)
    completion_tokens = models.PositiveBigIntegerField(_("output tokens"), null=True, blank=True)
    usage_estimated = models.BooleanField(_("tokens are an upper bound"), default=False)
    cost = models.DecimalField(_("cost (minor units)"), max_digits=30, decimal_places=10, null=True, blank=True)

    claimed_by = models.UUIDField(null=True, blank=True)
    claimed_until = models.DateTimeField(null=True, blank=True)
    fence = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(_("created"))
    answered_at = models.DateTimeField(_("answered"), null=True, blank=True)
    erased_at = models.DateTimeField(_("erased"), null=True, blank=True)

    objects = CallQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(digest__regex=r"^[0-9a-f]{64}$"), name="call_digest_is_sha256"),
            models.CheckConstraint(condition=Q(state__in=CallState.values), name="call_state_known"),
            models.CheckConstraint(condition=Q(fault__in=Fault.values), name="call_fault_known"),
            models.CheckConstraint(
                condition=Q(state=CallState.FAILED) ^ Q(fault=Fault.NONE), name="call_failed_has_a_fault"
            ),
            models.CheckConstraint(
                condition=~Q(state=CallState.ANSWERED)
                | Q(
                    answered_at__isnull=False,
                    prompt_tokens__isnull=False,
                    completion_tokens__isnull=False,
                    cost__isnull=False,
                ),
                name="call_answered_has_its_figures",
            ),
            models.CheckConstraint(
                condition=Q(state=CallState.OPEN) | Q(claimed_by__isnull=True, claimed_until__isnull=True),
                name="call_claimed_only_while_open",
            ),
            models.CheckConstraint(
                condition=Q(claimed_by__isnull=True, claimed_until__isnull=True)
                | Q(claimed_by__isnull=False, claimed_until__isnull=False),
                name="call_claim_and_lease_go_together",
            ),
            models.CheckConstraint(
                condition=Q(erased_at__isnull=True, request__isnull=False)
                | Q(
                    erased_at__isnull=False,
                    request__isnull=True,
                    text__isnull=True,
                    data__isnull=True,
                    logprobs__isnull=True,
                    refusal__isnull=True,
                    error="",
                ),
                name="call_erased_has_no_texts",
            ),
            models.CheckConstraint(condition=Q(cost__isnull=True) | Q(cost__gte=0), name="call_cost_not_negative"),
        ]
        indexes = [
            models.Index(fields=["study", "state"], name="call_study_state"),
            models.Index(fields=["claimed_by"], condition=Q(claimed_by__isnull=False), name="call_claimed_by"),
        ]

    def __str__(self) -> str:
        return self.digest[:12]
