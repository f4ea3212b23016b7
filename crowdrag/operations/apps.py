"""App configuration."""

from django.apps import AppConfig


class OperationsConfig(AppConfig):
    """The operator's dashboards, health checks, and metrics for a monitoring system."""

    name = "crowdrag.operations"
    label = "operations"
    verbose_name = "Operations"

    def ready(self) -> None:
        """Register the scheduled tasks."""
        from datetime import timedelta

        from django.core import checks

        from crowdrag.accounts import login_limits
        from crowdrag.jobs import schedules
        from crowdrag.studies.study import deletion

        from . import machines, migration_safety, retention

        schedules.register("operations.machine", machines.report_this_machine, timedelta(minutes=1))
        checks.register(migration_safety.check_release, checks.Tags.database)
        deletion.on_removed(retention.record_deletion)
        schedules.register("audit.forget", login_limits.delete_expired, timedelta(days=1))
