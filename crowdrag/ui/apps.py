"""App configuration."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class UiConfig(AppConfig):
    """Components and template tags."""

    name = "crowdrag.ui"
    label = "ui"
    verbose_name = _("User interface")
