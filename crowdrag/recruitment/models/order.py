"""What the platform is to be told: written down first, sent afterwards, once in effect."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from ..enums import OrderKind, OrderState
from .study import PlatformStudy
from .submission import Submission


class PlatformOrder(models.Model):
    """One thing that the platform is told to do. The same key is the same order."""

    platform_study = models.ForeignKey(PlatformStudy, models.CASCADE, related_name="orders")
    submission = models.ForeignKey(Submission, models.CASCADE, null=True, blank=True, related_name="orders")
    kind = models.CharField(_("what"), max_length=12, choices=OrderKind.choices)
    key = models.CharField(max_length=200)
    # What goes with it: category and message, amount and reason, or the number of places.
    details = models.JSONField(_("details"), default=dict, blank=True)
    # What the platform said on the way, and what was seen before: enough to tell afterwards whether it was done.
    progress = models.JSONField(default=dict, blank=True)
    state = models.CharField(_("state"), max_length=8, choices=OrderState.choices, default=OrderState.WAITING)
    tries = models.PositiveSmallIntegerField(_("tries"), default=0)
    # Counts each time that somebody takes the order, and never back: whoever holds an older number decides nothing.
    attempt = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField()
    lease_until = models.DateTimeField(null=True, blank=True)
    error = models.TextField(_("last problem"), blank=True)
    created_at = models.DateTimeField(_("ordered"))
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    done_at = models.DateTimeField(_("done"), null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["platform_study", "key"], name="platform_order_key_unique"),
            models.CheckConstraint(condition=models.Q(kind__in=OrderKind.values), name="platform_order_kind_known"),
            models.CheckConstraint(condition=models.Q(state__in=OrderState.values), name="platform_order_state_known"),
            models.CheckConstraint(
                condition=models.Q(kind=OrderKind.PLACES, submission__isnull=True)
                | (~models.Q(kind=OrderKind.PLACES) & models.Q(submission__isnull=False)),
                name="platform_order_is_about_somebody_or_about_places",
            ),
            models.CheckConstraint(
                condition=models.Q(state=OrderState.SENDING, lease_until__isnull=False)
                | (~models.Q(state=OrderState.SENDING) & models.Q(lease_until__isnull=True)),
                name="platform_order_sending_has_a_lease",
            ),
            # Of two bonuses for one person the second is sent when the outcome of the first is known: what was paid
            # is told apart by what the platform lists.
            models.UniqueConstraint(
                fields=["submission"],
                condition=models.Q(kind=OrderKind.BONUS, state__in=[OrderState.SENDING, OrderState.UNKNOWN]),
                name="platform_order_one_bonus_at_a_time",
            ),
        ]
        indexes = [models.Index(fields=["state", "due_at"])]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.key}"

    @property
    def may_be_paid(self) -> bool:
        """Whether a payment was sent and not answered: only the platform's list, or a person, tells what came of it."""
        return "paying" in self.progress and self.state != OrderState.DONE
