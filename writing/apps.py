"""The app's registration."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class WritingConfig(AppConfig):
    """Writing."""

    name = "writing"
    verbose_name = _("Writing")
