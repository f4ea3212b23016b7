"""The app's registration."""

from datetime import timedelta

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class WritingConfig(AppConfig):
    """Writing."""

    name = "writing"
    verbose_name = _("Writing")

    def ready(self) -> None:
        """Put the app's pages into a study's navigation, its imports among the runs, writing among the ways."""
        from crowdrag.jobs import schedules
        from crowdrag.studies import activities
        from crowdrag.studies.enums import Role
        from crowdrag.studies.navigation import register_card, register_tab
        from writing.domain import erasing, generation, invariants, offering, recruiting, sittings
        from writing.domain.cards import card, progress_card
        from writing.domain.imports import own
        from writing.domain.tasks import leases, slots

        register_tab(order=10, label=_("Topics"), url_name="topics", section="writing")
        register_tab(order=12, label=_("Writing"), url_name="writing_progress", section="progress")
        register_tab(order=15, label=_("Review"), url_name="review_queue", role=Role.REVIEWER, section="review")
        register_tab(order=60, label=_("Import"), url_name="import", role=Role.EDITOR, section="import")
        register_card(order=10, template="writing/_card.html", context=card)
        register_card(order=12, template="writing/progress/_card.html", context=progress_card)
        own.register()
        generation.register()
        invariants.register_all()
        activities.register_activity(
            activities.Activity(
                name=offering.NAME,
                label=_("Writing"),
                offer=offering.offer,
                start="writing_start",
                template="writing/_work.html",
                context=offering.part,
                desk=offering.desk,
                remedy=offering.remedy,
                about_label=offering.about_label,
                owed=offering.owed,
                awaited=offering.awaited,
                erasure=offering.erasure,
            )
        )
        activities.on_withdraw(leases.leave)
        activities.on_erase(erasing.erase)
        recruiting.register()
        minute = timedelta(minutes=1)
        schedules.register("writing.leases", lambda now: leases.expire(now=now), minute)
        schedules.register("writing.slots", slots.ensure_open, minute)
        schedules.register("writing.logs", lambda now: sittings.compact_abandoned(now=now), 5 * minute)
