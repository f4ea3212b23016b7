"""App configuration."""

from datetime import timedelta

from django.apps import AppConfig


class JobsConfig(AppConfig):
    """Background work."""

    name = "crowdrag.jobs"
    label = "jobs"
    verbose_name = "Runs"

    def ready(self) -> None:
        """Register runs in the study navigation and on its overview."""
        from crowdrag.studies import activities
        from crowdrag.studies.navigation import Group, register_card, register_item
        from crowdrag.studies.study import deletion
        from crowdrag.studies.study.closure import register_obstacles

        from . import erasure, kinds, lifecycle, schedules
        from .views import latest_runs

        register_item(Group.SETTINGS, 10, "Activity", "runs", section="runs")
        register_card(order=7, template="jobs/_study_card.html", context=latest_runs)
        # Registered first, called last: it starts once everything is erased.
        activities.on_erase(erasure.start_vacuum)
        activities.on_erase(erasure.on_erase)
        activities.on_erasure_request(erasure.start_erasure)
        for kind in erasure.KINDS:
            kinds.register(kind)
        register_obstacles(lifecycle.active_runs)
        schedules.register("studies.deletions", deletion.remove_requested, timedelta(minutes=1))
        schedules.register("runs.erasures", erasure.restart_erasures, timedelta(minutes=1))
