"""Endpoints that the operator allows, questions with their answers, attempts to send them, and spending of studies."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import pgtrigger
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import CheckConstraint, F, Q

from crowdrag.studies import codes
from crowdrag.studies.models import Study

from . import GatewayError, addresses
from .enums import ATTEMPT_MOVES, AttemptState, CallState, Fault, TokenParameter

# Only variables of this form are ever read, so that no endpoint can be pointed at another secret of the system.
KEY_VARIABLE = r"^CROWDRAG_LLM_KEY_[A-Z0-9_]+$"
UNCLAIMED = Q(claimed_by__isnull=True, claimed_until__isnull=True)
PRICE: Any = {"max_digits": 16, "decimal_places": 4, "default": 0, "validators": [MinValueValidator(0)]}


def host_of(url: str) -> str:
    """Return the host of a URL, in lower case."""
    return (urlsplit(url).hostname or "").lower()


def _check(name: str, condition: Q) -> CheckConstraint:
    return CheckConstraint(condition=condition, name=name)


class EndpointQuerySet(models.QuerySet["Endpoint"]):
    """Queries of endpoints."""

    def allowed(self) -> "EndpointQuerySet":
        """Keep endpoints that the operator allows."""
        return self.filter(is_allowed=True)


class Endpoint(models.Model):
    """One model on one server, or on several that are alike: their addresses, prices and capabilities.

    The key itself is never stored: `key_variable` names the environment variable that holds it, and `key_host` the only
    host that it may be sent to.
    """

    name = models.CharField("name", max_length=100, unique=True)
    base_url = models.CharField(
        "base URL", max_length=500, help_text="URL of an OpenAI-compatible server, usually ending in /v1."
    )
    more_urls = models.TextField(
        "base URLs of further servers",
        blank=True,
        default="",
        db_default="",
        help_text=(
            "One per line: servers with the same model and the same key. Calls go to the server with the most free "
            "slots. An answer from one of them is stored as an answer of all."
        ),
    )
    model = models.CharField("model", max_length=200, help_text="Name of the model on the server.")
    key_variable = models.CharField(
        "key variable",
        max_length=100,
        blank=True,
        validators=[RegexValidator(KEY_VARIABLE, "Enter the name of a variable that starts with CROWDRAG_LLM_KEY_.")],
        help_text=(
            "Name of the environment variable with the key, CROWDRAG_LLM_KEY_…. Leave empty if no key is needed."
        ),
    )
    key_host = models.CharField(
        "host of the key",
        max_length=255,
        blank=True,
        help_text="The only host that the key may be sent to. With several servers: their hosts, separated by commas.",
    )
    input_price = models.DecimalField("price per million input tokens (minor units)", **PRICE)
    output_price = models.DecimalField("price per million output tokens (minor units)", **PRICE)
    currency = models.CharField("currency", max_length=3, default="USD", validators=[codes.validate_currency])
    concurrency = models.PositiveSmallIntegerField(
        "maximum concurrent calls",
        default=4,
        validators=[MinValueValidator(1), MaxValueValidator(1000)],
        help_text="To each server.",
    )
    timeout = models.PositiveIntegerField(
        "timeout per call (seconds)", default=120, validators=[MinValueValidator(1), MaxValueValidator(3600)]
    )
    max_tokens = models.PositiveIntegerField(
        "maximum answer length (tokens)",
        default=1024,
        validators=[MinValueValidator(1)],
        help_text="Used if a request sets no limit. It determines the maximum cost of a call.",
    )
    token_parameter = models.CharField(
        "name of the limit parameter",
        max_length=30,
        choices=TokenParameter.choices,
        default=TokenParameter.MAX_TOKENS,
    )
    supports_json_schema = models.BooleanField("JSON schema", default=False)
    supports_logprobs = models.BooleanField("log probabilities", default=False)
    supports_batch = models.BooleanField("batch", default=False)
    is_local = models.BooleanField(
        "local",
        default=False,
        help_text="Allows addresses on this machine or in a private network, and connections without TLS.",
    )
    is_allowed = models.BooleanField("allowed", default=False, help_text="Studies may use this endpoint.")
    paused_until = models.DateTimeField("rate limited until", null=True, blank=True, editable=False)
    created_at = models.DateTimeField("created", auto_now_add=True)
    changed_at = models.DateTimeField("changed", auto_now=True)

    objects = EndpointQuerySet.as_manager()

    class Meta:
        constraints = [
            _check("endpoint_name_not_empty", ~Q(name="")),
            _check("endpoint_model_not_empty", ~Q(model="")),
            _check("endpoint_base_url_is_http", Q(base_url__regex=r"^https?://")),
            _check("endpoint_remote_uses_tls", Q(is_local=True) | Q(base_url__startswith="https://")),
            _check("endpoint_key_variable_has_prefix", Q(key_variable="") | Q(key_variable__regex=KEY_VARIABLE)),
            _check("endpoint_key_bound_to_a_host", Q(key_variable="") | ~Q(key_host="")),
            _check("endpoint_prices_not_negative", Q(input_price__gte=0, output_price__gte=0)),
            _check("endpoint_currency_is_a_code", Q(currency__regex=r"^[A-Z]{3}$")),
            _check("endpoint_concurrency_in_range", Q(concurrency__gte=1, concurrency__lte=1000)),
            _check("endpoint_timeout_in_range", Q(timeout__gte=1, timeout__lte=3600)),
            _check("endpoint_max_tokens_positive", Q(max_tokens__gte=1)),
            _check("endpoint_token_parameter_known", Q(token_parameter__in=TokenParameter.values)),
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """Reject an address that would be rejected when a call is sent, and a key that is bound to another host."""
        for field, urls in (("base_url", [self.base_url]), ("more_urls", self.server_urls[1:])):
            for url in filter(None, urls):
                try:
                    host, _port = addresses.check_url(url, is_local=self.is_local)
                except GatewayError as error:
                    raise ValidationError({field: str(error)}) from error
                if self.key_variable and host not in self.key_hosts:
                    message = f"The key is sent to {host} only if you enter this host here."
                    raise ValidationError({"key_host": message})

    @property
    def server_urls(self) -> list[str]:
        """The base URLs of its servers, the first one first."""
        return [self.base_url, *self.more_urls.split()]

    @property
    def slots(self) -> int:
        """How many calls all its servers take at once."""
        return self.concurrency * len(self.server_urls)

    @property
    def hosts(self) -> list[str]:
        """The hosts of its servers, each once."""
        return list(dict.fromkeys(host_of(url) for url in self.server_urls))

    @property
    def key_hosts(self) -> list[str]:
        """The hosts that its key may be sent to."""
        return [host.strip().lower() for host in self.key_host.split(",") if host.strip()]

    @property
    def is_free(self) -> bool:
        """Whether calls cost nothing, so that no budget is needed."""
        return not self.input_price and not self.output_price

    @property
    def identity(self) -> str:
        """The value that identifies this endpoint in the digest of a call.

        A local server's port may change at every start, so a local endpoint is identified by its name; any other by its
        address, so that two endpoints which differ only in key or price share their answers. Further servers do not
        count: they have the same model.
        """
        return f"local:{self.name}" if self.is_local else self.base_url.rstrip("/")


#: No claim lasts longer. One that ends later was made before the clock was set back.
LONGEST_CLAIM = timedelta(minutes=10)


def _holds(field: str, now: datetime) -> Q:
    """Return whether a claim until the time in a field holds."""
    return Q(**{f"{field}__gte": now, f"{field}__lte": now + LONGEST_CLAIM})


class CallQuerySet(models.QuerySet["Call"]):
    """Queries of calls."""

    def settled(self) -> "CallQuerySet":
        """Keep calls that are answered from the store: asking again would send nothing."""
        return self.filter(
            Q(state=CallState.ANSWERED) | Q(state=CallState.FAILED, fault=Fault.INVALID), erased_at__isnull=True
        )

    def claimable(self, token: UUID, now: datetime) -> "CallQuerySet":
        """Keep calls that the holder of this token may send now: not settled, and under nobody else's lease."""
        unsettled = (
            Q(state=CallState.OPEN) | (Q(state=CallState.FAILED) & ~Q(fault=Fault.INVALID)) | Q(erased_at__isnull=False)
        )
        free = Q(claimed_by=token) | Q(claimed_until__isnull=True) | ~_holds("claimed_until", now)
        return self.filter(unsettled & free)


