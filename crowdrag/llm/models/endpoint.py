"""A server of a language model that the operator allows."""

from urllib.parse import urlsplit

from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from crowdrag.studies import codes

from ..enums import TokenParameter

# Only variables of this form are ever read, so that no endpoint can be pointed at another secret of the system.
KEY_VARIABLE = r"^CROWDRAG_LLM_KEY_[A-Z0-9_]+$"


class EndpointQuerySet(models.QuerySet["Endpoint"]):
    """What can be said of endpoints."""

    def allowed(self) -> "EndpointQuerySet":
        """Keep those that the operator allows to be asked."""
        return self.filter(is_allowed=True)

    def free(self) -> "EndpointQuerySet":
        """Keep those that cost nothing."""
        return self.filter(input_price=0, output_price=0)


class Endpoint(models.Model):
    """One model at one server: where it is, what it costs, what it can do.

    The key itself is never stored: `key_variable` names the environment variable that holds it, and `key_host` the
    one host that it may be sent to.
    """

    name = models.CharField(_("name"), max_length=100, unique=True)
    base_url = models.CharField(
        _("base URL"), max_length=500, help_text=_("Of an OpenAI-compatible server; usually ends in /v1.")
    )
    model = models.CharField(_("model"), max_length=200, help_text=_("As the server calls it."))
    key_variable = models.CharField(
        _("key variable"),
        max_length=100,
        blank=True,
        validators=[RegexValidator(KEY_VARIABLE, _("Name a variable that starts with CROWDRAG_LLM_KEY_."))],
        help_text=_("The environment variable that holds the key, CROWDRAG_LLM_KEY_…; empty where none is needed."),
    )
    key_host = models.CharField(
        _("host of the key"), max_length=255, blank=True, help_text=_("The one host that the key may be sent to.")
    )
    input_price = models.DecimalField(
        _("price per million input tokens (minor units)"),
        max_digits=16,
        decimal_places=4,
        default=0,
        validators=[MinValueValidator(0)],
    )
    output_price = models.DecimalField(
        _("price per million output tokens (minor units)"),
        max_digits=16,
        decimal_places=4,
        default=0,
        validators=[MinValueValidator(0)],
    )
    currency = models.CharField(_("currency"), max_length=3, default="USD", validators=[codes.validate_currency])
    concurrency = models.PositiveSmallIntegerField(
        _("calls at once"), default=4, validators=[MinValueValidator(1), MaxValueValidator(1000)]
    )
    timeout = models.PositiveIntegerField(
        _("seconds until a call is given up"), default=120, validators=[MinValueValidator(1), MaxValueValidator(3600)]
    )
    max_tokens = models.PositiveIntegerField(
        _("longest answer (tokens)"),
        default=1024,
        validators=[MinValueValidator(1)],
        help_text=_("Where a request does not say; what a call may cost at most follows from it."),
    )
    token_parameter = models.CharField(
        _("its name for that limit"), max_length=30, choices=TokenParameter.choices, default=TokenParameter.MAX_TOKENS
    )
    supports_json_schema = models.BooleanField(_("JSON schema"), default=False)
    supports_logprobs = models.BooleanField(_("log probabilities"), default=False)
    supports_batch = models.BooleanField(_("batch"), default=False)
    is_local = models.BooleanField(
        _("local"), default=False, help_text=_("May be on this machine or in a private network, and without TLS.")
    )
    is_allowed = models.BooleanField(_("allowed"), default=False, help_text=_("Studies may ask it."))
    resting_until = models.DateTimeField(_("asked us to wait until"), null=True, blank=True, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    changed_at = models.DateTimeField(_("changed"), auto_now=True)

    objects = EndpointQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~models.Q(name=""), name="endpoint_name_not_empty"),
            models.CheckConstraint(condition=~models.Q(model=""), name="endpoint_model_not_empty"),
            models.CheckConstraint(condition=models.Q(base_url__regex=r"^https?://"), name="endpoint_base_url_is_http"),
            models.CheckConstraint(
                condition=models.Q(is_local=True) | models.Q(base_url__startswith="https://"),
                name="endpoint_remote_uses_tls",
            ),
            models.CheckConstraint(
                condition=models.Q(key_variable="") | models.Q(key_variable__regex=KEY_VARIABLE),
                name="endpoint_key_variable_has_prefix",
            ),
            models.CheckConstraint(
                condition=models.Q(key_variable="") | ~models.Q(key_host=""), name="endpoint_key_bound_to_a_host"
            ),
            models.CheckConstraint(
                condition=models.Q(input_price__gte=0, output_price__gte=0), name="endpoint_prices_not_negative"
            ),
            models.CheckConstraint(
                condition=models.Q(currency__regex=r"^[A-Z]{3}$"), name="endpoint_currency_is_a_code"
            ),
            models.CheckConstraint(
                condition=models.Q(concurrency__gte=1, concurrency__lte=1000), name="endpoint_concurrency_in_range"
            ),
            models.CheckConstraint(
                condition=models.Q(timeout__gte=1, timeout__lte=3600), name="endpoint_timeout_in_range"
            ),
            models.CheckConstraint(condition=models.Q(max_tokens__gte=1), name="endpoint_max_tokens_positive"),
            models.CheckConstraint(
                condition=models.Q(token_parameter__in=TokenParameter.values), name="endpoint_token_parameter_known"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_free(self) -> bool:
        """Whether calls cost nothing, so that no budget is needed."""
        return not self.input_price and not self.output_price

    @property
    def host(self) -> str:
        """The host of its base URL, in lower case."""
        return (urlsplit(self.base_url).hostname or "").lower()

    @property
    def identity(self) -> str:
        """What stands for this endpoint in the digest of a call.

        A local server's port may change whenever it starts, so a local endpoint is known by its name; any other is
        known by its address, so that two endpoints which differ only in key or price share their answers.
        """
        return f"local:{self.name}" if self.is_local else self.base_url.rstrip("/")
