"""What the platform told by itself: stored as it comes, handled afterwards."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class PlatformEvent(models.Model):
    """One event of a webhook. The same event delivered again is the same row."""

    event_id = models.CharField(max_length=200, unique=True)
    kind = models.CharField(_("kind"), max_length=100)
    resource_id = models.CharField(_("of what"), max_length=200)
    status = models.CharField(_("status"), max_length=50, blank=True)
    identity_hash = models.BinaryField(max_length=32, null=True, blank=True)
    sent_at = models.DateTimeField(_("sent"))
    received_at = models.DateTimeField(_("received"))
    handled_at = models.DateTimeField(_("handled"), null=True, blank=True)
    due_at = models.DateTimeField()
    tries = models.PositiveSmallIntegerField(default=0)
    note = models.CharField(_("what came of it"), max_length=300, blank=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["due_at"], condition=models.Q(handled_at__isnull=True), name="platform_event_unhandled"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.status}".strip()
