"""The app's registration."""

from django.apps import AppConfig


class AuditConfig(AppConfig):
    """Who looked at what of people who take part, and who failed to sign in."""

    name = "crowdrag.audit"
    label = "audit"
    verbose_name = "Audit trail"

    def ready(self) -> None:
        """Have noted what pages show of people."""
        from crowdrag.audit import services
        from crowdrag.studies.access import register_audit_sink

        register_audit_sink(services.record_access)
