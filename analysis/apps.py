"""App configuration."""

from django.apps import AppConfig


class AnalysisConfig(AppConfig):
    """The analysis app."""

    name = "analysis"
    verbose_name = "Analysis"

    def ready(self) -> None:
        """Register run kinds, and add results to the navigation and the home page of studies."""
        from crowdrag.jobs import completion, schedules
        from crowdrag.studies import activities
        from crowdrag.studies.checklist import Step, register_part
        from crowdrag.studies.navigation import Group, register_card, register_item
        from crowdrag.studies.study.closure import Closure, register_obstacles

        from .analyses import erasure as analyses_erasure
        from .analyses import forms as analysis_form
        from .analyses import queries, updates
        from .analyses import services as analyses_services
        from .archive import clones
        from .archive import services as archive_services
        from .experiments import index_runs
        from .experiments import report as experiment_report
        from .experiments.fair_rag import experiment as fair
        from .experiments.self_preference import experiment as self_preference
        from .experiments.uplift_rag import experiment as uplift
        from .methods import registry
        from .methods.reference_metrics import bertscore_runs
        from .planning import forms as plan_form
        from .planning import services as planning
        from .releases import builds, storage
        from .releases import erasure as releases_erasure
        from .releases import queries as releases_queries
        from .reports import analysis_report
        from .reports import services as reports_services

        analyses_services.register(analysis_form.describe)
        updates.register(analyses_services.result_url, analysis_form.describe)
        schedules.register("analysis.updates", lambda now: updates.update_due(now=now), updates.EVERY)
        schedules.register("analysis.first", lambda now: updates.start_first_due(now=now), updates.EVERY)
        completion.register_listener(updates.start_first_after)
        archive_services.register()
        clones.register()
        planning.register(plan_form.describe)
        reports_services.register()
        analysis_report.register(analyses_services.KIND)
        experiment_report.register()
        bertscore_runs.register()
        index_runs.register()
        fair.register_experiment()
        self_preference.register_experiment()
        uplift.register_experiment()
        activities.on_erase(analyses_erasure.erase)
        builds.register()
        activities.on_erase(releases_erasure.erase)
        schedules.register("analysis.releases.tidy", storage.tidy, storage.TIDY_EVERY)
        register_part(Step.ANALYSE, queries.analysis_part)
        register_part(Step.PUBLISH, releases_queries.release_part)
        register_obstacles(releases_queries.publications, Closure.DELETE)
        register_item(Group.COLLECT, 15, "Planner", "planner", section="planner")
        for page in registry.pages():
            register_item(Group.RESULTS, page.order, page.label, page.url_name, section="results")
        register_item(Group.RESULTS, 100, "Report", "report", section="results")
        register_item(Group.RESULTS, 110, "Analyses", "analyses", section="results")
        register_item(Group.EXPERIMENTS, 10, "Experiments", "experiments", section="experiments")
        register_item(Group.PUBLISH, 10, "Releases", "releases", section="releases")
        register_item(Group.PUBLISH, 20, "Export", "exports", section="exports")
        register_card(order=5, template="analysis/analyses/_study_card.html", context=queries.study_card)
