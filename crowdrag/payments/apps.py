"""App configuration."""

from django.apps import AppConfig


class PaymentsConfig(AppConfig):
    """Payments to participants."""

    name = "crowdrag.payments"
    label = "payments"
    verbose_name = "Payments"

    def ready(self) -> None:
        """Register the page."""
        from crowdrag.studies.enums import Role
        from crowdrag.studies.navigation import Group, register_item

        register_item(Group.COLLECT, 55, "Payments", "payments", section="payments", role=Role.EDITOR)
