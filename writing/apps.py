"""The app's registration."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class WritingConfig(AppConfig):
    """Writing."""

    name = "writing"
    verbose_name = _("Writing")

    def ready(self) -> None:
        """Put the app's pages into a study's navigation, and its imports among the kinds of runs."""
        from crowdrag.studies.enums import Role
        from crowdrag.studies.nav import register_card, register_tab
        from writing.domain.cards import card
        from writing.domain.imports import own

        register_tab(order=10, label=_("Topics"), url_name="topics", section="writing")
        register_tab(order=60, label=_("Import"), url_name="import", role=Role.EDITOR, section="import")
        register_card(order=10, template="writing/_card.html", context=card)
        own.register()
