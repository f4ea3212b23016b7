"""Webhooks, messages, and the state of each delivery."""

import uuid

import pgtrigger
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models

from crowdrag.jobs.delivery_queue import QueuedRow
from crowdrag.studies.models import Study

from .enums import CHOSEN, DeliveryState, Event, WebhookState

LONGEST_ADDRESS = 1000
CHOSEN_VALUES = [str(event) for event in CHOSEN]


class WebhookQuerySet(models.QuerySet["Webhook"]):
    """Queries of webhooks."""

    def on(self) -> "WebhookQuerySet":
        """Keep webhooks that are switched on."""
        return self.filter(state=WebhookState.ON)

    def for_event(self, event: Event) -> "WebhookQuerySet":
        """Keep webhooks that subscribe to this event."""
        return self.filter(events__contains=[event])

    def newest_first(self) -> "WebhookQuerySet":
        """Order as in lists."""
        return self.order_by("-created_at", "-id")


class Webhook(models.Model):
    """One subscription. Its secret is encrypted, shown once, and never sent: messages are signed with it."""

    key = models.UUIDField(default=uuid.uuid4, editable=False)
    study = models.ForeignKey(Study, models.CASCADE, related_name="webhooks")
    label = models.CharField("name (only for you)", max_length=100, blank=True)
    address = models.CharField("URL", max_length=LONGEST_ADDRESS)
    events = ArrayField(models.CharField(max_length=40), verbose_name="events")
    secret = models.BinaryField()
    # After a new secret was created, messages are signed with both for a while, so that the receiver can change over.
    former_secret = models.BinaryField(null=True, blank=True)
    former_until = models.DateTimeField(null=True, blank=True)
    state = models.CharField("state", max_length=8, choices=WebhookState.choices, default=WebhookState.ON)
    created_at = models.DateTimeField("created")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    succeeded_at = models.DateTimeField("last delivered", null=True, blank=True)
    failed_at = models.DateTimeField("last failed", null=True, blank=True)

    objects = WebhookQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["key"], name="webhook_key_unique"),
            models.UniqueConstraint(fields=["study", "address"], name="webhook_address_once_per_study"),
            models.CheckConstraint(condition=models.Q(state__in=WebhookState.values), name="webhook_state_known"),
            models.CheckConstraint(
                condition=models.Q(events__contained_by=CHOSEN_VALUES) & ~models.Q(events=[]),
                name="webhook_events_known_and_some",
            ),
            models.CheckConstraint(
                condition=models.Q(former_secret__isnull=True, former_until__isnull=True)
                | models.Q(former_secret__isnull=False, former_until__isnull=False),
                name="webhook_former_secret_has_an_end",
            ),
        ]

    def __str__(self) -> str:
        return self.label or self.address

    @property
    def is_on(self) -> bool:
        """Whether messages are sent."""
        return self.state == WebhookState.ON

    @property
    def event_labels(self) -> list[str]:
        """The labels of its events."""
        return [str(Event(event).label) for event in CHOSEN if event in self.events]


class Message(models.Model):
    """One event as other systems read it: the bytes of `body` are signed and sent, the same each time."""

    key = models.UUIDField(default=uuid.uuid4, editable=False)
    study = models.ForeignKey(Study, models.CASCADE, related_name="webhook_messages")
    event = models.CharField("event", max_length=40, choices=Event.choices)
    body = models.TextField("message")
    created_at = models.DateTimeField("created")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["key"], name="webhook_message_key_unique"),
            models.CheckConstraint(condition=models.Q(event__in=Event.values), name="webhook_message_event_known"),
        ]
        indexes = [models.Index(fields=["created_at"], name="webhook_message_by_age")]
        # The receiver may have seen it: the same id must always have the same content.
        triggers = [pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update)]

    def __str__(self) -> str:
        return f"{self.event} {self.name}"

    @property
    def name(self) -> str:
        """The message id for the receiver, the same for each delivery."""
        return f"msg_{self.key.hex}"


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    """Queries of deliveries."""

    def newest_first(self) -> "DeliveryQuerySet":
        """Order as in lists."""
        return self.order_by("-message__created_at", "-id")


class Delivery(QueuedRow):
    """The outbox: a row that is `WAITING` is sent when due, by the first worker that claims it."""

    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    message = models.ForeignKey(Message, models.CASCADE, related_name="deliveries")
    state = models.CharField("state", max_length=8, choices=DeliveryState.choices, default=DeliveryState.WAITING)
    tried_at = models.DateTimeField("last tried", null=True, blank=True)
    delivered_at = models.DateTimeField("delivered", null=True, blank=True)
    status = models.PositiveSmallIntegerField("response status", null=True, blank=True)
    problem = models.CharField("last problem", max_length=300, blank=True)

    objects = DeliveryQuerySet.as_manager()

    class Meta(QueuedRow.Meta):
        verbose_name_plural = "deliveries"
        constraints = [
            *QueuedRow.Meta.constraints,
            models.UniqueConstraint(fields=["webhook", "message"], name="webhook_delivery_once"),
            models.CheckConstraint(condition=models.Q(state__in=DeliveryState.values), name="webhook_delivery_state"),
            models.CheckConstraint(
                condition=~models.Q(state=DeliveryState.DONE) | models.Q(delivered_at__isnull=False),
                name="webhook_delivery_done_has_a_time",
            ),
            # A slow webhook blocks at most one worker, and no other webhook.
            models.UniqueConstraint(
                fields=["webhook"],
                condition=models.Q(state=DeliveryState.SENDING),
                name="webhook_delivery_one_at_a_time",
            ),
        ]
        indexes = [
            models.Index(
                fields=["due_at", "id"],
                condition=models.Q(state__in=[DeliveryState.WAITING, DeliveryState.SENDING]),
                name="webhook_delivery_open",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.message} → {self.webhook}"
