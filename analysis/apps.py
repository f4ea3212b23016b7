"""The app's registration."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AnalysisConfig(AppConfig):
    """Analysis."""

    name = "analysis"
    verbose_name = _("Analysis")
