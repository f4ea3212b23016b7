"""Addresses of participants, and the queue of emails to them.

An email's row stores the event, but neither text nor address: both are added when it is sent.
"""

import uuid

from django.db import models

from crowdrag.jobs.delivery_queue import QueuedRow
from crowdrag.studies.models import Participant

from .enums import Event, MailState


class MailAddress(models.Model):
    """A participant's email address in one study, encrypted. It is deleted when they remove it or are erased.

    `key` is in the link that stops emails, and reveals no name. `base` is the URL of this system as the participant
    sees it, used for links in emails.
    """

    participant = models.OneToOneField(Participant, models.CASCADE, related_name="mail_address")
    address = models.BinaryField()
    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    base = models.CharField(max_length=300)
    given_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "mail addresses"

    def __str__(self) -> str:
        return f"address of {self.participant}"


class Mail(QueuedRow):
    """One email about one event; `event_key` names the event, so that there is one email about it.

    `subject_key` names the piece of work or the message that it is about. `details` holds that piece's id (`about`)
    and an amount in minor units (`amount`).
    """

    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    participant = models.ForeignKey(Participant, models.CASCADE, related_name="mails")
    event = models.CharField(max_length=10, choices=Event.choices)
    event_key = models.CharField(max_length=200, unique=True)
    subject_key = models.CharField(max_length=200)
    details = models.JSONField(default=dict, blank=True)
    state = models.CharField(max_length=8, choices=MailState.choices, default=MailState.WAITING)
    created_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)
    # The type of error and the server's code: never its message, which may contain the address.
    problem = models.CharField(max_length=100, blank=True)

    class Meta(QueuedRow.Meta):
        verbose_name, verbose_name_plural = "email", "emails"
        constraints = [
            *QueuedRow.Meta.constraints,
            models.CheckConstraint(condition=models.Q(event__in=Event.values), name="mail_event_known"),
            models.CheckConstraint(condition=models.Q(state__in=MailState.values), name="mail_state_known"),
            models.CheckConstraint(
                condition=~models.Q(state=MailState.DONE) | models.Q(sent_at__isnull=False), name="mail_sent_has_a_time"
            ),
        ]
        indexes = [
            models.Index(
                fields=["due_at", "id"],
                condition=models.Q(state__in=[MailState.WAITING, MailState.SENDING]),
                name="mail_open",
            ),
            models.Index(fields=["participant", "subject_key"], name="mail_by_subject"),
        ]

    def __str__(self) -> str:
        return f"{self.event} {self.key}"
