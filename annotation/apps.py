"""The app's registration."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AnnotationConfig(AppConfig):
    """Judging."""

    name = "annotation"
    verbose_name = _("Judging")
