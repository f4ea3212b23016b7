"""Enumerations of webhooks."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Event(models.TextChoices):
    """What other systems are told of; the names are part of the API."""

    RUN_ENDED = "run.ended", _("a run ended: done, failed or cancelled")
    CAMPAIGN_ENDED = "campaign.ended", _("a campaign ended: of judgments, or of writing")
    RELEASE_PUBLISHED = "release.published", _("a release was published")
    TEST = "webhook.test", _("a test")


# What a webhook is asked for; a test is sent to whoever asks for one.
CHOSEN = (Event.RUN_ENDED, Event.CAMPAIGN_ENDED, Event.RELEASE_PUBLISHED)


class WebhookState(models.TextChoices):
    """Whether a webhook is sent to."""

    ON = "ON", _("on")
    OFF = "OFF", _("switched off")
    FAILING = "FAILING", _("switched off: it failed for days")
    GONE = "GONE", _("switched off: the address wants no more")


class DeliveryState(models.TextChoices):
    """Where one message to one webhook stands."""

    WAITING = "WAITING", _("on the way")
    SENDING = "SENDING", _("being sent")
    DONE = "DONE", _("delivered")
    FAILED = "FAILED", _("given up")
