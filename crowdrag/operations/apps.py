"""The app's registration."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class OperationsConfig(AppConfig):
    """The operator's dashboards, health, and figures for a monitoring system."""

    name = "crowdrag.operations"
    label = "operations"
    verbose_name = _("Operations")
