"""The registration of the writing app."""

from datetime import timedelta

from django.apps import AppConfig


class WritingConfig(AppConfig):
    """The writing app."""

    name = "writing"
    verbose_name = "Writing"

    def ready(self) -> None:
        """Register the app's pages, run kinds, importers and activity."""
        from crowdrag.jobs import schedules
        from crowdrag.payments.earnings import register_source
        from crowdrag.studies import activities
        from crowdrag.studies.checklist import Step, register_part
        from crowdrag.studies.enums import Role
        from crowdrag.studies.navigation import (
            Group,
            StartOffer,
            register_card,
            register_counts,
            register_inbox,
            register_item,
            register_start,
        )
        from crowdrag.studies.study.closure import Closure, register_obstacles
        from crowdrag.studies.study.costs import register_spending
        from writing import erasure, invariants
        from writing.assignments import activity, leases, payments, slots
        from writing.corpus import queries as corpus_queries
        from writing.corpus.imports import corpus_importers
        from writing.editor import ingestion
        from writing.llm_writers import writer_run
        from writing.progress import closure
        from writing.progress.overview import (
            corpus_card,
            progress_card,
            responses_part,
            spending_line,
            topics_part,
            writing_part,
        )
        from writing.review import queue

        register_item(Group.DATA, 10, "Topics", "topics", section="topics", has_count=True)
        register_item(Group.DATA, 20, "Responses", "responses", section="responses", has_count=True)
        register_item(Group.DATA, 30, "Import", "import", section="import", role=Role.EDITOR)
        register_item(Group.COLLECT, 10, "Writing", "writing_progress", section="writing")
        register_obstacles(closure.work_in_progress)
        register_obstacles(closure.payments, Closure.DELETE)
        register_inbox(queue.inbox_entries)
        register_counts(corpus_queries.sidebar_counts)
        register_spending(spending_line)
        register_part(Step.DATA, topics_part)
        register_part(Step.DATA, responses_part)
        register_part(Step.COLLECT, writing_part)
        register_card(order=30, template="writing/corpus/_study_card.html", context=corpus_card)
        register_card(order=12, template="writing/progress/_study_card.html", context=progress_card)
        register_start(
            StartOffer(
                order=10,
                title="Import a file",
                text="A CSV file with queries and the responses of your systems. "
                "You see a preview before anything is stored.",
                label="Other formats",
                url_name="import",
                template="writing/corpus/imports/_start_card.html",
            )
        )
        register_start(
            StartOffer(
                order=20,
                title="Paste topics",
                text="One query per line. Responses can be written by people or models, or imported later.",
                label="Paste topics",
                url_name="import_paste",
            )
        )
        corpus_importers.register()
        writer_run.register_kind()
        invariants.register_all()
        activities.register_activity(
            activities.Activity(
                name=activity.NAME,
                label="Writing",
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
