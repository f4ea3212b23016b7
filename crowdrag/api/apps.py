"""The registration of the API app."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    """The API."""

    name = "crowdrag.api"
    label = "api"
    verbose_name = "API"

    def ready(self) -> None:
        """Register the erasure of stored replies."""
        from crowdrag.api import idempotency
        from crowdrag.studies import activities

        activities.on_erase(idempotency.erase_replies)
