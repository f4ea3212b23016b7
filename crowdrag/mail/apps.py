"""App configuration."""

from datetime import timedelta

from django.apps import AppConfig


class MailConfig(AppConfig):
    """Emails to participants who gave an address."""

    name = "crowdrag.mail"
    label = "mail"
    verbose_name = "Email"

    def ready(self) -> None:
        """Register a section of the dashboard, the listener for answers, and scheduled tasks."""
        from crowdrag.jobs import schedules
        from crowdrag.studies import activities
        from crowdrag.studies.messages import services as messages
        from crowdrag.studies.participants import participant_dashboard

        from . import dashboard, outbox, services, tasks, work_events

        participant_dashboard.register_section("mail/_dashboard_section.html", dashboard.section)
        messages.on_answer(work_events.publish_answer)
        activities.on_erase(services.erase)
        # The sweep only wakes a worker, so that a slow mail server delays nothing else.
        schedules.register("mail", tasks.wake, timedelta(seconds=10))
        schedules.register("mail.tidy", outbox.remove_old, timedelta(hours=1))
