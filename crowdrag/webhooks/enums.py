"""Enumerations of webhooks."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Event(models.TextChoices):
    """What other systems are told of; the names are part of the API."""

    RUN_ENDED = "run.ended", _("a run ended (done, failed or cancelled)")
    CAMPAIGN_ENDED = "campaign.ended", _("a judging or writing campaign ended")
    RELEASE_PUBLISHED = "release.published", _("a release was published")
    TEST = "webhook.test", _("a test message")


# What a webhook is asked for; a test is sent to whoever asks for one.
CHOSEN = (Event.RUN_ENDED, Event.CAMPAIGN_ENDED, Event.RELEASE_PUBLISHED)


class WebhookState(models.TextChoices):
    """Whether a webhook is sent to."""

    ON = "ON", _("on")
    OFF = "OFF", _("off")
    FAILING = "FAILING", _("off (failed for days)")
    GONE = "GONE", _("off (the receiver wants no more messages)")


class DeliveryState(models.TextChoices):
    """Where one message to one webhook stands."""

    WAITING = "WAITING", _("pending")
    SENDING = "SENDING", _("sending")
    DONE = "DONE", _("delivered")
    FAILED = "FAILED", _("failed")
