"""The app's registration."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class WebhooksConfig(AppConfig):
    """Messages to other systems when something ends."""

    name = "crowdrag.webhooks"
    label = "webhooks"
    verbose_name = _("Webhooks")