class Call(models.Model):
    """A question and everything that determines its answer: endpoint, model, messages, parameters, schema, sample.

    `digest` is the SHA-256 of these. While it is being sent, the row is claimed: `claimed_by` until `claimed_until`,
    with `fence` counting the claims, so that a process that was too slow cannot write. Erasing the texts leaves the
    digest.
    """

    digest = models.CharField(max_length=64)
    endpoint = models.ForeignKey(Endpoint, models.PROTECT, related_name="calls")
    model = models.CharField("model", max_length=200)
    sample = models.PositiveIntegerField("sample", default=0)
    purpose = models.CharField("purpose", max_length=100)
    # The study that asked first; its deletion also deletes the texts. Empty: an operator's check.
    study = models.ForeignKey(Study, models.CASCADE, null=True, blank=True, related_name="calls", db_index=False)
    state = models.CharField("state", max_length=10, choices=CallState.choices, default=CallState.OPEN)
    fault = models.CharField("fault", max_length=12, choices=Fault.choices, blank=True, default=Fault.NONE)
    error = models.TextField("error", blank=True)

    request = models.JSONField("request", null=True, blank=True)
    text = models.TextField("answer", null=True, blank=True)  # noqa: DJ001 - null: erased, or the model gave none
    data = models.JSONField("parsed answer", null=True, blank=True)
    logprobs = models.JSONField("log probabilities", null=True, blank=True)
    refusal = models.TextField("refusal", null=True, blank=True)  # noqa: DJ001 - null: none, or erased
    finish_reason = models.CharField("finish reason", max_length=40, blank=True)

    prompt_tokens = models.PositiveBigIntegerField("input tokens", null=True, blank=True)
    completion_tokens = models.PositiveBigIntegerField("output tokens", null=True, blank=True)
    usage_estimated = models.BooleanField("tokens are an upper bound", default=False)
    cost = models.DecimalField("cost (minor units)", max_digits=30, decimal_places=10, null=True, blank=True)

    claimed_by = models.UUIDField(null=True, blank=True)
    claimed_until = models.DateTimeField(null=True, blank=True)
    fence = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField("created")
    answered_at = models.DateTimeField("answered", null=True, blank=True)
    erased_at = models.DateTimeField("erased", null=True, blank=True)

    objects = CallQuerySet.as_manager()

    class Meta:
        constraints = [
            # Not `unique=True`, which makes a second index for searches by pattern.
            models.UniqueConstraint(fields=["digest"], name="call_digest_once"),
            _check("call_digest_is_sha256", Q(digest__regex=r"^[0-9a-f]{64}$")),
            _check("call_state_known", Q(state__in=CallState.values)),
            _check("call_fault_known", Q(fault__in=Fault.values)),
            _check("call_failed_has_a_fault", Q(state=CallState.FAILED) ^ Q(fault=Fault.NONE)),
            _check(
                "call_answered_has_its_figures",
                ~Q(state=CallState.ANSWERED)
                | Q(
                    answered_at__isnull=False,
                    prompt_tokens__isnull=False,
                    completion_tokens__isnull=False,
                    cost__isnull=False,
                ),
            ),
            _check("call_claimed_only_while_open", Q(state=CallState.OPEN) | UNCLAIMED),
            _check(
                "call_claim_and_lease_go_together",
                UNCLAIMED | Q(claimed_by__isnull=False, claimed_until__isnull=False),
            ),
            _check(
                "call_erased_has_no_texts",
                Q(erased_at__isnull=True, request__isnull=False)
                | Q(
                    erased_at__isnull=False,
                    request__isnull=True,
                    text__isnull=True,
                    data__isnull=True,
                    logprobs__isnull=True,
                    refusal__isnull=True,
                    error="",
                ),
            ),
            _check("call_cost_not_negative", Q(cost__isnull=True) | Q(cost__gte=0)),
        ]
        indexes = [
            models.Index(fields=["study", "state"], name="call_study_state"),
            models.Index(fields=["claimed_by"], condition=Q(claimed_by__isnull=False), name="call_claimed_by"),
        ]

    def __str__(self) -> str:
        return self.digest[:12]


