"""The app's registration."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AnnotationConfig(AppConfig):
    """Judging."""

    name = "annotation"
    verbose_name = _("Judging")

    def ready(self) -> None:
        """Put the app's pages into a study's navigation."""
        from crowdrag.studies.nav import register_card, register_tab
        from annotation.domain.cards import card

        register_tab(order=20, label=_("Campaigns"), url_name="campaigns", section="annotation")
        register_card(order=20, template="annotation/_card.html", context=card)
