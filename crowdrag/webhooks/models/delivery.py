"""One message on its way to one webhook."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from ..enums import DeliveryState
from .message import Message
from .webhook import Webhook


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    """What can be said of deliveries."""

    def newest_first(self) -> "DeliveryQuerySet":
        """Order as lists show them."""
        return self.order_by("-message__created_at", "-id")


class Delivery(models.Model):
    """The outbox: a row that is `WAITING` is sent when it is due, by whichever worker takes it first."""

    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    message = models.ForeignKey(Message, models.CASCADE, related_name="deliveries")
    state = models.CharField(_("state"), max_length=8, choices=DeliveryState.choices, default=DeliveryState.WAITING)
    tries = models.PositiveSmallIntegerField(_("tries"), default=0)
    # Counts each time that a worker takes it, and never back: whoever holds an older number writes nothing.
    attempt = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField()
    lease_until = models.DateTimeField(null=True, blank=True)
    tried_at = models.DateTimeField(_("last tried"), null=True, blank=True)
    delivered_at = models.DateTimeField(_("delivered"), null=True, blank=True)
    status = models.PositiveSmallIntegerField(_("answer"), null=True, blank=True)
    problem = models.CharField(_("last problem"), max_length=300, blank=True)

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["webhook", "message"], name="webhook_delivery_once"),
            models.CheckConstraint(condition=models.Q(state__in=DeliveryState.values), name="webhook_delivery_state"),
            models.CheckConstraint(
                condition=models.Q(state=DeliveryState.SENDING, lease_until__isnull=False)
                | (~models.Q(state=DeliveryState.SENDING) & models.Q(lease_until__isnull=True)),
                name="webhook_delivery_sending_has_a_lease",
            ),
            models.CheckConstraint(
                condition=~models.Q(state=DeliveryState.DONE) | models.Q(delivered_at__isnull=False),
                name="webhook_delivery_done_has_a_time",
            ),
            # A slow address holds up one worker, never two, and none of the other addresses.
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
