"""The app's registration."""

from datetime import timedelta

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class WebhooksConfig(AppConfig):
    """Messages to other systems when something ends."""

    name = "crowdrag.webhooks"
    label = "webhooks"
    verbose_name = _("Webhooks")

    def ready(self) -> None:
        """Register the page, who listens to runs, and what is done from time to time."""
        from crowdrag.runs import duties, listening
        from crowdrag.studies.enums import Role
        from crowdrag.studies.navigation import register_tab

        from . import tasks
        from .domain import telling, tidying

        register_tab(order=92, label=_("Webhooks"), url_name="webhooks", role=Role.OWNER, section="webhooks")
        listening.register(telling.run_ended)
        # The sweep only wakes a worker: an address that answers slowly must keep nobody waiting.
        duties.register("webhooks", tasks.wake, timedelta(seconds=10))
        duties.register("webhooks.tidy", tidying.tidy, timedelta(hours=1))
