"""App configuration."""

from datetime import timedelta

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    """The judging app."""

    name = "annotation"
    verbose_name = "Judging"

    def ready(self) -> None:
        """Register the app with the study pages, imports, runs, payments and schedules."""
        from annotation import invariants
        from annotation.imports import judgment_importers
        from annotation.judging import activity, claims, erasure, leases, payments, platform_status
        from annotation.llm_judges import judge_run
        from annotation.policies import services as policy_services
        from annotation.progress import answer_tallies, closure, figures, goal_looks, services
        from annotation.progress.campaign_summary import judging_part, spending_line, study_card
        from annotation.quality.screening import queue
        from crowdrag.jobs import schedules
        from crowdrag.payments.earnings import register_source
        from crowdrag.studies import activities
        from crowdrag.studies.checklist import Step, register_part
        from crowdrag.studies.navigation import Group, register_card, register_inbox, register_item
        from crowdrag.studies.study.closure import Closure, register_obstacles
        from crowdrag.studies.study.costs import register_spending

        register_item(Group.COLLECT, 20, "Judging", "campaigns", section="judging")
        register_item(Group.COLLECT, 30, "Model judges", "model_judges", section="model_judges")
        register_obstacles(closure.work_in_progress)
        register_obstacles(closure.payments, Closure.DELETE)
        register_spending(spending_line)
        register_inbox(queue.inbox_entries)
        register_part(Step.COLLECT, judging_part)
        register_card(order=20, template="annotation/progress/_study_card.html", context=study_card)
        judgment_importers.register()
        judge_run.register_kinds()
        goal_looks.register_kind()
        invariants.register_all()
        activities.register_activities(claims.PREFIX, activity.activities_of)
        register_source("judging", payments.earned)
        activities.on_withdraw(leases.on_withdraw)
        activities.on_erase(erasure.erase)
        platform_status.register()
        schedules.register("annotation.leases", lambda now: leases.expire(now=now), timedelta(minutes=1))
        schedules.register("annotation.live", lambda now: services.refresh_due(now=now), timedelta(minutes=1))
        schedules.register("annotation.goals", lambda now: goal_looks.refresh_due(now=now), timedelta(minutes=1))
        schedules.register(
            "annotation.policies", lambda now: policy_services.refresh_due(now=now), timedelta(minutes=1)
        )
        schedules.register("annotation.figures", lambda now: figures.refresh_due(now=now), timedelta(minutes=1))
        schedules.register("annotation.tallies", lambda now: answer_tallies.refresh_due(now=now), timedelta(minutes=1))
