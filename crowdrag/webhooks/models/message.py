"""What is told: written once, in the transaction of what it tells."""

import uuid

import pgtrigger
from django.db import models
from django.utils.translation import gettext_lazy as _

from crowdrag.studies.models import Study

from ..enums import Event


class Message(models.Model):
    """One event as other systems read it: the bytes of `body` are what is signed and sent, each time the same."""

    key = models.UUIDField(default=uuid.uuid4, editable=False)
    study = models.ForeignKey(Study, models.CASCADE, related_name="webhook_messages")
    event = models.CharField(_("event"), max_length=40, choices=Event.choices)
    body = models.TextField(_("message"))
    created_at = models.DateTimeField(_("happened"))

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["key"], name="webhook_message_key_unique"),
            models.CheckConstraint(condition=models.Q(event__in=Event.values), name="webhook_message_event_known"),
        ]
        indexes = [models.Index(fields=["created_at"], name="webhook_message_by_age")]
        # Its receiver may have seen it: the same id must say the same whenever it is sent.
        triggers = [pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update)]

    def __str__(self) -> str:
        return f"{self.event} {self.name}"

    @property
    def name(self) -> str:
        """Its id as the receiver reads it: the same message has the same, however often it comes."""
        return f"msg_{self.key.hex}"
