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
        from crowdrag.studies.navigation import Group, register_item

        register_item(Group.SETTINGS, 40, _("Models and budget"), "study_models", section="models")
