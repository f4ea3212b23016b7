"""The app's registration."""

from datetime import timedelta

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AnnotationConfig(AppConfig):
    """Judging."""

    name = "annotation"
    verbose_name = _("Judging")

    def ready(self) -> None:
        """Put the app's pages into a study's navigation, and its imports among the kinds of runs."""
        from annotation.domain import assignments, erasing, invariants, judging_models, live, offering, recruiting
        from annotation.domain.cards import card
        from annotation.domain.imports import own
        from crowdrag.jobs import schedules
        from crowdrag.studies import activities
        from crowdrag.studies.navigation import register_card, register_tab

        register_tab(order=20, label=_("Campaigns"), url_name="campaigns", section="annotation")
        register_card(order=20, template="annotation/_card.html", context=card)
        own.register()
        judging_models.register()
        invariants.register_all()
        activities.register_activities(assignments.PREFIX, offering.ways_of)
        activities.on_withdraw(assignments.leave)
        activities.on_erase(erasing.erase)
        recruiting.register()
        schedules.register("annotation.leases", lambda now: assignments.expire(now=now), timedelta(minutes=1))
        schedules.register("annotation.live", lambda now: live.refresh_due(now=now), timedelta(minutes=1))
