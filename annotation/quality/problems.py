"""Problems of checks, gold items and training, and the lock of a draft."""

from django.utils.translation import gettext

from ..enums import CampaignState
from ..models import Campaign, Questionnaire


class ChecksProblem(Exception):  # noqa: N818 -- it says what is the matter, and is no fault of the program
    """A problem to report to a researcher or judge."""


class NotDraft(ChecksProblem):
    """The campaign is no longer a draft, so what is asked cannot change."""

    def __init__(self, campaign: Campaign):
        super().__init__(
            f"This campaign is {campaign.get_state_display()}. You can change checks, known labels and training only "
            "in a draft."
        )


class BadText(ChecksProblem):
    """A text of a check that would be unfair or cannot be displayed."""


class BadPair(ChecksProblem):
    """Two responses that cannot be shown side by side."""


class BadLabel(ChecksProblem):
    """A label that is not an option of its dimension."""


class Unanswered(ChecksProblem):
    """Some questions of a training item have no answer."""

    def __init__(self, dimensions: list[int]):
        self.dimensions = dimensions
        super().__init__(gettext("Answer every question to see the expected answers."))


class NotTaught(ChecksProblem):
    """A training item without a known label would teach nothing."""

    def __init__(self) -> None:
        super().__init__("Enter the expected answer to at least one question. Training needs it.")


def lock_draft(campaign: Campaign) -> Campaign:
    """Return a draft campaign with its row locked.

    Raises
    ------
    NotDraft
    """
    campaign_locked = (
        Campaign.objects.select_for_update(no_key=True, of=("self",)).select_related("study").get(pk=campaign.pk)
    )
    if campaign_locked.state != CampaignState.DRAFT:
        raise NotDraft(campaign_locked)
    return campaign_locked


def undraw(campaign: Campaign) -> None:
    """Delete the drawn questionnaires before a change. They are drawn again, with the change, before the launch."""
    Questionnaire.objects.filter(campaign=campaign).delete()
