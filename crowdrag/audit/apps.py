"""The app's registration."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AuditConfig(AppConfig):
    """Who looked at what of people who take part, and who failed to sign in."""

    name = "crowdrag.audit"
    label = "audit"
    verbose_name = _("Audit trail")
