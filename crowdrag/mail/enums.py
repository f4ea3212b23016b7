"""Enumerations of emails."""

from django.db import models


class Event(models.TextChoices):
    """Events of which participants are notified."""

    SUBMITTED = "SUBMITTED", "submitted"
    ACCEPTED = "ACCEPTED", "accepted"
    REJECTED = "REJECTED", "rejected"
    REVISION = "REVISION", "revision requested"
    RETURNED = "RETURNED", "returned (time over)"
    PAID = "PAID", "paid"
    ANSWERED = "ANSWERED", "question answered"


class MailState(models.TextChoices):
    """The state of an email. DROPPED: not sent, since a later email replaced it or the address was removed."""

    WAITING = "WAITING", "waiting"
    SENDING = "SENDING", "sending"
    DONE = "DONE", "sent"
    FAILED = "FAILED", "failed"
    DROPPED = "DROPPED", "dropped"
