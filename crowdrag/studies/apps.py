"""The app's registration."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class StudiesConfig(AppConfig):
    """Studies and people."""

    name = "crowdrag.studies"
    label = "studies"
    verbose_name = _("Studies and people")

    def ready(self) -> None:
        """Put the app's pages into a study's navigation."""
        from crowdrag.studies.enums import Role
        from crowdrag.studies.navigation import register_card, register_tab
        from crowdrag.studies.participants.participant_dashboard import people_card

        register_tab(order=0, label=_("Overview"), url_name="study", section="study")
        register_tab(order=85, label=_("People"), url_name="entry_links", role=Role.EDITOR, section="people")
        register_tab(
            order=86,
            label=_("Enquiries"),
            url_name="participant_messages",
            role=Role.REVIEWER,
            section="messages",
        )
        register_card(order=60, template="studies/participants/_study_card.html", context=people_card)
        register_tab(order=90, label=_("Members"), url_name="members", role=Role.VIEWER, section="members")
