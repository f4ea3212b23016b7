"""Enumerations of webhooks."""

from django.db import models


class Event(models.TextChoices):
    """Events of webhooks; the names are part of the API."""

    RUN_ENDED = "run.ended", "a run ended (done, failed or cancelled)"
    CAMPAIGN_ENDED = "campaign.ended", "a judging or writing campaign ended"
    RELEASE_PUBLISHED = "release.published", "a release was published"
    TEST = "webhook.test", "a test message"


# Events that a webhook can subscribe to; a test is sent on request.
CHOSEN = (Event.RUN_ENDED, Event.CAMPAIGN_ENDED, Event.RELEASE_PUBLISHED)


class WebhookState(models.TextChoices):
    """Whether messages are sent to a webhook."""

    ON = "ON", "on"
    OFF = "OFF", "off"
    FAILING = "FAILING", "off (failed for days)"
    GONE = "GONE", "off (the receiver wants no more messages)"


class DeliveryState(models.TextChoices):
    """The state of one message to one webhook."""

    WAITING = "WAITING", "pending"
    SENDING = "SENDING", "sending"
    DONE = "DONE", "delivered"
    FAILED = "FAILED", "failed"
