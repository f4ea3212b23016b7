"""App configuration."""

from django.apps import AppConfig


class AuditConfig(AppConfig):
    """Accesses to participants' data, and failed sign-ins."""

    name = "crowdrag.audit"
    label = "audit"
    verbose_name = "Audit trail"

    def ready(self) -> None:
        """Register the audit log as an audit sink."""
        from crowdrag.audit import services
        from crowdrag.studies.access import register_audit_sink

        register_audit_sink(services.record_access)
