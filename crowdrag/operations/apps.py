"""The app's registration."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class OperationsConfig(AppConfig):
    """The operator's dashboards, health, and figures for a monitoring system."""

    name = "crowdrag.operations"
    label = "operations"
    verbose_name = _("Operations")

    def ready(self) -> None:
        """Have done from time to time what nobody should have to think of."""
        from datetime import timedelta

        from crowdrag.audit.domain import signing_in
        from crowdrag.runs import duties

        from .domain import machines

        duties.register("operations.machine", machines.note, timedelta(minutes=1))
        duties.register("audit.forget", signing_in.forget, timedelta(days=1))
