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
        from writing import erasure, invariants
        from writing.assignments import activity, leases, slots
        from writing.corpus.imports import corpus_importers
        from writing.editor import ingestion
        from writing.llm_writers import writer_run
        from writing.progress.overview import corpus_card, progress_card

        register_tab(order=10, label=_("Topics"), url_name="topics", section="writing")
        register_tab(order=12, label=_("Writing"), url_name="writing_progress", section="progress")
        register_tab(order=15, label=_("Review"), url_name="review_queue", role=Role.REVIEWER, section="review")
        register_tab(order=60, label=_("Import"), url_name="import", role=Role.EDITOR, section="import")
        register_card(order=10, template="writing/corpus/_study_card.html", context=corpus_card)
        register_card(order=12, template="writing/progress/_study_card.html", context=progress_card)
        corpus_importers.register()
        writer_run.register_kind()
        invariants.register_all()
        activities.register_activity(
            activities.Activity(
                name=activity.NAME,
                label=_("Writing"),
                offer=activity.offer,
                start="writing_start",
                template="writing/assignments/_dashboard_card.html",
                context=activity.dashboard_section,
                review_url=activity.review_url,
                remedy=activity.reversal_url,
                about_label=activity.about_label,
                owed=activity.owed,
                awaited=activity.awaited,
                erasure=activity.erasure,
            )
        )
        activities.on_withdraw(leases.on_withdraw)
        activities.on_erase(erasure.erase)
        activity.register()
        minute = timedelta(minutes=1)
        schedules.register("writing.leases", lambda now: leases.expire(now=now), minute)
        schedules.register("writing.slots", slots.ensure_open, minute)
        schedules.register("writing.logs", lambda now: ingestion.compact_abandoned(now=now), 5 * minute)
