"""Enumerations of webhooks."""

from django.db import models


class Event(models.TextChoices):
    """What other systems are told of; the names are part of the API."""

    RUN_ENDED = "run.ended", "a run ended (done, failed or cancelled)"
    CAMPAIGN_ENDED = "campaign.ended", "a judging or writing campaign ended"
    RELEASE_PUBLISHED = "release.published", "a release was published"
    TEST = "webhook.test", "a test message"


# What a webhook is asked for; a test is sent to whoever asks for one.
CHOSEN = (Event.RUN_ENDED, Event.CAMPAIGN_ENDED, Event.RELEASE_PUBLISHED)


class WebhookState(models.TextChoices):
    """Whether a webhook is sent to."""

    ON = "ON", "on"
    OFF = "OFF", "off"
    FAILING = "FAILING", "off (failed for days)"
    GONE = "GONE", "off (the receiver wants no more messages)"


class DeliveryState(models.TextChoices):
    """Where one message to one webhook stands."""

    WAITING = "WAITING", "pending"
    SENDING = "SENDING", "sending"
    DONE = "DONE", "delivered"
    FAILED = "FAILED", "failed"
