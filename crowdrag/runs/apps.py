"""The app's registration."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class RunsConfig(AppConfig):
    """Long work."""

    name = "crowdrag.runs"
    label = "runs"
    verbose_name = _("Long work")

    def ready(self) -> None:
        """Put the runs into a study's navigation and onto its home."""
        from crowdrag.studies import ways
        from crowdrag.studies.nav import register_card, register_tab

        from .domain import erasing
        from .views.card import latest_runs

        register_tab(order=70, label=_("Runs"), url_name="runs", section="runs")
        register_card(order=70, template="runs/card.html", context=latest_runs)
        ways.register_eraser(erasing.erase)
