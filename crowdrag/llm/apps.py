"""App configuration."""

from django.apps import AppConfig


class LlmConfig(AppConfig):
    """The gateway to language models."""

    name = "crowdrag.llm"
    label = "llm"
    verbose_name = "Language models"

    def ready(self) -> None:
        """Register the app's page in the study navigation."""
        from crowdrag.llm.ledger import spending_line
        from crowdrag.studies.navigation import Group, register_item
        from crowdrag.studies.study.costs import register_spending

        register_spending(spending_line)
        register_item(Group.SETTINGS, 40, "Models and budget", "study_models", section="models")
