"""App configuration."""

from django.apps import AppConfig


class StudiesConfig(AppConfig):
    """Studies and participants."""

    name = "crowdrag.studies"
    label = "studies"
    verbose_name = "Studies and participants"

    def ready(self) -> None:
        """Register the app's pages in the study navigation."""
        from crowdrag.studies.enums import Role
        from crowdrag.studies.messages.services import inbox_entries
        from crowdrag.studies.navigation import Group, register_card, register_inbox, register_item, unanswered
        from crowdrag.studies.participants.participant_dashboard import people_card
        from crowdrag.studies.study.closure import Closure, register_obstacles
        from crowdrag.studies.study.costs import spending_card

        register_item(Group.OVERVIEW, 10, "Overview", "study", section="overview")
        register_item(Group.COLLECT, 40, "Participants", "entry_links", section="participants", role=Role.EDITOR)
        register_item(Group.COLLECT, 60, "Inbox", "inbox", section="inbox", role=Role.REVIEWER, has_badge=True)
        register_item(Group.SETTINGS, 20, "Description", "study_about", section="about", role=Role.OWNER)
        register_item(Group.SETTINGS, 30, "Members", "members", section="members")
        register_item(Group.SETTINGS, 90, "Manage study", "study_manage", section="manage", role=Role.EDITOR)
        register_inbox(inbox_entries)
        register_obstacles(unanswered, Closure.ARCHIVE)
        register_card(order=8, template="studies/study/_spending_card.html", context=spending_card)
        register_card(order=60, template="studies/participants/_study_card.html", context=people_card)
