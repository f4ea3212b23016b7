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
        from crowdrag.payments.earnings import register_source
        from crowdrag.studies import activities
        from crowdrag.studies.checklist import Step, register_part
        from crowdrag.studies.enums import Role
        from crowdrag.studies.navigation import Group, register_card, register_inbox, register_item
        from writing import erasure, invariants
        from writing.assignments import activity, leases, payments, slots
        from writing.corpus.imports import corpus_importers
        from writing.editor import ingestion
        from writing.llm_writers import writer_run
        from writing.progress.overview import corpus_card, data_part, progress_card, writing_part
        from writing.review import queue

        register_item(Group.DATA, 10, _("Topics"), "topics", section="topics")
        register_item(Group.DATA, 30, _("Import"), "import", section="import", role=Role.EDITOR)
        register_item(Group.COLLECT, 10, _("Writing"), "writing_progress", section="writing")
        register_inbox(queue.inbox_entries)
        register_part(Step.DATA, data_part)
        register_part(Step.COLLECT, writing_part)
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
        register_source("writing", payments.earned)
        activities.on_withdraw(leases.on_withdraw)
        activities.on_erase(erasure.erase)
        activity.register()
        minute = timedelta(minutes=1)
        schedules.register("writing.leases", lambda now: leases.expire(now=now), minute)
        schedules.register("writing.slots", slots.ensure_open, minute)
        schedules.register("writing.logs", lambda now: ingestion.compact_abandoned(now=now), 5 * minute)