class AttemptQuerySet(models.QuerySet["Attempt"]):
    """Queries of attempts."""

    def in_flight(self, now: datetime) -> "AttemptQuerySet":
        """Keep attempts in flight whose sender is still known to be alive."""
        return self.filter(_holds("call__claimed_until", now), state=AttemptState.INTENDED)

    def lost(self, now: datetime) -> "AttemptQuerySet":
        """Keep attempts in flight whose sender's lease expired, or whose call another process has claimed since."""
        alive = Call.objects.filter(
            _holds("claimed_until", now), pk=models.OuterRef("call_id"), fence=models.OuterRef("fence")
        )
        return self.filter(~models.Exists(alive), state=AttemptState.INTENDED)

    def unsettled(self) -> "AttemptQuerySet":
        """Keep attempts that are charged at their upper bound because their outcome is not known."""
        return self.filter(state=AttemptState.UNKNOWN)


class Attempt(models.Model):
    """One attempt to send a question: for which study, and its outcome. The sum of `cost` is the ledger.

    While the outcome is not known, `cost` is the upper bound `bound`; afterwards it follows the usage that the server
    reported.
    """

    call = models.ForeignKey(Call, models.SET_NULL, null=True, related_name="attempts", db_index=False)
    # The study that pays; empty: an operator's check.
    study = models.ForeignKey(Study, models.CASCADE, null=True, blank=True, related_name="attempts", db_index=False)
    endpoint = models.ForeignKey(Endpoint, models.PROTECT, related_name="attempts")
    number = models.PositiveIntegerField("number")
    fence = models.PositiveIntegerField()
    state = models.CharField("state", max_length=10, choices=AttemptState.choices, default=AttemptState.INTENDED)
    fault = models.CharField("fault", max_length=12, choices=Fault.choices, blank=True, default=Fault.NONE)
    error = models.TextField("error", blank=True, help_text="Keys are removed.")
    # The server's reply if it could not be used: the next attempt quotes it.
    reply = models.TextField("unusable reply", null=True, blank=True)  # noqa: DJ001 - null: none, or erased
    http_status = models.PositiveSmallIntegerField("HTTP status", null=True, blank=True)
    retry_after = models.FloatField("retry after (s)", null=True, blank=True)
    prompt_tokens = models.PositiveBigIntegerField("input tokens", null=True, blank=True)
    completion_tokens = models.PositiveBigIntegerField("output tokens", null=True, blank=True)
    usage_estimated = models.BooleanField("tokens are an upper bound", default=False)
    bound = models.DecimalField("maximum cost (minor units)", max_digits=30, decimal_places=10)
    cost = models.DecimalField("cost (minor units)", max_digits=30, decimal_places=10)
    currency = models.CharField("currency", max_length=3)
    started_at = models.DateTimeField("sent")
    ended_at = models.DateTimeField("ended", null=True, blank=True)
    latency = models.FloatField("seconds", null=True, blank=True)

    objects = AttemptQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["call", "number"], name="attempt_number_unique_per_call"),
            _check("attempt_state_known", Q(state__in=AttemptState.values)),
            _check("attempt_fault_known", Q(fault__in=Fault.values)),
            _check("attempt_number_positive", Q(number__gte=1)),
            _check("attempt_cost_not_negative", Q(cost__gte=0, bound__gte=0)),
            _check(
                "attempt_unknown_costs_its_bound",
                ~Q(state__in=[AttemptState.INTENDED, AttemptState.UNKNOWN]) | Q(cost=F("bound")),
            ),
            _check("attempt_ended_unless_on_its_way", Q(state=AttemptState.INTENDED) ^ Q(ended_at__isnull=False)),
            _check(
                "attempt_failed_has_a_fault",
                ~Q(state__in=[AttemptState.FAILED, AttemptState.UNKNOWN]) | ~Q(fault=Fault.NONE),
            ),
            _check("attempt_currency_is_a_code", Q(currency__regex=r"^[A-Z]{3}$")),
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


class StudySpend(models.Model):
    """The sum of a study's attempts: `settled` for known outcomes, `held` for those in flight or unknown.

    A counter in addition to the sum, because a budget can be enforced under concurrency only by a conditional update of
    one row. `ledger.audit` compares the two.
    """

    study = models.OneToOneField(Study, models.CASCADE, related_name="spend")
    held = models.DecimalField("reserved (minor units)", max_digits=30, decimal_places=10, default=0)
    settled = models.DecimalField("settled (minor units)", max_digits=30, decimal_places=10, default=0)

    class Meta:
        verbose_name_plural = "spend"
        constraints = [
            _check("spend_not_negative", Q(held__gte=0, settled__gte=0)),
        ]

    @property
    def total(self) -> Decimal:
        """The study's maximum spending so far."""
        return Decimal(self.held + self.settled)
