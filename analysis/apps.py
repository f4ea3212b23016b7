"""The app's registration."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AnalysisConfig(AppConfig):
    """Analysis."""

    name = "analysis"
    verbose_name = _("Analysis")

    def ready(self) -> None:
        """Make analyses known to the runs, and put their results into a study's navigation and onto its home."""
        from crowdrag.jobs import schedules
        from crowdrag.studies import activities
        from crowdrag.studies.navigation import register_card, register_tab

        from .domain import analysing, erasing, glance
        from .domain.corpus import exporting
        from .domain.experiments.fair import describing as fair
        from .domain.experiments.self_preference import describing as self_preference
        from .domain.experiments.uplift import describing as uplift
        from .domain.planning import working as planning
        from .domain.releases import building, keeping, marking
        from .domain.reports import packing
        from .domain.similarity import scoring
        from .domain.updating import due
        from .domain.updating import working as updating
        from .forms import analysis as analysis_form
        from .forms import plan as plan_form

        analysing.register(analysis_form.describe)
        updating.register(analysing.result_url, analysis_form.describe)
        schedules.register("analysis.updates", lambda now: due.update_due(now=now), due.EVERY)
        exporting.register()
        planning.register(plan_form.describe)
        packing.register()
        scoring.register()
        fair.register()
        self_preference.make_known()
        uplift.make_known()
        activities.on_erase(erasing.erase)
        building.register()
        activities.on_erase(marking.erase)
        schedules.register("analysis.releases.tidy", keeping.tidy, keeping.TIDY_EVERY)
        register_tab(order=28, label=_("Planner"), url_name="planner", section="planner")
        register_tab(order=30, label=_("Results"), url_name="results", section="results")
        register_tab(order=32, label=_("Experiments"), url_name="experiments", section="experiments")
        register_tab(order=64, label=_("Releases"), url_name="releases", section="releases")
        register_tab(order=65, label=_("Export"), url_name="exports", section="exports")
        register_card(order=5, template="analysis/_card.html", context=glance.card)
