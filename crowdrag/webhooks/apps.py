"""App configuration."""

from datetime import timedelta

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    """Messages to other systems when something ends."""

    name = "crowdrag.webhooks"
    label = "webhooks"
    verbose_name = "Webhooks"

    def ready(self) -> None:
        """Register the page, the listener of runs, and scheduled tasks."""
        from crowdrag.jobs import completion, schedules
        from crowdrag.studies.enums import Role
        from crowdrag.studies.navigation import Group, register_item

        from . import outbox, tasks

        register_item(Group.SETTINGS, 50, "Webhooks", "webhooks", section="webhooks", role=Role.OWNER)
        completion.register_listener(outbox.publish_run_ended)
        # The sweep only wakes a worker, so that a slow URL delays nothing else.
        schedules.register("webhooks", tasks.wake, timedelta(seconds=10))
        schedules.register("webhooks.tidy", outbox.remove_old, timedelta(hours=1))
