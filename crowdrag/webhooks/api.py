"""Endpoints of webhooks and their deliveries."""

from typing import Any, ClassVar
from uuid import UUID

import django_filters
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.accounts.enums import Scope
from crowdrag.api.endpoints import Endpoint, ListEndpoint
from crowdrag.api.permissions import Need
from crowdrag.api.problems import Problem
from crowdrag.api.serializers import RequestBody
from crowdrag.studies.enums import Role

from . import outbox, services
from .enums import CHOSEN, DeliveryState
from .models import LONGEST_ADDRESS, Delivery, Webhook
from .transport import AddressError

NEEDS_TO_SEE, NEEDS_TO_CHANGE = Need(Role.OWNER), Need(Role.OWNER, Scope.MANAGE)
EVENTS = [(event.value, event.label) for event in CHOSEN]


class WebhookRow(serializers.ModelSerializer[Webhook]):
    """A webhook, without its secret."""

    events = serializers.ListField(child=serializers.ChoiceField(EVENTS))

    class Meta:
        model = Webhook
        fields = ["key", "label", "address", "events", "state", "created_at", "succeeded_at", "failed_at"]


class NewWebhookRow(WebhookRow):
    """A webhook with its new secret."""

    secret = serializers.SerializerMethodField(
        help_text="Returned only once. Null if the answer is repeated for an Idempotency-Key."
    )

    class Meta(WebhookRow.Meta):
        fields = [*WebhookRow.Meta.fields, "secret"]

    def get_secret(self, webhook: Webhook) -> str | None:
        """Return the secret, where it was made for this answer."""
        secret: str | None = self.context.get("secret")
        return secret


class DeliveryRow(serializers.ModelSerializer[Delivery]):
    """A delivery of a message to a webhook."""

    message = serializers.CharField(
        source="message.name", help_text=("ID of the message, as in the header `webhook-id`.")
    )
    event = serializers.CharField(source="message.event")
    body = serializers.CharField(source="message.body", help_text="The payload that is sent and signed.")
    happened_at = serializers.DateTimeField(source="message.created_at")
    status = serializers.IntegerField(allow_null=True, help_text="HTTP status of the last response.")

    class Meta:
        model = Delivery
        fields = ["id", "message", "event", "body", "happened_at", "state", "tries", "tried_at", "delivered_at",
                  "status", "problem"]  # fmt: skip


class NewWebhook(RequestBody):
    """The URL and the events of a webhook."""

    address = serializers.CharField(max_length=LONGEST_ADDRESS, help_text="Must start with https://.")
    events = serializers.ListField(child=serializers.ChoiceField(EVENTS), min_length=1, max_length=len(EVENTS))
    label = serializers.CharField(max_length=100, required=False, allow_blank=True, default="")  # type: ignore[assignment] # a field, and no attribute


class ChangedWebhook(RequestBody):
    """Changes. Omitted fields stay unchanged."""

    address = serializers.CharField(max_length=LONGEST_ADDRESS, required=False)
    events = serializers.ListField(
        child=serializers.ChoiceField(EVENTS), min_length=1, max_length=len(EVENTS), required=False
    )
    label = serializers.CharField(max_length=100, required=False, allow_blank=True)  # type: ignore[assignment]


class Switch(RequestBody):
    """Whether messages are sent."""

    on = serializers.BooleanField()


class DeliveryFilter(django_filters.FilterSet):  # type: ignore[misc] # it comes without types
    """Filters of deliveries."""

    state = django_filters.ChoiceFilter(choices=DeliveryState.choices)

    class Meta:
        model = Delivery
        fields = ["state"]


class Webhooks(ListEndpoint):
    """List the webhooks of a study, newest first."""

    needs: ClassVar = {"GET": NEEDS_TO_SEE, "POST": NEEDS_TO_CHANGE}
    queryset = Webhook.objects.all()
    serializer_class = WebhookRow
    order = ("-created_at", "-id")

    @extend_schema(request=NewWebhook, responses={201: NewWebhookRow})
    def post(self, request: Request, study: str) -> Response:
        """Create a webhook. The answer contains the secret, only this once."""
        fields = self.validated(NewWebhook)
        try:
            created = services.create(study=self.study, by=self.user, now=timezone.now(), **fields)
        except (AddressError, services.WebhookError) as error:
            raise _refused(error) from None
        where = request.build_absolute_uri(reverse("api_webhook", args=[self.study.slug, created.webhook.key]))
        return _secret_once(created, status=201, headers={"Location": where})


