"""The app's registration."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    """The API."""

    name = "crowdrag.api"
    label = "api"
    verbose_name = "API"

    def ready(self) -> None:
        """Say what goes when somebody has everything erased."""
        from crowdrag.api import idempotency
        from crowdrag.studies import activities

        activities.on_erase(idempotency.erase_replies)
