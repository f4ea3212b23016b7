"""The app's registration."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class LlmConfig(AppConfig):
    """The gateway to language models."""

    name = "crowdrag.llm"
    label = "llm"
    verbose_name = _("Language models")

    def ready(self) -> None:
        """Put the app's page into a study's navigation."""
        from crowdrag.studies.navigation import register_tab

        register_tab(order=80, label=_("Models"), url_name="study_models", section="models")