class OneWebhook(Endpoint):
    """A webhook."""

    needs: ClassVar = {"GET": NEEDS_TO_SEE, "PATCH": NEEDS_TO_CHANGE, "DELETE": NEEDS_TO_CHANGE}
    serializer_class = WebhookRow

    def get(self, request: Request, study: str, key: UUID) -> Response:
        """Show a webhook."""
        return Response(WebhookRow(self.one(_get_webhook(self), key=key)).data)

    @extend_schema(request=ChangedWebhook, responses=WebhookRow)
    def patch(self, request: Request, study: str, key: UUID) -> Response:
        """Change the URL, the events or the name of a webhook. The secret stays the same."""
        fields = self.validated(ChangedWebhook)
        with self.unchanged(_get_webhook(self).filter(key=key), WebhookRow) as held:
            settings = {name: fields.get(name, getattr(held, name)) for name in ("address", "events", "label")}
            try:
                changed = services.change(webhook=held, **settings)
            except (AddressError, services.WebhookError) as error:
                raise _refused(error) from None
            return Response(WebhookRow(changed).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, study: str, key: UUID) -> Response:
        """Remove a webhook and the record of its deliveries."""
        services.remove(webhook=self.one(_get_webhook(self), key=key))
        return Response(status=204)


class WebhookSecret(Endpoint):
    """The secret of a webhook."""

    needs: ClassVar = {"POST": NEEDS_TO_CHANGE}

    @extend_schema(request=None, responses=NewWebhookRow)
    def post(self, request: Request, study: str, key: UUID) -> Response:
        """Create a new secret. For one day, messages are also signed with the earlier one."""
        webhook = self.one(_get_webhook(self), key=key)
        return _secret_once(services.renew_secret(webhook=webhook, now=timezone.now()))


class WebhookSwitch(Endpoint):
    """Whether a webhook is on."""

    needs: ClassVar = {"POST": NEEDS_TO_CHANGE}

    @extend_schema(request=Switch, responses=WebhookRow)
    def post(self, request: Request, study: str, key: UUID) -> Response:
        """Turn a webhook off or on. Events that happen while it is off are not sent later."""
        webhook = self.one(_get_webhook(self), key=key)
        if self.validated(Switch)["on"]:
            services.switch_on(webhook=webhook, now=timezone.now())
        else:
            services.switch_off(webhook=webhook)
        return Response(WebhookRow(self.one(_get_webhook(self), key=key)).data)


class Deliveries(ListEndpoint):
    """List the deliveries of a webhook in the last 30 days, newest first."""

    needs: ClassVar = {"GET": NEEDS_TO_SEE}
    queryset = Delivery.objects.select_related("message")
    serializer_class = DeliveryRow
    filterset_class = DeliveryFilter
    order = ("-id",)

    def rows(self) -> QuerySet[Delivery]:
        """Return the deliveries of the webhook that the address names."""
        webhook = self.one(_get_webhook(self), key=self.kwargs["key"])
        return Delivery.objects.filter(webhook=webhook).select_related("message")


class WebhookTest(Endpoint):
    """A test of a webhook."""

    needs: ClassVar = {"POST": NEEDS_TO_CHANGE}

    @extend_schema(request=None, responses={202: DeliveryRow})
    def post(self, request: Request, study: str, key: UUID) -> Response:
        """Send a test message. Its outcome appears among the deliveries."""
        webhook = self.one(_get_webhook(self), key=key)
        if not webhook.is_on:
            raise Problem("conflict", "The webhook is turned off. Turn it on first.")
        message = outbox.publish_test(webhook=webhook, now=timezone.now())
        return Response(DeliveryRow(self.one(_deliveries(webhook), message=message)).data, status=202)


class DeliveryRetry(Endpoint):
    """A repeated delivery."""

    needs: ClassVar = {"POST": NEEDS_TO_CHANGE}

    @extend_schema(request=None, responses={202: DeliveryRow})
    def post(self, request: Request, study: str, key: UUID, delivery: int) -> Response:
        """Send a message again with the same ID."""
        webhook = self.one(_get_webhook(self), key=key)
        failed = self.one(_deliveries(webhook), pk=delivery)
        try:
            services.send_again(delivery=failed, now=timezone.now())
        except services.WebhookError as error:
            raise Problem("conflict", str(error)) from None
        return Response(DeliveryRow(self.one(_deliveries(webhook), pk=delivery)).data, status=202)


def _get_webhook(endpoint: Endpoint) -> QuerySet[Webhook]:
    return Webhook.objects.filter(study=endpoint.study)


def _deliveries(webhook: Webhook) -> QuerySet[Delivery]:
    return Delivery.objects.filter(webhook=webhook).select_related("webhook", "message")


def _refused(error: ValueError) -> Problem:
    if isinstance(error, AddressError):
        errors = [{"pointer": "#/address", "detail": str(error), "code": "refused"}]
        return Problem("refused", str(error), errors=errors)
    return Problem("conflict", str(error))


def _secret_once(created: services.CreatedWebhook, **options: Any) -> Response:
    """Answer with a secret that is kept nowhere: where the answer is given again, it is without it."""
    response = Response(NewWebhookRow(created.webhook, context={"secret": created.secret}).data, **options)
    response.kept_data = NewWebhookRow(created.webhook).data  # type: ignore[attr-defined]
    response.headers["Cache-Control"] = "no-store"
    return response
