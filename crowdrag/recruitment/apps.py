"""App configuration."""

from datetime import timedelta

from django.apps import AppConfig


class RecruitmentConfig(AppConfig):
    """Recruitment platforms."""

    name = "crowdrag.recruitment"
    label = "recruitment"
    verbose_name = "Recruitment"

    def ready(self) -> None:
        """Register pages, scheduled tasks, and the erasure of data."""
        from crowdrag.jobs import schedules
        from crowdrag.recruitment import platform_studies, submission_sync, tasks
        from crowdrag.studies import activities
        from crowdrag.studies.entry import enrolment
        from crowdrag.studies.enums import Role
        from crowdrag.studies.navigation import Group, register_item
        from crowdrag.studies.study.closure import register_obstacles

        register_item(Group.COLLECT, 50, "Recruitment", "recruitments", section="recruitment", role=Role.EDITOR)
        register_obstacles(platform_studies.running)
        activities.on_erase(submission_sync.on_erase)
        enrolment.register_device_source(platform_studies.allowed_devices)
        # The sweep only wakes a worker, so that a slow platform delays nothing else.
        schedules.register("recruitment", tasks.wake, timedelta(seconds=15))
